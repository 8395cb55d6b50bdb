#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes of packaging/: the port for vcpkg, the recipe for Conan and the wrap file for meson are
# well-formed and have the version of configure.ac. The port and the recipe build and install the library by
# the stand-ins for vcpkg and Conan in tests/recipes/. The file that find_package() reads after an
# installation by the Autotools accepts the versions that it should.
#
# ESPL_GOLDEN=short leaves the builds out, because they do not depend on how this build is configured.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=packaging/lib.sh
. "${srcdir:-.}/packaging/lib.sh"
top=$(cd "${srcdir:-.}" && pwd) || exit 99
: "${INTERNAL_CFLAGS=$(pkg-config --cflags stb libxxhash)}"
room=$(mktemp -d "$PWD/recipes.XXXXXX") || exit 99
trap 'rm -rf "$room"' EXIT
version=$(print_release "$top")
python=$(command -v python3)
cmake=$(command -v cmake)

explain()
{
    test ! -e "$room/log" || tail -n 20 "$room/log" | sed 's/^/# /'
}

# run_vcpkg PORT-DIRECTORY FEATURES: in the folder $room/vcpkg.
run_vcpkg()
{
    rm -rf "$room/vcpkg"
    cmake -DPORT_DIR="$1" -DFEATURES="$2" -DROOM="$room/vcpkg" -DHEADERS="$room/headers" \
        -DFLAGS=-DCMAKE_C_FLAGS_RELEASE=-O0 -P "$top/tests/recipes/vcpkg.cmake" >"$room/log" 2>&1
}

# run_conan RECIPE-DIRECTORY [OPTION=VALUE]...: in the folder $room/conan.
run_conan()
{
    recipe=$1
    shift
    rm -rf "$room/conan"
    mkdir "$room/conan"
    python3 "$top/tests/recipes/conan.py" "$recipe" "$room/conan" "$room/headers" \
        --cmake=-DCMAKE_C_FLAGS_RELEASE=-O0 "$@" >"$room/log" 2>&1
}

# --- Form and version ---

test -n "$version" && grep -q "^    version = \"$version\"\$" "$top/packaging/conan/conanfile.py"
ok "the recipe for Conan has the version of configure.ac"
grep -q "^  \"version\": \"$version\",\$" "$top/packaging/vcpkg/espalier/vcpkg.json"
ok "the port for vcpkg has the version of configure.ac"
if test -z "$python"; then
    skip "the files are well-formed" "needs python3"
else
    python3 - "$top/packaging" "$version" >"$room/log" 2>&1 <<'END_OF_PYTHON'
import ast, configparser, json, re, sys
top, version = sys.argv[1:]
for path in "conan/conanfile.py", "conan/test_package/conanfile.py":
    with open(f"{top}/{path}") as file:
        ast.parse(file.read(), path)
with open(f"{top}/vcpkg/espalier/vcpkg.json") as file:
    manifest = json.load(file)
known = {"name", "version", "description", "license", "dependencies", "default-features", "features"}
assert {key for key in manifest if not key.startswith("$")} == known, "vcpkg.json has the known fields"
assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", manifest["name"]), "the name of a port"
assert set(manifest["default-features"]) <= set(manifest["features"]), "default features are features"
wrap = configparser.ConfigParser(interpolation=None)
with open(f"{top}/meson/espalier.wrap") as file:
    wrap.read_file(file)
assert dict(wrap["wrap-file"]) == {"directory": f"espalier-{version}",
                                   "source_filename": f"espalier-{version}.tar.xz"}, "espalier.wrap"
assert dict(wrap["provide"]) == {"dependency_names": "espalier"}, "espalier.wrap"
END_OF_PYTHON
    ok "the files are well-formed, and the wrap file names the archive of this version"
fi

# --- Versions, as find_package() compares them ---

if test -z "$cmake"; then
    skip "find_package() gets the versions that it should" "needs cmake"
elif test ! -e espalier-config-version.cmake; then
    skip "find_package() gets the versions that it should" "the library is not built here"
else
    pointer=$(sed -n 's/^#define SIZEOF_VOID_P //p' config.h)
    cmake -DFILE="$PWD/espalier-config-version.cmake" -DVERSION="$version" -DPOINTER="$pointer" \
        -P "$top/tests/recipes/version.cmake" >"$room/log" 2>&1 && ! grep -q . "$room/log"
    ok "find_package() gets the versions that it should"
    sed 's/VERSION_LESS/VERSION_GREATER/' espalier-config-version.cmake >"$room/wrong.cmake"
    cmake -DFILE="$room/wrong.cmake" -DVERSION="$version" -DPOINTER="$pointer" \
        -P "$top/tests/recipes/version.cmake" 2>&1 | grep -q '^wrong: '
    ok "a version that is compared wrong is noticed"
