#!/bin/sh
# SPDX-License-Identifier: MIT
# Espalier as its users build it: tests/consumers/program.c, a project of its own, is built in an empty
# folder with an installed or copied library, by each build system and for each platform. Each program
# prints the hash of tests/consumers/hash.txt. "make consumers" runs this and prints the table at the end.
#
# A way whose tools are missing is skipped; with ESPL_CONSUMERS=full it fails. Arguments name the ways to try
# (make consumers WAYS='cmake-folder vcpkg'); cmake-autotools and cmake-static need the way autotools too.
# shellcheck source-path=SCRIPTDIR disable=SC2317 # try() calls each way by a name that it makes
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=packaging/lib.sh
. "${srcdir:-.}/packaging/lib.sh"
source=$(cd "${srcdir:-.}" && pwd) || exit 99
: "${INTERNAL_CFLAGS=$(pkg-config --cflags stb libxxhash)}"
wanted=$*
build=$PWD
room=$(mktemp -d "$PWD/consumers.XXXXXX") || exit 99
trap 'rm -rf "$room"' EXIT
jobs=$(nproc 2>/dev/null || echo 2)
expected=$(cat "$source/tests/consumers/hash.txt")
program=$source/tests/consumers/program.c
# With ccache a second run is short.
cache=$(command -v ccache)
: "${SHELL:=/bin/sh}"
export cache source

# --- Ways: each builds in the current folder, which is empty, and runs the program ---

# compile_objects COMPILER FLAG...: the objects of the library in the folder objects, several at a time.
compile_objects()
{
    mkdir -p objects
    for file in "$source"/lib/*/*.c; do
        printf '%s\n' "${file#"$source/lib/"}"
    done | xargs -P "$jobs" -I '{}' "$SHELL" "$room/compile" '{}' "$@" -std=gnu11 -ffp-contract=off \
        -I"$source" -I"$source/include" -I"$room/headers"
}

# compile OUTPUT COMPILER FLAG...: the program with the library, without a build system.
compile()
{
    output=$1
    shift
    compile_objects "$@" && "$@" -I"$source/include" "$program" objects/*.o -o "$output" -lm
}

# compile_tape OUTPUT COMPILER FLAG...: the tape of tests/golden with the objects.
compile_tape()
{
    output=$1
    shift
    "$@" -std=gnu11 -ffp-contract=off -I"$source" -I"$source/include" "$source"/tests/golden/*.c \
        objects/*.o -o "$output" -lm
}

# is_golden COMMAND...: the command, which runs the tape, prints the hashes of tests/golden.
is_golden()
{
    "$@" | tr -d '\r' >tape.txt && diff "$source/tests/golden/golden.txt" tape.txt &&
        wc -l <tape.txt >golden
}

way_gcc()
{
    compile consumer gcc -O2 && compile_tape tape gcc -O2 && is_golden ./tape && ./consumer
}
way_clang()
{
    compile consumer clang -O2 && compile_tape tape clang -O2 && is_golden ./tape && ./consumer
}
way_gcc_32()
{
    set -- i686-linux-gnu-gcc -O2 -msse2 -mfpmath=sse -static
    compile consumer "$@" && compile_tape tape "$@" || return
    # Status 126 tells that the kernel runs no programs of 32 bits.
    ./tape --kernels
    case $? in 126) emulator=qemu-i386 ;; *) emulator=env ;; esac
    is_golden "$emulator" ./tape && "$emulator" ./consumer
}
way_aarch64()
{
    set -- aarch64-linux-gnu-gcc -O2 -static
    compile consumer "$@" && compile_tape tape "$@" && is_golden qemu-aarch64 ./tape &&
        qemu-aarch64 ./consumer
}

way_s390x()
{
    set -- s390x-linux-gnu-gcc -O2 -static
    compile consumer "$@" && compile_tape tape "$@" && is_golden qemu-s390x ./tape &&
        qemu-s390x ./consumer
}

# An installation by the Autotools, with the shared and the static library. It is moved afterwards: the ways
# cmake-autotools and cmake-static find it in the new place.
way_autotools()
{
    mkdir build && (cd build && "$source/configure" --prefix="$PWD/../installed" --without-assimp \
        --without-mujoco --without-urdfdom --without-sdformat --without-tinygltf --without-check CC="$cache gcc" && make -j"$jobs" install) &&
        cp -r "$source/tests/consumers/pkg-config" "$program" . && cd pkg-config &&
        PKG_CONFIG_PATH=$PWD/../installed/lib/pkgconfig make CC=gcc &&
        LD_LIBRARY_PATH=$PWD/../installed/lib ./consumer && mv ../installed "$room/by_autotools"
}

# find_installed PREFIX [FLAG]: build the program with the library that find_package() finds in PREFIX.
find_installed()
{
    prefix=$1
    shift
    cmake -S "$source/tests/consumers/cmake-package" -B program -DCMAKE_PREFIX_PATH="$prefix" "$@" &&
        cmake --build program && program/consumer
}
way_cmake_autotools() { find_installed "$room/by_autotools"; }
way_cmake_static() { find_installed "$room/by_autotools" -DLIBRARY=static; }

# The packages of Debian, unpacked. Their build runs "make check-brief"; the test "hello" of the installed
# packages runs here.
way_debian()
{
    make -C "$build" debian-packages && root=$PWD/root || return
    for package in "$build"/debian-packages/*.deb; do
        dpkg-deb -x "$package" "$root" || return
    done
    libraries=$(dirname "$root"/usr/lib/*/libespalier.so)
    (
        # Without these two pkg-config leaves out the flags for directories of the system.
        export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
        export PKG_CONFIG_PATH="$libraries/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
        export LD_LIBRARY_PATH="$libraries"
        cp -r "$source/tests/consumers/pkg-config" "$program" . &&
            (cd "$source" && sh packaging/debian/tests/hello) &&
            cd pkg-config && make CC=gcc && ./consumer
    )
}

