#!/bin/sh
# SPDX-License-Identifier: MIT
# Static analysis: of lib/ by gcc's analyzer and clang-tidy; of lib/, tools/, bench/ and examples/ by cppcheck.
# What they report is mended, or suppressed with its reason: below, in tests/static.supp (cppcheck), or in
# .clang-tidy where a whole check is left out.
#
# `make static` runs this. A missing program is reported and left out; with ESPL_STATIC=full it is a failure.
srcdir=${srcdir:-.}
: "${JOBS=$(nproc 2>/dev/null || echo 2)}"
: "${INTERNAL_CFLAGS=$(pkg-config --cflags stb libxxhash)}"
flags="-std=gnu11 -DHAVE_CONFIG_H -I. -I$srcdir -I$srcdir/include $INTERNAL_CFLAGS"
failed=0
missing=0

say()
{
    printf '%s\n' "$*"
}

lack() # program
{
    say "static: $1 is missing (the Debian package of that name has it)"
    missing=1
}

# analyze SOURCE...: the analyzer cannot know that components.c looks up only names of registered components.
# shellcheck disable=SC2086 # the flags are a list of words
analyze()
{
    say "static: gcc -fanalyzer"
    printf '%s\n' "$@" | grep -v '/store/components\.c$' |
        xargs -P "$JOBS" -n 1 gcc $flags -O1 -fanalyzer -Werror -c -o /dev/null || failed=1
    gcc $flags -O1 -fanalyzer -Wno-analyzer-null-dereference -Werror -c -o /dev/null \
        "$srcdir/lib/store/components.c" || failed=1
}

check_cpp()
{
    say "static: cppcheck"
    (cd "$srcdir" && cppcheck -q -j "$JOBS" --std=c11 --platform=unix64 \
        --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
        --suppressions-list=tests/static.supp -Iinclude -I. -D__GNUC__=12 -D__x86_64__=1 \
        -D__SSE2__=1 lib tools bench examples) || failed=1
}

# tidy SOURCE...: without array.c, which includes the foreign stb_ds.
tidy()
{
    say "static: clang-tidy"
    # shellcheck disable=SC2016 # the words are those of the inner shell
    printf '%s\n' "$@" | grep -v '/base/array\.c$' |
        xargs -P "$JOBS" -n 8 sh -c 'clang-tidy --quiet --config-file="$0/.clang-tidy" \
            --warnings-as-errors="*" "$@" -- '"$flags"' 2>/dev/null' "$srcdir" || failed=1
}

set -- "$srcdir"/lib/*/*.c
if command -v gcc >/dev/null; then analyze "$@"; else lack gcc; fi
if command -v cppcheck >/dev/null; then check_cpp; else lack cppcheck; fi
if command -v clang-tidy >/dev/null; then tidy "$@"; else lack clang-tidy; fi
test $missing -eq 0 || test "${ESPL_STATIC-}" != full || failed=1
test $failed -ne 0 || say "static: nothing was found"
exit $failed
