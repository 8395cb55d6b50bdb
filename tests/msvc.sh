#!/bin/sh
# SPDX-License-Identifier: MIT
# MSVC can compile the library: no file uses a builtin, an attribute or a keyword that MSVC lacks without
# another form for MSVC beside it, and clang compiles the public headers as MSVC does. tests/windows.sh
# compiles the library in that way and runs it.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99

# find_gnu FILE...: print the lines that use what gcc and clang have and MSVC has not. Comments are left
# out, and so are blocks that MSVC does not compile: of an #if that names gcc or the vector extensions of
# lib/math, and of the #else of "#ifdef _MSC_VER".
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

# list_math FILE...: names of <math.h> that are in the code.
list_math()
{
    functions='fma|fmin|fmax|floor|ceil|l?round|l?rint|trunc|copysign|ldexp|frexp|fmod|fabs|sqrt|cbrt'
    functions="$functions|a?sin|a?cos|a?tan|atan2|exp|log2|pow|hypot"
    sed 's,//.*,,' "$@" |
        grep -oE "\\b(HUGE_VALF?|M_[A-Z0-9_]+)\\b|\\b(isnormal|fpclassify|($functions)f?)\\(" | tr -d '(' | sort -u
}

# list_missing FILE...: of these names, those that tests/windows/msvc/math.h has not.
list_missing()
{
    list_math "$@" | while read -r name; do
        grep -qw "$name" tests/windows/msvc/math.h || echo "no $name in tests/windows/msvc/math.h"
    done >"$found"
    cat "$found" >&2
    test ! -s "$found"
}

found=$(mktemp) || exit 99
trap 'rm -f "$found"' EXIT
# shellcheck disable=SC2046
list_missing $(find lib -name '*.[ch]' -o -name '*.inc')
ok "the header that stands for <math.h> of MSVC has what lib/ uses"
! echo 'x = cbrtf(y);' | list_missing - 2>/dev/null
ok "a name that it lacks is found"

msvc="--target=x86_64-pc-windows-msvc -fms-compatibility -fms-extensions -fms-compatibility-version=19.36"
msvc="$msvc -fsyntax-only -Wall -Wextra -Werror -Iinclude"
if ! command -v clang >/dev/null; then
    skip "the public headers by clang as MSVC" "needs clang"
    done_testing
fi
for header in include/espalier/*.h; do
    # cglm includes headers of a C library, which this mode has not.
    test "${header##*/}" != cglm.h || continue
    # A freestanding program has headers of the compiler alone; the public headers need no others.
    # shellcheck disable=SC2086
    printf '#include "%s"\n' "$header" | clang $msvc -std=c11 -ffreestanding -x c -
    ok "$header by clang as MSVC"
done
# shellcheck disable=SC2086
! printf '#include "lib/base/compiler.h"\n' | clang $msvc -I. -D_M_FP_FAST -std=c11 -ffreestanding -x c - 2>/dev/null &&
    printf '#include "lib/base/compiler.h"\n' | clang $msvc -I. -std=c11 -ffreestanding -Wno-unknown-pragmas -x c -
ok "lib/base/compiler.h refuses /fp:fast"
folders=$(echo | g++ -x c++ -E -Wp,-v - 2>&1 | sed -n 's/^ \(\/.*\)/-isystem \1/p' | grep -v '/lib/gcc/')
# libstdc++ needs a macro that clang does not define in this mode, and warns that another is missing.
msvc="$msvc -D__GCC_ATOMIC_TEST_AND_SET_TRUEVAL=1 -Wno-#warnings $folders"
# uint64_t of these headers is unsigned long, which has 32 bits for MSVC.
msvc="$msvc -Wno-shift-count-overflow"
# shellcheck disable=SC2086
if printf '#include <functional>\n#include <memory>\n' | clang++ $msvc -std=c++17 -x c++ - 2>/dev/null; then
    printf '#include <espalier/espalier.hpp>\n' | clang++ $msvc -std=c++17 -x c++ -
    ok "include/espalier/espalier.hpp by clang as MSVC"
else
    skip "include/espalier/espalier.hpp by clang as MSVC" "the C++ library here is not for it"
fi
done_testing