# The library as one file, which compiles without a warning and makes the hashes of tests/golden.
way_amalgamation()
{
    sh "$source/packaging/amalgamate.sh" "$source" . || return
    for compiler in "clang -std=c11" "clang -O2" "gcc -std=c11" "gcc -O2"; do
        command -v "${compiler%% *}" >/dev/null || continue
        # A list of words.
        # shellcheck disable=SC2086
        $compiler -Wall -Wextra -Werror -c espalier.c &&
            $compiler -I"$source/include" "$program" espalier.o -lm -o consumer &&
            $compiler -ffp-contract=off -I"$source" -I"$source/include" "$source"/tests/golden/*.c \
                espalier.o -lm -o tape && is_golden ./tape && ./consumer || return
    done
}

# Flags that change the arithmetic of floats are refused or named, and others give the same bits.
way_fast_math()
{
    { ESPL_FAST_MATH=full srcdir=$source sh "$source/tests/fast_math.sh" || return; } >&2
    compile consumer gcc -O3 -march=native -fno-math-errno -fno-trapping-math -frounding-math &&
        ./consumer
}

# The program in C++, linked with a library that a C compiler has made.
way_cxx()
{
    compile_objects gcc -O2 &&
        for compiler in clang++ g++; do
            command -v "$compiler" >/dev/null || continue
            "$compiler" -std=c++17 -Wall -Wextra -pedantic -Wconversion -Wshadow -Werror \
                -I"$source/include" "${program}pp" objects/*.o -lm -o consumer && ./consumer || return
        done
}

# fits_shared ARCHIVE: a shared library can be made of all objects of an archive, which needs code that is
# position independent.
fits_shared()
{
    gcc -shared -o whole.so -Wl,--whole-archive "$1" -Wl,--no-whole-archive >&2
}

# add_tree OPTION: build the program and the source tree in one project of CMake.
add_tree()
{
    cmake -S "$source/tests/consumers/cmake-folder" -B . -DESPALIER="$source" "$1" \
        -DCMAKE_C_COMPILER_LAUNCHER="$cache" && cmake --build . -j "$jobs" && ./consumer
}
# Below a path with a space, as two of the ways that follow.
way_cmake_folder()
{
    mkdir "my game" && cd "my game" && add_tree -DFETCH=OFF &&
        fits_shared "$(find . -name libespalier.a)" && ./consumer
}
way_cmake_fetch() { add_tree -DFETCH=ON; }

way_cmake_package()
{
    mkdir "my game" && cd "my game" &&
        cmake -S "$source" -B library -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_PREFIX="$PWD/installed" \
            -DCMAKE_C_COMPILER_LAUNCHER="$cache" &&
        cmake --build library -j "$jobs" --target install && find_installed "$PWD/installed"
}

# With the wrap file of packaging/meson, and an archive of the files that the build needs, named as that of
# "make dist".
way_meson_wrap()
{
    mkdir "my game" && cd "my game" &&
        archive=$(sed -n 's/^directory = //p' "$source/packaging/meson/espalier.wrap") || return
    cp "$source/tests/consumers/meson-wrap/meson.build" "$program" . &&
        mkdir -p "$archive" subprojects/packagefiles &&
        cp -r "$source/include" "$source/lib" "$source/packaging" "$source/meson.build" \
            "$source/meson_options.txt" "$archive" &&
        tar -cJf "subprojects/packagefiles/$archive.tar.xz" "$archive" &&
        cp "$source/packaging/meson/espalier.wrap" subprojects && rm -r "$archive" &&
        meson setup -Despalier:default_library=both build && ninja -C build &&
        fits_shared build/subprojects/*/libespalier.a && build/consumer
}

