#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the tests. Each fault of tests/mutate/canary.txt is planted in a copy of its source; the suites
# that must find it are linked with that copy, and must fail.
#
# Without arguments the script runs the quick faults, each against one suite. "tests/canary.sh --all", which
# "make mutate" calls, runs all of them, and writes to canary.csv how long each suite took.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
. "$srcdir/tests/mutate/lib.sh"
here=$srcdir/tests/mutate
tab=$(printf '\t')

# Print a line for each fault that this build can see. Fields, separated by tabs: name, source, text, the
# text that replaces it, suites, and whether it is quick.
list_faults()
{
    awk -v has_all_checks="$(has_all_checks && echo yes)" '
        function put()
        {
            if (name != "" && (has_all_checks || !needs_checks)) {
                printf "%s\t%s\t%s\t%s\t%s\t%s\n", name, file, text, new, suites, quick
            }
            name = ""
            quick = "no"
            needs_checks = 0
        }
        /^fault   / { put(); name = substr($0, 9) }
        /^in      / { file = substr($0, 9) }
        /^text    / { text = substr($0, 9) }
        /^becomes / { new = substr($0, 9) }
        /^seen by / { suites = substr($0, 9) }
        /^quick$/ { quick = "yes" }
        /^checks$/ { needs_checks = 1 }
        END { put() }' "$here/canary.txt"
}

# The mutants of a short example: code has some; comments, strings and assertions have none.
list_example()
{
    awk -v name=example -f "$here/mutants.awk" <<'EOF'
#define ONE 1 // 1 < 2
enum { A = 1 };
static int f(int x)
{
    ESPL_CHECK(x < 1);
    if (x <= 2 && g("1 < 2")) {
        x += 1;
    }
    return true;
}
static void ask_for_f(int x)
{
    x += 1;
}
EOF
}

expected="6 condition x <= 2 && g(\"1 < 2\") (negated)
6 logic && ||
6 relation <= <
7 arithmetic += -=
7 constant 1 0
7 statement x += 1 (dropped)
9 constant true false"

# plant_fault SOURCE TEXT NEW: build a source with NEW in place of TEXT.
plant_fault()
{
    rm -rf "$room/source"
    mkdir -p "$room/source/${1%/*}"
    awk -v old="$2" -v new="$3" -f "$here/apply.awk" "$srcdir/$1" >"$room/source/$1" &&
        build_changed "$1"
}

explain()
{
    tail -n 20 "$room/errors" | sed 's/^/# /'
}

# is_found_by SUITE: the suite fails with the fault.
is_found_by()
{
    link_suite "$1" || return
    start=$(now)
    if run_suite "$1" 60 </dev/null; then
        echo "$1 passes with the fault" >"$room/errors"
        return 1
    fi
    seconds=$(since "$start")
    case $result in
        1) by=$(failure) ;;
        124) by="time" ;;
        125 | 126 | 127) echo "$1 was not run" >"$room/errors" && return 1 ;;
        *) by="crash" ;;
    esac
    test -z "$report" || printf '%s,%s,%s,%s,%s\n' "$fault" "$file" "$1" "$by" "$seconds" >>"$report"
}

test -n "${COMPILE-}" || skip_all "needs the variables of make check, COMPILE and others"
test -f $core || skip_all "no archive of the library's objects here"
test -f libtests.a || skip_all "suites need Check"
test $is_sanitized = no || skip_all "only for builds without sanitizers"
case $COMPILE in
    *--coverage*) skip_all "faulty code would be counted as covered" ;;
esac
room=$(mktemp -d ./canary.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT
list_faults >"$room/faults"
report=
if test "${1-}" = --all; then
    : "${ESPL_DIVISOR:=20}"
    export ESPL_DIVISOR
    report=canary.csv
    echo "fault,source,suite,test and operation,seconds" >$report
fi

list_example | awk -F '\t' '{ print $2, $3, $6, $7 }' | sort >"$room/example"
echo "$expected" | diff - "$room/example" >"$room/errors"
ok "only code has mutants"
while IFS=$tab read -r fault file text new suites quick; do
    awk -v old="$text" -v new="$new" -f "$here/apply.awk" "$srcdir/$file" >/dev/null
    ok "$fault: its text is once in $file"
    if test -n "$report" || test "$quick" = yes; then
        test -n "$report" || suites=${suites%% *}
        plant_fault "$file" "$text" "$new"
        ok "$fault: compiles"
        for suite in $suites; do
            is_found_by "$suite"
            ok "$fault: found by $suite"
        done
    fi
done <"$room/faults"
done_testing
