# SPDX-License-Identifier: MIT
# For the scripts that build the library with a fault in it: compiles what a changed source makes,
# links suites with it and runs them. They run in the directory of a build whose test programs are
# made, with
#
#     COMPILE     the compiler with all flags of the library
#     LINK        the compiler with what it takes to link
#     SUITE_LIBS  what suites are linked with, behind the archives
#     STEADY      what they are run by, or nothing
#
# from Makefile.am, and $room, a directory of theirs.
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

# compile SOURCE OBJECT: a source of lib/. What stands in $room/source comes before what stands in
# the tree, by the same names, so that object code differs by what it does alone.
compile()
{
    $COMPILE -iquote "$room/source" -ffile-prefix-map="$room/source/=" -w -g0 \
        -c -o "$2" "$1" 2>"$room/errors"
}

# sources_of FILE: print those which a file of lib/ is part of, by what the compiler has noted.
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

# build_changed FILE: put objects of all sources that hold a file, which now stands changed in
# $room/source, into $room/objects.
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

# link_suite SUITE: into $room/suite, with what is in $room/objects first, which the archive then has
# nothing to add to.
link_suite()
{
    objects=$(find "$room/objects" -name '*.o' 2>/dev/null)
    case $1 in
        tests/golden/tape) $LINK -o "$room/suite" tests/golden/*.o $objects $core $SUITE_LIBS ;;
        *) $LINK -o "$room/suite" "$1.o" $objects libtests.a $core $SUITE_LIBS ;;
    esac 2>"$room/errors"
}

# run_suite SUITE SECONDS: true when it finds nothing wrong; $result is its status, 124 or more where it
# did not end by itself. What it says is in $room/log. A fault may ask for all memory there is, or for
# ever, each test anew: what one process takes of the processor is bounded by $2, that all of them
# take of the day by much more, since others are at work there. Shells that cannot bound memory
# leave it.
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

# Put into $taken the seconds that the children of this shell have taken of the processor.
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

# failure: print the test that found something wrong, and the operation where it says one.
failure()
{
    sed -n 's/.*:[FE]:[^:]*:\([^:]*\):.*operation \([0-9][0-9]*\).*/\1 \2/p; t
            s/.*:[FE]:[^:]*:\([^:]*\):.*/\1/p' "$room/log" | head -n 1
}