# The port and the recipe, by the stand-ins of tests/recipes. That of Conan runs the program itself.
way_vcpkg()
{
    cmake -DPORT_DIR="$source/packaging/vcpkg/espalier" -DROOM="$PWD/vcpkg" -DHEADERS="$room/headers" \
        -DFEATURES=threads -DFLAGS="-DCMAKE_C_COMPILER_LAUNCHER=$cache" \
        -P "$source/tests/recipes/vcpkg.cmake" && find_installed "$PWD/vcpkg/packages"
}
way_conan()
{
    mkdir conan && python3 "$source/tests/recipes/conan.py" "$source/packaging/conan" conan \
        "$room/headers" --cmake=-DCMAKE_C_COMPILER_LAUNCHER="$cache" >conan/log &&
        tail -n 1 conan/log
}

way_windows()
{
    set -- x86_64-w64-mingw32-gcc -O2
    compile_objects "$@" -DESPL_BUILDS_DLL &&
        "$@" -shared -static-libgcc -Wl,--out-implib,libespalier.dll.a -o espalier.dll objects/*.o &&
        "$@" -I"$source/include" -o consumer.exe "$program" libespalier.dll.a &&
        compile_tape tape.exe "$@" && export WINEPREFIX="$room/wine" WINEDEBUG=-all &&
        is_golden wine ./tape.exe && wine ./consumer.exe >lines && tr -d '\r' <lines
}

# run_webassembly FLAG...: SINGLE_FILE=1 puts the module into the JavaScript, because older versions of
# emscripten load a module by fetch(), and that of node loads no files. The tape needs more memory than
# the default of 16 MiB.
run_webassembly()
{
    compile consumer.js emcc -O2 "$@" -s SINGLE_FILE=1 &&
        compile_tape tape.js emcc -O2 "$@" -s SINGLE_FILE=1 -s ALLOW_MEMORY_GROWTH=1 &&
        is_golden node tape.js && node consumer.js
}
way_webassembly() { run_webassembly; }
way_webassembly_simd() { run_webassembly -msimd128; }

# The npm package, installed from its archive into an empty project: its enumerators are those of the headers;
# its tests; its types where tsc is installed; the program in JavaScript, in an engine with SIMD and in one
# without.
way_npm()
{
    npm_config_cache=$PWD/cache npm_config_update_notifier=false
    export npm_config_cache npm_config_update_notifier
    sh "$source/packaging/npm/build.sh" "$source" package && npm pack ./package &&
        mkdir project && cp "$source"/tests/consumers/npm/* "$source"/packaging/npm/*.mjs project &&
        cd project && echo '{ "private": true, "type": "module" }' >package.json &&
        npm install --offline --no-audit --no-fund ../espalier-*.tgz &&
        node test-enumerators.mjs >enumerators.c &&
        emcc -fsyntax-only -I"$source/include" enumerators.c &&
        node --test test.mjs test-archives.mjs test-arguments.mjs test-counterparts.mjs test-far.mjs test-memory.mjs \
            test-motion.mjs test-refusals.mjs test-renderables.mjs &&
        { is_left_out tsc || tsc --strict --noEmit --target es2020 --module nodenext \
            --moduleResolution nodenext consumer.ts; } &&
        echo 'WebAssembly.validate = () => false' >no-simd.cjs &&
        test "$(node -r ./no-simd.cjs program.mjs)" = "scalar $expected" && node program.mjs
}

# find_python: print the first Python that has all that the package needs, or else the name of Debian's
# package of what the last one lacks.
find_python()
{
    for python in "${PYTHON-python3}" python3 /usr/bin/python3; do
        command -v "$python" >/dev/null || continue
        lacking=$("$python" -c 'import importlib.util as u, os, sysconfig
needed = {name: name for name in ("cffi", "numpy", "pip", "setuptools", "wheel")}
needed["ensurepip"] = "venv"
lacking = ["python3-" + needed[name] for name in needed if u.find_spec(name) is None]
if not os.path.exists(sysconfig.get_path("include") + "/Python.h"):
    lacking.append("python3-dev")
print(*lacking[:1])')
        test $? -eq 0 && test -z "$lacking" && echo "$python" && return
    done
    echo "${lacking:-python3}"
}

# The wheel in a fresh environment, its tests, its types where mypy is installed, and the program.
way_python()
{
    found=$(find_python)
    PYTHON=$found sh "$source/packaging/python/wheel.sh" "$source" wheel >&2 &&
        "$found" -m venv --system-site-packages venv &&
        venv/bin/pip -q install --no-index --no-deps wheel/espalier-*.whl &&
        (cd wheel/package/tests && ../../../venv/bin/python -m unittest) &&
        { ! venv/bin/python -m mypy --version >&2 && test "${ESPL_CONSUMERS-}" != full ||
            (cd wheel/package && ../../venv/bin/python -m mypy espalier >&2); } &&
        cp "$source/tests/consumers/program.py" . && venv/bin/python program.py
}

# --- All of them ---

# find_missing TOOL...: print the first tool that is not installed.
find_missing()
{
    for tool; do
        command -v "$tool" >/dev/null || { echo "$tool" && return; }
    done
}

# is_left_out TOOL: tells whether a tool is not installed and the test may do without it.
is_left_out()
{
    ! command -v "$1" >/dev/null && test "${ESPL_CONSUMERS-}" != full
}

# print_version TOOL: its name and version. The name is what follows the last dash: "gcc" of a compiler for
# another machine.
print_version()
{
    version=$("$1" -dumpfullversion 2>/dev/null || "$1" -dumpversion 2>/dev/null ||
        "$1" --version 2>/dev/null) || version=
    name_only=${1##*/}
    echo "${name_only##*-} $(printf '%s\n' "$version" | grep -oE -m 1 '[0-9]+(\.[0-9]+)*' | head -n 1)"
}

