#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone as C11, the public ones also as C++.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
srcdir=${srcdir:-.}
flags="-fsyntax-only -Wall -Wextra -Werror -DHAVE_CONFIG_H -I. -I$srcdir -I$srcdir/include"

# Warnings that programs in C++ may have switched on, and that the public headers must not cause. A compiler
# that does not know one leaves it out.
strict="-Wcast-align -Wcast-qual -Wconversion -Wdouble-promotion -Wextra-semi -Wfloat-equal -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Wredundant-decls -Wshadow -Wsign-conversion -Wswitch-enum -Wundef
    -Wuseless-cast -Wzero-as-null-pointer-constant -Wno-unknown-warning-option"

# compile HEADER COMMAND...
compile()
{
    printf '#include "%s"\n' "$1" | { shift && "$@" -; } 2>&1
}

# check_cxx NAME HEADER [FLAG]: the header compiles as C++, where there is a compiler.
# shellcheck disable=SC2086 # the compiler and the flags are lists of words
check_cxx()
{
    name="$1 as C++" header=$2
    shift 2
    if $CXX --version >/dev/null 2>&1; then
        compile "$header" $CXX -std=c++11 -pedantic $flags "$@" -x c++
        ok "$name"
    else
        skip "$name" "no C++ compiler"
    fi
}

# The compilers and the flags are lists of words.
# shellcheck disable=SC2086
{
    for header in "$srcdir"/lib/*/*.h; do
        compile "$header" $CC -std=c11 $flags $INTERNAL_CFLAGS -x c
        ok "${header#"$srcdir/"} as C11"
    done
    for header in "$srcdir"/include/espalier/*.h; do
        # tests/cglm.sh compiles it where cglm is installed.
        test "${header##*/}" != cglm.h || continue
        compile "$header" $CC -std=c11 -pedantic $flags -x c
        ok "${header#"$srcdir/"} as C11"
        check_cxx "${header#"$srcdir/"}" "$header" $strict
    done
    # The headers of C++, and the templates of what uses them, by each compiler.
    for compiler in g++ clang++; do
        if echo | $compiler -std=c++17 -fsyntax-only -x c++ - 2>/dev/null; then
            compile "$srcdir/include/espalier/espalier.hpp" $compiler -std=c++17 -pedantic $flags $strict -x c++
            ok "include/espalier/espalier.hpp by $compiler with strict warnings"
            compile "$srcdir/tests/commands/forms_used.h" $compiler -std=c++17 -pedantic $flags $strict -x c++
            ok "the short forms of recording by $compiler with strict warnings"
        else
            skip "the headers by $compiler with strict warnings" "$compiler is not installed"
        fi
    done
    echo 'static const char *const none = 0;' | g++ -fsyntax-only -Wno-unused $strict -Werror -x c++ - 2>&1 |
        grep -q zero-as-null || ! g++ --version >/dev/null 2>&1
    ok "such a warning is noticed"
    for header in "$srcdir"/include/espalier/*.h; do
        test "${header##*/}" = espalier.h || grep -q '^/// .*Thread rule: ' "$header"
        ok "${header#"$srcdir/"} states its thread rule"
        # A literal true or false does not tell a reader of the call what it means; an enumerator does. But it
        # does where the function has the name of the flag: espl_set_enabled(..., true).
        ! sed 's|//.*||' "$header" | tr '\n' ' ' | grep -Eo '(ESPL_API|static inline)[^;{]*\([^;{]*\bbool [a-z_]+[,)]' |
            grep -Ev 'set_([a-z]+)\(.*bool \1\)'
        ok "${header#"$srcdir/"} takes no bool"
    done
    # The short forms are code in a header: they are compiled where they are used.
    forms=$srcdir/tests/commands/forms_used.h
    compile "$forms" $CC -std=c11 -pedantic -Wconversion $flags -x c
    ok "the short forms of recording as C11"
    check_cxx "the short forms of recording" "$forms" -Wconversion
}
done_testing
