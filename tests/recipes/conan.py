# SPDX-License-Identifier: MIT
"""Runs the recipe of packaging/conan as "conan create" does, without Conan, for tests/recipes.sh:

    python3 conan.py RECIPE-DIRECTORY ROOM HEADERS-DIRECTORY [OPTION=VALUE]... [--cmake=FLAG]...

The modules that the recipe imports are made here. They do what the manual of Conan 2 says of the names that
the recipe uses, and fail for any other name. What the recipe exports is copied to ROOM and built there,
where nothing else of the source tree is. The test package is built with a file of find_package() that says
what package_info() says, and no more.
"""
import fnmatch
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import types

FLAGS = []


class Bunch:
    """Attributes that are set; any other is an error."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def rm_safe(self, name):
        self.__dict__.pop(name, None)


class Settings(Bunch):
    def rm_safe(self, name):
        head, _, tail = name.partition(".")
        if tail and hasattr(self, head):
            getattr(self, head).rm_safe(tail)
        elif not tail:
            Bunch.rm_safe(self, name)


class CppInfo:
    def __init__(self):
        self.libs, self.system_libs = [], []
        self.includedirs, self.libdirs = ["include"], ["lib"]
        self.properties = {}

    def set_property(self, name, value):
        if name not in ("cmake_file_name", "cmake_target_name", "pkg_config_name"):
            raise AttributeError(f"set_property({name})")
        self.properties[name] = value


class ConanFile:
    generators = ()

    def requires(self, reference, **traits):
        if not re.fullmatch(r"[a-z0-9_]+/[A-Za-z0-9._]+", reference):
            raise ValueError(reference)
        if not set(traits) <= {"headers", "libs", "visible", "run", "transitive_headers"}:
            raise ValueError(traits)
        self.required.append(reference.partition("/")[0])

    def run(self, command, stdout=None, env=None):
        assert env in (None, "conanrun", "conanbuild")
        done = subprocess.run(command, shell=True, check=True, text=True, cwd=self.build_folder,
                              stdout=subprocess.PIPE if stdout else None)
        if stdout:
            stdout.write(done.stdout)


def cmake_layout(recipe):
    recipe.folders.source = "."
    recipe.folders.build = os.path.join("build", "Release")
    recipe.cpp.build.bindir = "."


def copy(recipe, pattern, src, dst):
    """Files whose path below src matches the pattern, in which * matches slashes too."""
    found = 0
    for folder, folders, files in os.walk(src):
        folders[:] = [name for name in folders if name not in (".git", "build")]
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), src)
            if fnmatch.fnmatch(path, pattern):
                os.makedirs(os.path.dirname(os.path.join(dst, path)), exist_ok=True)
                shutil.copy(os.path.join(src, path), os.path.join(dst, path))
                found += 1
    if not found:
        raise FileNotFoundError(f"{pattern} in {src}")


def rmdir(recipe, path):
    shutil.rmtree(path)


def load(recipe, path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        lines = []
        for name, value in self.cache_variables.items():
            kind, text = ("BOOL", "ON" if value else "OFF") if isinstance(value, bool) else ("STRING", value)
            lines.append(f'set({name} "{text}" CACHE {kind} "")\n')
        with open(os.path.join(self.recipe.generators_folder, "toolchain.cmake"), "w") as file:
            file.writelines(lines)


class CMakeDeps:
    """A find_package() file for the package under test, as its package_info() describes it."""

    def __init__(self, recipe):
        self.recipe = recipe

    def generate(self):
        package = self.recipe.tested
        if package is None:
            return
        info = package.cpp_info
        name = info.properties["cmake_file_name"]
        target = info.properties["cmake_target_name"]
        include = ";".join(os.path.join(package.package_folder, path) for path in info.includedirs)
        lib = ";".join(os.path.join(package.package_folder, path) for path in info.libdirs)
        libs = ";".join(info.libs + (["pthreadpool"] if package.options.threads else []) + info.system_libs)
        with open(os.path.join(self.recipe.generators_folder, f"{name}-config.cmake"), "w") as file:
            file.write(f'add_library({target} INTERFACE IMPORTED)\nset_target_properties({target} PROPERTIES\n'
                       f'  INTERFACE_INCLUDE_DIRECTORIES "{include}" INTERFACE_LINK_DIRECTORIES "{lib}"\n'
                       f'  INTERFACE_LINK_LIBRARIES "{libs}")\n')


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        recipe = self.recipe
        toolchain = os.path.join(recipe.generators_folder, "toolchain.cmake")
        command = ["cmake", "-S", recipe.source_folder, "-B", recipe.build_folder, *FLAGS]
        command += ["-C", toolchain] if os.path.exists(toolchain) else []
        command += ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_LIBDIR=lib",
                    f"-DCMAKE_PREFIX_PATH={recipe.generators_folder}",
                    f"-DCMAKE_INSTALL_PREFIX={recipe.package_folder}"]
        if hasattr(recipe.options, "shared"):
            command.append(f"-DBUILD_SHARED_LIBS={'ON' if recipe.options.shared else 'OFF'}")
        subprocess.run(command, check=True)

    def build(self):
        subprocess.run(["cmake", "--build", self.recipe.build_folder, "--parallel", str(os.cpu_count())],
                       check=True)

    def install(self):
        subprocess.run(["cmake", "--install", self.recipe.build_folder], check=True)


def make_modules():
    """The names that a recipe can import."""
    errors = type("ConanException", (Exception,), {})
    for name, values in {
            "conan": {"ConanFile": ConanFile}, "conan.tools": {},
            "conan.errors": {"ConanException": errors},
            "conan.tools.build": {"can_run": lambda recipe: True},
            "conan.tools.cmake": {"CMake": CMake, "CMakeDeps": CMakeDeps, "CMakeToolchain": CMakeToolchain,
                                  "cmake_layout": cmake_layout},
            "conan.tools.files": {"copy": copy, "load": load, "rmdir": rmdir}}.items():
        module = types.ModuleType(name)
        module.__dict__.update(values)
        sys.modules[name] = module


def load_recipe(folder):
    spec = importlib.util.spec_from_file_location("recipe", os.path.join(folder, "conanfile.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [value for value in vars(module).values()
             if isinstance(value, type) and issubclass(value, ConanFile) and value is not ConanFile]
    assert len(found) == 1, "a recipe has one class"
    return found[0]()


def prepare(recipe, folder, options):
    """Set what Conan sets before it calls a method."""
    recipe.recipe_folder = folder
    recipe.required, recipe.tested = [], None
    recipe.settings = Settings(os="Linux", arch="x86_64", build_type="Release",
                               compiler=Settings(cppstd="17", libcxx="libstdc++11"))
    values = dict(getattr(recipe, "default_options", {}))
    values.update(options)
    for name, value in values.items():
        assert value in recipe.options[name], f"{name}={value}"
    assert set(values) == set(getattr(recipe, "options", {})), "each option has a default"
    recipe.options = Bunch(**values)
    recipe.folders = Bunch(root=None, source=None, build=None)
    recipe.cpp = Bunch(build=Bunch(bindir=None))
    recipe.cpp_info = CppInfo()
    recipe.output = Bunch(info=print)


def create(folder, room, headers, options):
    """conan create: export, build and package a recipe."""
    recipe = load_recipe(folder)
    prepare(recipe, folder, options)
    recipe.export_sources_folder = recipe.source_folder = os.path.join(room, "source")
    recipe.export_sources()
    recipe.config_options()
    recipe.configure()
    assert not hasattr(recipe.settings.compiler, "cppstd"), "a library in C has no standard of C++"
    recipe.layout()
    # In place, the folder of sources is the top of the tree.
    assert os.path.exists(os.path.join(folder, recipe.folders.root, recipe.folders.source, "CMakeLists.txt"))
    recipe.requirements()
    recipe.dependencies = {name: Bunch(cpp_info=CppInfo()) for name in recipe.required}
    for name in "stb", "xxhash":
        recipe.dependencies[name].cpp_info.includedirs = [headers]
    if "pthreadpool" in recipe.required:
        recipe.dependencies["pthreadpool"].cpp_info.includedirs = ["/usr/include"]
    recipe.build_folder = os.path.join(recipe.source_folder, recipe.folders.build)
    recipe.generators_folder = os.path.join(recipe.build_folder, "generators")
    recipe.package_folder = os.path.join(room, "package")
    os.makedirs(recipe.generators_folder)
    recipe.generate()
    recipe.build()
    recipe.package()
    recipe.package_info()
    for name in ("licenses/LICENSE", "include/espalier/espalier.h", "include/espalier/espalier.hpp"):
        assert os.path.exists(os.path.join(recipe.package_folder, name)), f"the package has no {name}"
    return recipe


def test(folder, room, package):
    """The test package, which is built where it is."""
    recipe = load_recipe(folder)
    prepare(recipe, folder, {})
    recipe.tested = package
    recipe.tested_reference_str = f"{package.name}/{package.version}"
    recipe.layout()
    recipe.requirements()
    assert recipe.required == [package.name]
    recipe.source_folder = folder
    recipe.build_folder = os.path.join(room, "test")
    recipe.generators_folder = os.path.join(recipe.build_folder, "generators")
    recipe.package_folder = os.path.join(room, "unused")
    os.makedirs(recipe.generators_folder)
    for name in recipe.generators:
        {"CMakeDeps": CMakeDeps, "CMakeToolchain": CMakeToolchain}[name](recipe).generate()
    recipe.build()
    recipe.test()


def main():
    folder, room, headers = (os.path.abspath(path) for path in sys.argv[1:4])
    options = {}
    for argument in sys.argv[4:]:
        name, _, value = argument.partition("=")
        if name == "--cmake":
            FLAGS.append(value)
        else:
            options[name] = {"True": True, "False": False}.get(value, value)
    sys.dont_write_bytecode = True
    make_modules()
    test(os.path.join(folder, "test_package"), room, create(folder, room, headers, options))


main()
