#!/bin/sh
# SPDX-License-Identifier: MIT
# Espalier for Windows of 64 bits: built by mingw-w64, run by Wine. "make windows" runs this.
#
# The library as a DLL, which the golden tape, the examples and the program espalier use as users do; and
# the suites, with the library and a stand-in for Check in one program (tests/windows/check.h).
#
# Where a tool is missing, nothing is tested; with ESPL_CONSUMERS=full that is a failure.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=packaging/lib.sh
. "${srcdir:-.}/packaging/lib.sh"
: "${INTERNAL_CFLAGS=$(pkg-config --cflags stb libxxhash)}"
for tool in x86_64-w64-mingw32-gcc x86_64-w64-mingw32-objdump wine; do
    command -v "$tool" >/dev/null || test "${ESPL_CONSUMERS-}" = full || skip_all "needs $tool"
done
room=$(mktemp -d "$PWD/windows.XXXXXX") || exit 99
jobs=$(nproc 2>/dev/null || echo 2)
cd "${srcdir:-.}" || exit 99
gcc="x86_64-w64-mingw32-gcc -std=gnu11"
release=$(print_release .)

# The longest suites run a twentieth of their random operations. On Linux they run all of them.
export ESPL_DIVISOR="${ESPL_DIVISOR-20}"
export WINEPREFIX="$room/wine" WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
trap 'wineserver -k >"$room/log" 2>&1; rm -rf "$room"' EXIT

# Suites that are left out, each for its reason.
find_reason() # SUITE
{
    case $1 in
        bench/schemes_test) echo "measurements are made on POSIX systems" ;;
        fuzz/inputs_test) echo "Windows has no fork()" ;;
        math/angles_test) echo "mingw has no exact sine to compare with" ;;
        tools/document_test | tools/film_frame_test | tools/picture_test) echo "they need jansson and Cairo" ;;
        tools/gltf_test | tools/gltf_bad_test) echo "they need tinygltf" ;;
        tools/urdf_test | tools/sdf_test) echo "they need urdfdom and libsdformat" ;;
    esac
}

explain()
{
    tail -n 40 "$room/log" | sed 's/^/# /'
}

# --- Building ---

# Sources of the program espalier in C. Its reader by tinygltf is left out, as where that is not found.
list_tools()
{
    find tools -maxdepth 1 -name '*.c' ! -name 'gltf_*.c' ! -name scene_gltf.c
}

# compile_each FOLDER COMPILER FLAG...: compile the sources that stdin lists, one a line.
compile_each()
{
    folder=$room/$1
    shift
    mkdir -p "$folder"
    # The words are for the shell that xargs starts.
    # shellcheck disable=SC2016
    FOLDER=$folder COMPILE="$* -ffp-contract=off" HEADERS=$room/headers xargs -P "$jobs" -L 1 sh -c '
        exec $COMPILE -I. -Iinclude -I"$HEADERS" -c -o "$FOLDER/$(echo "$1" | tr / -).o" "$1"' sh
}

# link PROGRAM OBJECT...: with no other DLL than those of Windows.
link()
{
    program=$room/$1
    shift
    x86_64-w64-mingw32-gcc -o "$program" "$@" -static -lpthread
}

# run PROGRAM ARGUMENT...: its output with the line ends of POSIX; its status.
run()
{
    program=$room/$1
    shift
    timeout 300 wine "$program" "$@" >"$room/crlf" 2>>"$room/log" </dev/null
    status=$?
    tr -d '\r' <"$room/crlf"
    return $status
}

list_golden()
{
    list_variable tests_golden_tape_SOURCES | grep '\.c$'
}

