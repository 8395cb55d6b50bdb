# SPDX-License-Identifier: MIT
"""Recipe of Espalier for Conan 2, which builds the source tree that it is in:

    conan create packaging/conan --build=missing
"""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir

required_conan_version = ">=2.0"


class EspalierConan(ConanFile):
    name = "espalier"
    version = "0.2.0"
    license = "MIT", "BSD-2-Clause"  # xxHash, which is compiled in
    description = "Transform hierarchies that are always current, over an archetype-chunk store"
    topics = ("transform", "hierarchy", "scene-graph", "ecs", "game-development")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "threads": [True, False],  # worker threads by pthreadpool
        "checks": ["none", "cheap", "full"],  # assertions compiled in
    }
    default_options = {"shared": False, "fPIC": True, "threads": True, "checks": "cheap"}

    def export_sources(self):
        top = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "lib/*",
                        "packaging/*.awk", "packaging/*.in"):
            copy(self, pattern, src=top, dst=self.export_sources_folder)

    def config_options(self):
        if self.settings.os == "Windows":
            self.options.rm_safe("fPIC")

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")
        # The library is C.
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def layout(self):
        # For a build in place, "conan build", the sources are two folders up.
        self.folders.root = os.path.join("..", "..")
        cmake_layout(self)

    def requirements(self):
        # Their headers are needed to build, and not to use Espalier.
        self.requires("stb/cci.20240213", libs=False, visible=False)
        self.requires("xxhash/0.8.2", libs=False, visible=False)
        if self.options.threads:
            self.requires("pthreadpool/cci.20231129")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["ESPALIER_INSTALL"] = True
        toolchain.cache_variables["ESPALIER_CHECKS"] = str(self.options.checks)
        toolchain.cache_variables["ESPALIER_PTHREADPOOL"] = bool(self.options.threads)
        toolchain.cache_variables["ESPALIER_STB_INCLUDE"] = self._find_include("stb")
        toolchain.cache_variables["ESPALIER_XXHASH_INCLUDE"] = self._find_include("xxhash")
        if self.options.threads:
            toolchain.cache_variables["ESPALIER_PTHREADPOOL_INCLUDE"] = self._find_include("pthreadpool")
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder,
             dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # CMakeDeps writes what find_package() reads.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))

    def package_info(self):
        self.cpp_info.libs = ["espalier"]
        self.cpp_info.set_property("cmake_file_name", "espalier")
        self.cpp_info.set_property("cmake_target_name", "espalier::espalier")
        self.cpp_info.set_property("pkg_config_name", "espalier")
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["m"]
            if self.options.threads:
                self.cpp_info.system_libs.append("pthread")

    def _find_include(self, package):
        return self.dependencies[package].cpp_info.includedirs[0].replace("\\", "/")