# print_row NAME COMPILER KERNELS GOLDEN HASH
print_row()
{
    printf '%-18s %-16s %-8s %-9s %s\n' "$@"
}

# try NAME COMPILER TOOL...: run one way, which is skipped where a tool is missing. Its function is
# way_NAME, with underscores for dashes.
try()
{
    name=$1
    compiler=$2
    shift
    case " $wanted " in
        "  " | *" $name "*) ;;
        *) return ;;
    esac
    missing=$(find_missing "$@")
    if test -n "$missing" && test "${ESPL_CONSUMERS-}" != full; then
        skip "$name" "needs $missing"
        print_row "$name" - - - "not built: needs $missing" >>"$room/table"
        return
    fi
    way=way_$(echo "$name" | tr -c 'a-z0-9\n' _)
    mkdir "$room/$way"
    answer="- failed"
    (cd "$room/$way" && "$way") >"$room/output" 2>"$room/log" && answer=$(tail -n 1 "$room/output")
    test "${answer#* }" = "$expected"
    ok "$name"
    golden=-
    test ! -e "$room/$way/golden" || golden="$(cat "$room/$way/golden") equal"
    print_row "$name" "$(print_version "$compiler")" "${answer%% *}" "$golden" "${answer#* }" >>"$room/table"
    rm -rf "${room:?}/$way"
}

explain()
{
    tail -n 40 "$room/output" "$room/log" | sed 's/^/# /'
}

link_headers "$room/headers" "$INTERNAL_CFLAGS"
# A script for xargs: compile_objects() runs "compile FILE COMPILER FLAG..." for each file.
cat >"$room/compile" <<'END'
object=objects/$(echo "${1%.c}" | tr / -).o
file=$1
shift
test "$1" = emcc || set -- $cache "$@"
exec "$@" -c -o "$object" "$source/lib/$file"
END
print_row "built by, for" compiler kernels golden "hash of the world" >"$room/table"
NODE_PATH=${NODE_PATH-/usr/share/nodejs} # where Debian has a module that emscripten needs
export NODE_PATH
try gcc gcc
try clang clang
try gcc-32 i686-linux-gnu-gcc
try aarch64 aarch64-linux-gnu-gcc qemu-aarch64
try s390x s390x-linux-gnu-gcc qemu-s390x
try windows x86_64-w64-mingw32-gcc wine
try webassembly emcc node
try webassembly-simd emcc node
try amalgamation gcc pkg-config
try fast-math gcc clang pkg-config
try cxx g++ gcc
try autotools gcc make pkg-config
try cmake-autotools cc cmake
try cmake-static cc cmake
try cmake-package cc cmake
try cmake-folder cc cmake
try cmake-fetch cc cmake
try meson-wrap cc meson ninja
try vcpkg cc cmake
try conan cc cmake python3
# dpkg-buildpackage refuses to build without these packages. Where one is missing, the name of the list
# stands for it, as a tool that does not exist.
dpkg-checkbuilddeps "$source/packaging/debian/control" 2>/dev/null && lacking= || lacking="build-dependencies"
# A word, or none.
# shellcheck disable=SC2086
try debian gcc dpkg-buildpackage dh lintian make pkg-config $lacking
try npm emcc node npm pkg-config
try python "$(find_python)" gcc
test ! -e "$room/output" || sed -n 's/^speed: /# python: /p' "$room/output"
sed 's/^/# /' "$room/table"
done_testing
