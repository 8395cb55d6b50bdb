# SPDX-License-Identifier: MIT
# For the scripts that build the library with a fault in it: compiles the objects of a changed source, links
# suites with them and runs these. A script runs in a build directory whose test programs are built, has made
# the directory $room, and gets from Makefile.am
#
#     COMPILE     the compiler with all flags of the library
#     LINK        the compiler with the flags for linking
#     SUITE_LIBS  libraries that suites are linked with, behind the archives
#     STEADY      the command that runs programs, or nothing
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
: "${CK_DEFAULT_TIMEOUT:=300}"
CK_VERBOSITY=normal
export CK_DEFAULT_TIMEOUT CK_VERBOSITY
unset CK_TAP_LOG_FILE_NAME
core=.libs/libespalier_core.a
case ${COMPILE-} in
    *-fsanitize=*)
        is_sanitized=yes
        export CK_FORK=no
        ;;
    *) is_sanitized=no ;;
esac

now()
{
    date +%s.%N
}

since() # now
{
    echo "$1 $(now)" | awk '{ printf "%.2f\n", $2 - $1 }'
}

# compile SOURCE OBJECT: compile a source of lib/. Headers in $room/source replace those of the tree, and have
# the same names in the object, so that two objects differ only where their code does.
compile()
{
    $COMPILE -iquote "$room/source" -ffile-prefix-map="$room/source/=" -w -g0 \
        -c -o "$2" "$1" 2>"$room/errors"
}

# sources_of FILE: print the sources that include a file of lib/, by the dependencies that the compiler wrote.
sources_of()
{
    case $1 in
        *.c) echo "$1" ;;
        *) (cd lib && grep -lF "$1" ./*/.deps/*.Plo) 2>/dev/null |
            sed 's|^\./||
                 s|^\(.*\)/\.deps/libespalier_core_la-\(.*\)\.Plo$|lib/\1/\2.c|
                 s|^\(.*\)/\.deps/\(.*\)\.Plo$|lib/\1/\2.c|' ;;
    esac
}

object_of() # source
{
    echo "${1%.c}.o" | tr / _
}

# build_changed FILE: compile all sources that include a file, which $room/source has in its changed form, into
# $room/objects.
build_changed()
{
    rm -rf "$room/objects"
    mkdir -p "$room/objects"
    for source in $(sources_of "$1"); do
        from=$room/source/$source
        test -f "$from" || { mkdir -p "${from%/*}" && cp "$srcdir/$source" "$from"; }
        compile "$from" "$room/objects/$(object_of "$source")" || return
    done
}

# link_suite SUITE: link $room/suite. The objects of $room/objects come first, so that the linker takes none of
# these from the archive.
link_suite()
{
    objects=$(find "$room/objects" -name '*.o' 2>/dev/null)
    case $1 in
        tests/golden/tape) $LINK -o "$room/suite" tests/golden/*.o $objects $core $SUITE_LIBS ;;
        *) $LINK -o "$room/suite" "$1.o" $objects libtests.a $core $SUITE_LIBS ;;
    esac 2>"$room/errors"
}

# run_suite SUITE SECONDS: run $room/suite; true if it passes. $result is its status, 124 or more where it did
# not end by itself; its output is in $room/log. A fault may allocate without end, or loop for ever in each
# test. So memory is limited, where the shell can do it; the processor time of each process to SECONDS; and the
# time on the clock to more, because other programs may be running.
# shellcheck disable=SC3045
run_suite()
{
    (
        ulimit -c 0
        ulimit -t "$2"
        test $is_sanitized = yes || ulimit -v 8000000
        timeout -k 5 $(($2 * 8 + 20)) $STEADY "$room/suite" >"$room/log" 2>&1
    ) 2>/dev/null
    result=$?
    if test "$1" = tests/golden/tape && test $result -eq 0; then
        diff "$srcdir/tests/golden/golden.txt" "$room/log" >/dev/null
        result=$?
    fi
    return $result
}

# Set $taken to the processor time of the children of this shell, in seconds.
look_at_processor()
{
    times >"$room/times"
    taken=$(awk '
        NR == 2 {
            for (i = 1; i <= 2; ++i) {
                split($i, part, /[ms]/)
                sum += 60 * part[1] + part[2]
            }
            printf "%.2f\n", sum
        }' "$room/times")
}

# failure: print the name of the test that failed, and the number of the operation if there is one.
failure()
{
    sed -n 's/.*:[FE]:[^:]*:\([^:]*\):.*operation \([0-9][0-9]*\).*/\1 \2/p; t
            s/.*:[FE]:[^:]*:\([^:]*\):.*/\1/p' "$room/log" | head -n 1
}
