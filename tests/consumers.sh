#!/bin/sh
# SPDX-License-Identifier: MIT
# Espalier as its users build it: tests/consumers/program.c, a project of its own, is built from a
# clean folder against an installation or a copy, by each build system and for each platform. All print
# the hash of tests/consumers/hash.txt. "make consumers" runs this and prints the table at the end.
#
# A way whose tools are missing is skipped; ESPL_CONSUMERS=full takes it as a failure.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd) || exit 99
: "${INTERNAL_CFLAGS=$(pkg-config --cflags stb)}"
room=$(mktemp -d "$PWD/consumers.XXXXXX") || exit 99
trap 'rm -rf "$room"' EXIT
jobs=$(nproc 2>/dev/null || echo 2)
expected=$(cat "$source/tests/consumers/hash.txt")
program=$source/tests/consumers/program.c

# The header stb_ds.h alone, for compilers of other machines, which must not see the others of
# this one.
find_headers()
{
    for header in stb_ds.h; do
        for folder in $(printf '%s\n' "$INTERNAL_CFLAGS" | sed 's/-I//g') /usr/include /usr/include/stb; do
            if test -e "$folder/$header"; then
                ln -sf "$folder/$header" "$room/headers/$header" && break
            fi
        done
    done
}

# --- Ways: each builds in the current folder, which is empty, and runs the program ---

# compile OUTPUT COMPILER FLAG...: library and program in one command, without a build system.
compile()
{
    output=$1
    shift
    "$@" -std=gnu11 -ffp-contract=off -I"$source" -I"$source/include" -I"$room/headers" \
        "$source"/lib/*/*.c "$program" -o "$output" -lm
}

way_gcc() { compile consumer gcc -O2 && ./consumer; }
way_clang() { compile consumer clang -O2 && ./consumer; }
way_gcc_32() { compile consumer i686-linux-gnu-gcc -O2 -msse2 -mfpmath=sse -static && ./consumer; }
way_aarch64() { compile consumer aarch64-linux-gnu-gcc -O2 -static && qemu-aarch64 ./consumer; }

way_autotools()
{
    mkdir build && (cd build && "$source/configure" --prefix="$PWD/../installed" \
        --disable-static --without-assimp --without-mujoco --without-check &&
        make -j"$jobs" install) &&
        cp -r "$source/tests/consumers/pkg-config" "$program" . && cd pkg-config &&
        PKG_CONFIG_PATH=$PWD/../installed/lib/pkgconfig make CC=gcc &&
        LD_LIBRARY_PATH=$PWD/../installed/lib ./consumer
}

# The library as one file, without a warning. As such it makes the hashes of tests/golden too.
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
                espalier.o -lm -o tape && ./tape >tape.txt &&
            diff "$source/tests/golden/golden.txt" tape.txt && ./consumer || return
    done
}

# The program in C++, with the library by a C compiler.
way_cxx()
{
    gcc -O2 -std=gnu11 -ffp-contract=off -I"$source" -I"$source/include" -I"$room/headers" -r \
        -nostdlib -o espalier.o "$source"/lib/*/*.c &&
        for compiler in clang++ g++; do
            command -v "$compiler" >/dev/null || continue
            "$compiler" -std=c++17 -Wall -Wextra -pedantic -Wconversion -Wshadow -Werror \
                -I"$source/include" "${program}pp" espalier.o -lm -o consumer && ./consumer || return
        done
}

way_cmake_folder()
{
    cmake -S "$source/tests/consumers/cmake-folder" -B . -DESPALIER="$source" &&
        cmake --build . -j "$jobs" && ./consumer
}

way_cmake_package()
{
    cmake -S "$source" -B library -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_PREFIX="$PWD/installed" &&
        cmake --build library -j "$jobs" --target install &&
        cmake -S "$source/tests/consumers/cmake-package" -B program \
            -DCMAKE_PREFIX_PATH="$PWD/installed" &&
        cmake --build program && program/consumer
}

way_meson_wrap()
{
    cp "$source/tests/consumers/meson-wrap/meson.build" "$program" . && mkdir -p subprojects/espalier &&
        cp -r "$source/include" "$source/lib" "$source/meson.build" "$source/meson_options.txt" \
            subprojects/espalier && meson setup build && ninja -C build && build/consumer
}

