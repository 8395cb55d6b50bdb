# SPDX-License-Identifier: MIT
"""Builds the program of tests/consumers with the package, and compares the hash that it prints."""
import io
import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import load


class EspalierTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if not can_run(self):
            return
        printed = io.StringIO()
        self.run(os.path.join(self.cpp.build.bindir, "consumer"), stdout=printed, env="conanrun")
        consumers = os.path.join(self.recipe_folder, "..", "..", "..", "tests", "consumers")
        expected = load(self, os.path.join(consumers, "hash.txt")).strip()
        answer = printed.getvalue().strip()
        self.output.info(answer)
        if not answer.endswith(" " + expected):
            raise ConanException(f"the world has the hash {answer}, and not {expected}")