fi

# --- Builds ---

link_headers "$room/headers" "$INTERNAL_CFLAGS"
# With threads where the library of this build has them.
threads=False features=
if grep -q '^#define HAVE_PTHREADPOOL 1' config.h 2>/dev/null; then
    threads=True features=threads
fi
case "${ESPL_GOLDEN-} ${CFLAGS-} ${ESPL_LDFLAGS-}" in
    short*) reason="ESPL_GOLDEN is short" ;;
    *-fsanitize*) reason="not repeated under sanitizers" ;;
    *) test -n "$cmake" && test -n "$python" && reason='' || reason="needs cmake and python3" ;;
esac
if test -n "$reason"; then
    skip "the recipes build" "$reason"
    done_testing
fi

! cmake -S "$top" -B "$room/without" -DESPALIER_STB_INCLUDE="$room/headers" -DESPALIER_PTHREADPOOL=ON \
    -DESPALIER_PTHREADPOOL_LIBRARY=OFF >"$room/log" 2>&1 && grep -q 'pthreadpool is not found' "$room/log"
ok "CMake refuses threads without pthreadpool, and says so"
run_vcpkg "$top/packaging/vcpkg/espalier" "$features"
ok "the port for vcpkg makes a package"
mkdir "$room/usage"
{
    echo 'cmake_minimum_required(VERSION 3.16)'
    echo 'project(main LANGUAGES C)'
    sed -n '/find_package/s/^    //p' "$top/packaging/vcpkg/espalier/usage"
    echo "add_executable(main $top/tests/consumers/program.c)"
    sed -n '/target_link/s/^    //p' "$top/packaging/vcpkg/espalier/usage"
} >"$room/usage/CMakeLists.txt"
cmake -S "$room/usage" -B "$room/usage/build" -DCMAKE_PREFIX_PATH="$room/vcpkg/packages" \
    >"$room/log" 2>&1 && cmake --build "$room/usage/build" >>"$room/log" 2>&1 &&
    "$room/usage/build/main" | grep -q " $(cat "$top/tests/consumers/hash.txt")\$"
ok "a program that is built as its file usage says prints the hash of tests/consumers"

run_conan "$top/packaging/conan" threads=$threads
ok "the recipe for Conan makes a package, and passes its own test"

# is_noticed COMPLAINT COMMAND...: the command fails with the complaint in the log.
is_noticed()
{
    complaint=$1
    shift
    ! "$@" </dev/null && grep -q "$complaint" "$room/log"
}

# Faults in a recipe are noticed, before anything is built.
while IFS='|' read -r file change complaint; do
    rm -rf "$room/port"
    cp -r "$top/packaging/vcpkg/espalier" "$room/port"
    sed "s|\${CMAKE_CURRENT_LIST_DIR}/../../..|$top|; $change" \
        "$top/packaging/vcpkg/espalier/$file" >"$room/port/$file"
    is_noticed "$complaint" run_vcpkg "$room/port" "$features"
    ok "noticed in $file of the port: $change"
done <<'END_OF_LIST'
portfile.cmake|s/FEATURES threads/FEATURES thread/|has no feature thread
portfile.cmake|s/SOURCE_PATH "/SOURCE "/|does not take
vcpkg.json|s/vcpkg-cmake",/vcpkg-make",/|needs the host dependency vcpkg-cmake
END_OF_LIST
mkdir -p "$room/tree/packaging/conan"
cp -r "$top/CMakeLists.txt" "$top/LICENSE" "$top/include" "$room/tree"
while IFS='|' read -r change complaint; do
    sed "$change" "$top/packaging/conan/conanfile.py" >"$room/tree/packaging/conan/conanfile.py"
    is_noticed "$complaint" run_conan "$room/tree/packaging/conan" threads=$threads
    ok "noticed in the recipe for Conan: $change"
done <<'END_OF_LIST'
s,include/\*,includes/*,|includes/\*
s/"shared": False,/"share": False,/|share
s/import copy,/import copies,/|copies
END_OF_LIST
done_testing
