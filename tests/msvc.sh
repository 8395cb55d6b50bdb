#!/bin/sh
# SPDX-License-Identifier: MIT
# What MSVC must be able to compile: no file uses a builtin, an attribute or a keyword that MSVC lacks,
# but where it has another form for MSVC, and clang compiles the public headers as MSVC does.
# tests/windows.sh compiles the library so, and runs it.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99

# find_gnu FILE...: lines with what gcc and clang have and MSVC has not, comments left out. Left
# out are also the blocks of an #if that names gcc or the vector extensions of lib/math, and what is not
# for MSVC: the #else of "#ifdef _MSC_VER".
find_gnu()
{
    awk '
        FNR == 1 { depth = hidden = 0; split("", is_msvc) }
        { line = $0; sub(/\/\/.*/, "", line); names = line ~ /__GNUC__|ESPL__HAS_WIDE|__MINGW_PRINTF_FORMAT/ }
        line ~ /^[ \t]*#[ \t]*if/ {
            depth += 1
            is_msvc[depth] = line ~ /ifdef _MSC_VER/
            if (names && !hidden) { hidden = depth }
            next
        }
        line ~ /^[ \t]*#[ \t]*el/ {
            if (!hidden || hidden == depth) { hidden = names || is_msvc[depth] ? depth : 0 }
            next
        }
        line ~ /^[ \t]*#[ \t]*endif/ { hidden = hidden == depth ? 0 : hidden; depth -= 1; next }
        !hidden && line ~ /(^|[^_a-z])(__attribute__|__builtin_|__extension__|__asm__|__thread|_Thread_local|max_align_t|_*typeof[_ (])|\(\{|\[static / {
            print FILENAME ":" FNR ": " $0
            found = 1
        }
        END { exit !found }' "$@"
}

! find_gnu include/espalier/*.h include/espalier/*.hpp
ok "the public headers use nothing that MSVC lacks"
# The kernels by vector extensions, and stb_ds, which uses typeof where the compiler has it.
# shellcheck disable=SC2046
! find_gnu $(find lib -name '*.[ch]' ! -path lib/base/array.c)
ok "lib/ uses nothing that MSVC lacks"
printf 'int f(int x) __attribute__((const));\n' | find_gnu - >&2
ok "an attribute is found"

msvc="--target=x86_64-pc-windows-msvc -fms-compatibility -fms-extensions -fms-compatibility-version=19.36"
msvc="$msvc -fsyntax-only -Wall -Wextra -Werror -Iinclude"
if ! command -v clang >/dev/null; then
    skip "the public headers by clang as MSVC" "needs clang"
    done_testing
fi
for header in include/espalier/*.h; do
    # The compiler has the headers of a freestanding program, and no others are needed.
    # shellcheck disable=SC2086
    printf '#include "%s"\n' "$header" | clang $msvc -std=c11 -ffreestanding -x c -
    ok "$header by clang as MSVC"
done
folders=$(echo | g++ -x c++ -E -Wp,-v - 2>&1 | sed -n 's/^ \(\/.*\)/-isystem \1/p' | grep -v '/lib/gcc/')
# libstdc++ asks for a macro that clang does not define as MSVC, and warns of another.
msvc="$msvc -D__GCC_ATOMIC_TEST_AND_SET_TRUEVAL=1 -Wno-#warnings $folders"
# Its uint64_t is an unsigned long, which is short for MSVC.
msvc="$msvc -Wno-shift-count-overflow"
# shellcheck disable=SC2086
if printf '#include <functional>\n#include <memory>\n' | clang++ $msvc -std=c++17 -x c++ - 2>/dev/null; then
    printf '#include <espalier/espalier.hpp>\n' | clang++ $msvc -std=c++17 -x c++ -
    ok "include/espalier/espalier.hpp by clang as MSVC"
else
    skip "include/espalier/espalier.hpp by clang as MSVC" "the C++ library here is not for it"
fi
done_testing
