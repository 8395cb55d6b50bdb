# SPDX-License-Identifier: MIT
# A port for an overlay, which builds the source tree that it is in:
#
#     vcpkg install espalier --overlay-ports=packaging/vcpkg --no-binarycaching
#
# The cache of binaries is left out because its keys do not depend on the source tree.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES threads ESPALIER_PTHREADPOOL)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${FEATURE_OPTIONS} -DESPALIER_INSTALL=ON
    "-DESPALIER_STB_INCLUDE=${CURRENT_INSTALLED_DIR}/include"
    "-DESPALIER_XXHASH_INCLUDE=${CURRENT_INSTALLED_DIR}/include")
vcpkg_cmake_install()
vcpkg_copy_pdbs()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/espalier)

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
