# SPDX-License-Identifier: MIT
# Runs the port of packaging/vcpkg as vcpkg does, without vcpkg, for tests/recipes.sh:
#
#     cmake -DPORT_DIR=DIRECTORY -DROOM=DIRECTORY -DSTB=DIRECTORY -DFEATURES=LIST -P vcpkg.cmake
#
# ROOM/installed is what other ports have installed: the header stb_ds.h of the folder STB. The package is
# in ROOM/packages afterwards. The functions below do what the manual of vcpkg says of those with these
# names, for a release build alone. An argument that the manual does not allow, or one that is missing, ends
# the run. The last lines check what vcpkg checks of each package.
cmake_minimum_required(VERSION 3.19)

set(PORT espalier)
set(FEATURES ${FEATURES})
set(CURRENT_PACKAGES_DIR "${ROOM}/packages")
set(CURRENT_INSTALLED_DIR "${ROOM}/installed")
set(build "${ROOM}/build")
file(MAKE_DIRECTORY "${CURRENT_INSTALLED_DIR}/include")
file(CREATE_LINK "${STB}/stb_ds.h" "${CURRENT_INSTALLED_DIR}/include/stb_ds.h" SYMBOLIC)

# The manifest lists the features of the port, and the ports that have the functions below.
file(READ "${PORT_DIR}/vcpkg.json" manifest)
string(JSON name GET "${manifest}" name)
if(NOT name STREQUAL PORT)
  message(FATAL_ERROR "vcpkg.json names ${name}")
endif()
string(JSON count LENGTH "${manifest}" dependencies)
math(EXPR last "${count} - 1")
set(tools)
foreach(i RANGE ${last})
  string(JSON type TYPE "${manifest}" dependencies ${i})
  if(type STREQUAL OBJECT)
    string(JSON tool GET "${manifest}" dependencies ${i} name)
    string(JSON is_host GET "${manifest}" dependencies ${i} host)
    if(is_host)
      list(APPEND tools ${tool})
    endif()
  endif()
endforeach()

macro(parse function options one many)
  cmake_parse_arguments(PARSE_ARGV 0 arg "${options}" "${one}" "${many}")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function} does not take ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()
macro(need function package)
  if(NOT "${package}" IN_LIST tools)
    message(FATAL_ERROR "${function} needs the host dependency ${package}")
  endif()
endmacro()
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_check_features)
  parse(vcpkg_check_features "" "OUT_FEATURE_OPTIONS" "FEATURES;INVERTED_FEATURES")
  set(options)
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature option)
    string(JSON ignored ERROR_VARIABLE error GET "${manifest}" features ${feature})
    if(error)
      message(FATAL_ERROR "vcpkg.json has no feature ${feature}")
    endif()
    if("${feature}" IN_LIST FEATURES)
      list(APPEND options -D${option}=ON)
    else()
      list(APPEND options -D${option}=OFF)
    endif()
  endwhile()
  set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  parse(vcpkg_cmake_configure "" "SOURCE_PATH;GENERATOR" "OPTIONS;OPTIONS_RELEASE;OPTIONS_DEBUG")
  need(vcpkg_cmake_configure vcpkg-cmake)
  run("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${build}" ${arg_OPTIONS} ${arg_OPTIONS_RELEASE}
    -DCMAKE_BUILD_TYPE=Release ${FLAGS} "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}"
    "-DCMAKE_PREFIX_PATH=${CURRENT_INSTALLED_DIR}" -DBUILD_SHARED_LIBS=OFF
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_BINDIR=bin --warn-uninitialized)
endfunction()

function(vcpkg_cmake_install)
  parse(vcpkg_cmake_install "ADD_BIN_TO_PATH" "" "")
  need(vcpkg_cmake_install vcpkg-cmake)
  cmake_host_system_information(RESULT jobs QUERY NUMBER_OF_LOGICAL_CORES)
  run("${CMAKE_COMMAND}" --build "${build}" --parallel ${jobs} --target install)
endfunction()

function(vcpkg_copy_pdbs)
  parse(vcpkg_copy_pdbs "" "" "BUILD_PATHS")
endfunction()

# Moves the files, and makes their paths relative to the new folder.
function(vcpkg_cmake_config_fixup)
  parse(vcpkg_cmake_config_fixup "DO_NOT_DELETE_PARENT_CONFIG_PATH" "PACKAGE_NAME;CONFIG_PATH" "")
  need(vcpkg_cmake_config_fixup vcpkg-cmake-config)
  set(from "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}")
  set(to "${CURRENT_PACKAGES_DIR}/share/${PORT}")
  if(NOT EXISTS "${from}")
    message(FATAL_ERROR "there is no ${from}")
  endif()
  file(MAKE_DIRECTORY "${to}")
  file(GLOB files "${from}/*.cmake")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(REPLACE "/../../../" "/../../" text "${text}")
    set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
    string(REPLACE "${up}${up}${up}" "${up}${up}" text "${text}")
    get_filename_component(name "${file}" NAME)
    file(WRITE "${to}/${name}" "${text}")
  endforeach()
  get_filename_component(parent "${from}" DIRECTORY)
  file(REMOVE_RECURSE "${parent}")
endfunction()

function(vcpkg_install_copyright)
  parse(vcpkg_install_copyright "" "COMMENT" "FILE_LIST")
  file(INSTALL ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}" RENAME copyright)
endfunction()

include("${PORT_DIR}/portfile.cmake")

foreach(file include/espalier/espalier.h include/espalier/espalier.hpp lib/libespalier.a
    share/${PORT}/copyright share/${PORT}/usage share/${PORT}/espalier-config.cmake)
  if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/${file}")
    message(FATAL_ERROR "the package has no ${file}")
  endif()
endforeach()
foreach(file debug/include debug/share lib/cmake)
  if(EXISTS "${CURRENT_PACKAGES_DIR}/${file}")
    message(FATAL_ERROR "the package has ${file}")
  endif()
endforeach()