build_dll()
{
    find lib -name '*.c' | compile_each dll "$gcc" -O2 -DESPL_BUILDS_DLL &&
        x86_64-w64-mingw32-gcc -shared -static-libgcc -Wl,--out-implib,"$room/libespalier.dll.a" \
            -o "$room/espalier.dll" "$room"/dll/*.o
}

# list_examples: the examples but camera.c, which needs cglm, and replica.c and rollback.c, which fork.
list_examples()
{
    find examples -name '*.c' ! -name camera.c ! -name replica.c ! -name rollback.c
}

build_programs()
{
    mkdir -p "$room/examples" && list_golden | compile_each golden "$gcc" -O1 &&
        link tape.exe "$room"/golden/*.o "$room/libespalier.dll.a" &&
        list_tools | compile_each tools "$gcc" -O1 "-DPACKAGE_VERSION=\"$release\"" &&
        link espalier.exe "$room"/tools/*.o "$room/libespalier.dll.a" &&
        list_examples | compile_each programs "$gcc" -O1 &&
        for example in $(list_examples); do
            link "${example%.c}.exe" "$room/programs/$(echo "$example" | tr / -).o" \
                "$room/libespalier.dll.a" && cp "$room/espalier.dll" "$room/examples" || return
        done
}

# list_suites: the suites that run; list_all_suites: those that are left out too.
list_suites()
{
    list_all_suites | while read -r suite; do
        test -n "$(find_reason "$suite")" || echo "$suite"
    done
}

list_all_suites()
{
    { list_variable contract_tests && list_variable unit_tests; } | sed 's|^tests/||'
}

build_suites()
{
    {
        find lib -name '*.c'
        list_tools | grep -v '/main\.c$'
        list_variable libtests_a_SOURCES | grep '\.c$' | grep -v '^tests/runner\.c$'
        echo tests/windows/check.c
        list_suites | sed 's|.*|tests/&.c|'
    } | compile_each suites "$gcc" -O1 -DESPL_CHECKS=2 "-DPACKAGE_VERSION=\"$release\"" -Itests/windows \
        -Wno-format &&
        link suites.exe "$room"/suites/*.o
}

# The library, the consumer's program and the golden tape by clang as MSVC compiles them, with the
# headers of mingw, those of tests/windows/msvc, and the linker and libraries of mingw.
build_as_msvc()
{
    mingw=$(x86_64-w64-mingw32-gcc -E -Wp,-v -x c /dev/null 2>&1 | sed -n 's/^ //p' | tail -n 1)
    {
        find lib -name '*.c'
        echo tests/consumers/program.c
        list_golden
    } | compile_each msvc clang --target=x86_64-pc-windows-msvc -fms-compatibility -fms-extensions \
        -fms-compatibility-version=19.36 -std=c11 -O2 -Wall -Wextra -Werror -Wno-unknown-pragmas \
        -Wno-pragma-pack -D__CRT__NO_INLINE -include tests/windows/msvc/prelude.h \
        -isystem tests/windows/msvc -isystem "$mingw" || return
    # A function with a large stack frame calls __chkstk() of MSVC, which mingw has by another name.
    set -- -Wl,--defsym,__chkstk=___chkstk_ms "$room"/msvc/lib-*.o
    link msvc-program.exe "$@" "$room"/msvc/tests-consumers-*.o &&
        link msvc-tape.exe "$@" "$room"/msvc/tests-golden-*.o
}

# --- Tests ---

# Functions of the DLL's export table, which ends with an empty line.
list_exports()
{
    x86_64-w64-mingw32-objdump -p "$room/espalier.dll" |
        awk '/^\[Ordinal\/Name Pointer\] Table/ { on = 1; next } on && NF == 0 { exit } on { print $NF }' |
        LC_ALL=C sort
}

list_imported_dlls()
{
    x86_64-w64-mingw32-objdump -p "$room/espalier.dll" | sed -n 's/^\tDLL Name: //p' |
        tr '[:upper:]' '[:lower:]' | LC_ALL=C sort | tr '\n' ' '
}

# The stack of Windows is aligned to 16 bytes, and gcc aligns it no further in a function. So a register of
# 32 or 64 bytes must be stored there by an instruction that does not need alignment.
has_aligned_moves()
{
    x86_64-w64-mingw32-objdump -d "$room/espalier.dll" |
        grep -E 'vmov(ap[sd]|dqa[0-9]*|ntp[sd]|ntdq) .*%[yz]mm' | grep '(%'
}

is_golden()
{
    names=$(run tape.exe --kernels) && test "$(echo "$names" | wc -w)" -ge 2 || return
    for name in $names; do
        ESPALIER_KERNELS=$name run tape.exe >"$room/printed" &&
            diff tests/golden/golden.txt "$room/printed" >>"$room/log" || return
        printf '# kernels %s\n' "$name"
    done
}

# A program of the library writes a tape, and the program espalier replays it.
replays()
{
    (cd "$room" && run examples/tape.exe tape.bin) >"$room/printed" &&
        (cd "$room" && run espalier.exe replay tape.bin) >"$room/printed" &&
        grep -q ': 11 calls, 3 frames$' "$room/printed"
}

# Run each suite in a process of its own, in a folder for the files that it writes.
run_suites()
{
    mkdir -p "$room/verdicts"
    # The words are for the shell that xargs starts.
    # shellcheck disable=SC2016
    list_suites | (cd "$room/verdicts" && xargs -P "$jobs" -L 1 sh -c '
        file=$(echo "$1" | tr / _)
        timeout 600 wine ../suites.exe "$1" >"$file" 2>"$file.err" </dev/null
        echo $? >"$file.status"' sh)
}

report_suite() # SUITE
{
    reason=$(find_reason "$1")
    if test -n "$reason"; then
        skip "$1" "$reason"
        return
    fi
    file=$room/verdicts/$(echo "$1" | tr / _)
    status=$(cat "$file.status")
    if test "$status" -eq 77; then
        skip "$1" "has no test without pthreadpool"
        return
    fi
    grep -v '^# figure: ' "$file" | tr -d '\r' >"$room/log"
    tail -n 5 "$file.err" >>"$room/log"
    test "$status" -eq 0 && grep -q ': 0 of [1-9][0-9]* tests failed' "$room/log"
    ok "$1"
    count=$(sed -n 's/^#.* 0 of \([0-9]*\) tests failed$/\1/p' "$room/log")
    tests=$((tests + ${count:-0}))
}

link_headers "$room/headers" "$INTERNAL_CFLAGS"
# The server stays until the trap ends it. Otherwise it ends when no program runs, and a program that begins in
# that moment fails with "Connection reset by peer".
wineserver -p >"$room/wine.log" 2>&1
wineboot -i >>"$room/wine.log" 2>&1 &
build_dll >"$room/log" 2>&1
ok "the library is built as a DLL"
build_programs >"$room/log" 2>&1
ok "the program espalier, the golden tape and the examples are built"
build_suites >"$room/log" 2>&1
ok "the suites are built"
wait
list_exports >"$room/exports"
sed 's/ .*//' lib/espalier.sym | diff - "$room/exports" >"$room/log"
ok "the DLL exports lib/espalier.sym"
test "$(list_imported_dlls | tee "$room/log")" = "kernel32.dll msvcrt.dll "
ok "the DLL needs no other DLL than those of Windows"
! has_aligned_moves >"$room/log"
ok "no register of 32 bytes is stored to the stack as if that were aligned"
is_golden
ok "the golden tape has its hashes by all kernels"
for example in $(list_examples); do
    (cd "$room" && run "${example%.c}.exe") >"$room/printed" && diff "${example%.c}.txt" "$room/printed" >"$room/log"
    ok "${example%.c} prints what its text says"
done
if ! command -v clang >/dev/null; then
    skip "the library compiled as by MSVC" "needs clang"
else
    build_as_msvc >"$room/log" 2>&1
    ok "clang compiles the library as MSVC does"
    test "$(run msvc-program.exe)" = "scalar $(cat tests/consumers/hash.txt)"
    ok "that library makes the same world"
    run msvc-tape.exe >"$room/printed" && diff tests/golden/golden.txt "$room/printed" >"$room/log"
    ok "the golden tape has its hashes by that library"
fi
run espalier.exe --version | grep -q '^espalier [0-9.]*$'
ok "espalier --version"
replays
ok "espalier replays a tape"
run_suites
tests=0
for suite in $(list_all_suites); do
    report_suite "$suite"
done
echo "# $tests test cases passed"
done_testing