way_windows()
{
    x86_64-w64-mingw32-gcc -O2 -std=gnu11 -ffp-contract=off -DESPL_BUILDS_DLL -shared -static-libgcc \
        -Wl,--out-implib,libespalier.dll.a -o espalier.dll \
        -I"$source" -I"$source/include" -I"$room/headers" "$source"/lib/*/*.c &&
        x86_64-w64-mingw32-gcc -O2 -I"$source/include" -o consumer.exe "$program" libespalier.dll.a &&
        WINEPREFIX=$room/wine WINEDEBUG=-all wine ./consumer.exe >lines && tr -d '\r' <lines
}

# webassembly FLAG...: the hashes of tests/golden, then the program. An old emscripten loads by fetch(),
# which node offers since, but not for files: so one file holds all.
webassembly()
{
    set -- emcc -O2 "$@" -std=gnu11 -ffp-contract=off -I"$source" -I"$source/include" -I"$room/headers"
    "$@" -r -o espalier.o "$source"/lib/*/*.c &&
        "$@" -s SINGLE_FILE=1 -s ALLOW_MEMORY_GROWTH=1 "$source"/tests/golden/*.c espalier.o -o tape.js &&
        node tape.js >tape.txt && diff "$source/tests/golden/golden.txt" tape.txt &&
        "$@" -s SINGLE_FILE=1 "$program" espalier.o -o consumer.js && node consumer.js
}

way_webassembly() { webassembly; }
way_webassembly_simd() { webassembly -msimd128; }

# The npm package, installed from its archive into an empty project: its tests, its types where tsc is
# there, and the program in JavaScript, in an engine with SIMD and in one that refuses it.
way_npm()
{
    npm_config_cache=$PWD/cache npm_config_update_notifier=false
    export npm_config_cache npm_config_update_notifier
    sh "$source/packaging/npm/build.sh" "$source" package && npm pack ./package &&
        mkdir project && cp "$source"/tests/consumers/npm/* "$source"/packaging/npm/*.mjs project &&
        cd project && echo '{ "private": true, "type": "module" }' >package.json &&
        npm install --offline --no-audit --no-fund ../espalier-*.tgz &&
        node --test test.mjs test-memory.mjs &&
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
        test -z "$lacking" && echo "$python" && return
    done
    echo "${lacking:-python3}"
}

# The wheel in a fresh environment, its tests, its types where mypy is installed, and the program.
way_python()
{
    found=$(find_python)
    STB_CFLAGS=$INTERNAL_CFLAGS PYTHON=$found \
        sh "$source/packaging/python/wheel.sh" "$source" wheel >&2 &&
        "$found" -m venv --system-site-packages venv &&
        venv/bin/pip -q install --no-index --no-deps wheel/espalier-*.whl &&
        (cd wheel/package/tests && ../../../venv/bin/python -m unittest) &&
        { ! venv/bin/python -c 'import mypy' 2>/dev/null ||
            (cd wheel/package && ../../venv/bin/python -m mypy espalier >&2); } &&
        cp "$source/tests/consumers/program.py" . && venv/bin/python program.py
}

# --- All of them ---

# find_missing TOOL...: print the first that is missing.
find_missing()
{
    for tool; do
        command -v "$tool" >/dev/null || { echo "$tool" && return; }
    done
}

# is_left_out TOOL: it is missing, and may be.
is_left_out()
{
    ! command -v "$1" >/dev/null && test "${ESPL_CONSUMERS-}" != full
}

# try NAME TOOL...: one way. The function has the name with an underscore for each other character.
try()
{
    name=$1
    shift
    missing=$(find_missing "$@")
    if test -n "$missing" && test "${ESPL_CONSUMERS-}" != full; then
        skip "$name" "needs $missing"
        printf '%-20s %-10s %s\n' "$name" - "not built: needs $missing" >>"$room/table"
        return
    fi
    way=way_$(echo "$name" | tr -c 'a-z0-9\n' _)
    mkdir "$room/$way"
    answer="- failed"
    (cd "$room/$way" && "$way") >"$room/output" 2>"$room/log" && answer=$(tail -n 1 "$room/output")
    test "${answer#* }" = "$expected"
    ok "$name"
    printf '%-20s %-10s %s\n' "$name" "${answer%% *}" "${answer#* }" >>"$room/table"
    rm -rf "${room:?}/$way"
}

explain()
{
    tail -n 40 "$room/output" "$room/log" | sed 's/^/# /'
}

mkdir "$room/headers"
find_headers
printf '%-20s %-10s %s\n' "built by, for" kernels "hash of the world" >"$room/table"
NODE_PATH=${NODE_PATH-/usr/share/nodejs} # where Debian has a module that emscripten needs
export NODE_PATH
try gcc gcc
try clang clang
try gcc-32 i686-linux-gnu-gcc
try aarch64 aarch64-linux-gnu-gcc qemu-aarch64
try autotools make pkg-config
try amalgamation gcc pkg-config
try cxx gcc g++
try cmake-folder cmake
try cmake-package cmake
try meson-wrap meson ninja
try windows x86_64-w64-mingw32-gcc wine
try python "$(find_python)" gcc
test ! -e "$room/output" || sed -n 's/^speed: /# python: /p' "$room/output"
try webassembly emcc node
try webassembly-simd emcc node
try npm emcc node npm pkg-config
sed 's/^/# /' "$room/table"
done_testing
