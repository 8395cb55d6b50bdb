# SPDX-License-Identifier: MIT
# For the test scripts: reports in TAP, one line for each check.
# shellcheck shell=sh
number=0
failed=0

# skip_all REASON: end the script, because nothing can be tested here.
skip_all()
{
    echo "1..0 # SKIP $1"
    exit 0
}

# has_shrunken_limits: tells whether a world of the library of this build holds only a few entities.
has_shrunken_limits()
{
    grep -q '^#define ESPL_SHRUNKEN 1' config.h 2>/dev/null
}

# always_moves: tells whether arrays of the library of this build move at each append.
always_moves()
{
    grep -q '^#define ESPL_HARD_MOVE 1' config.h 2>/dev/null
}

# has_all_checks: tells whether the library of this build has all of its assertions.
has_all_checks()
{
    grep -q '^#define ESPL_CHECKS 2' config.h 2>/dev/null
}

# explain: print the output of what failed. Scripts that keep one define it anew.
explain()
{
    :
}

# ok NAME: report whether the last command succeeded.
ok()
{
    result=$?
    number=$((number + 1))
    if test "$result" -eq 0; then
        echo "ok $number $1"
    else
        echo "not ok $number $1"
        explain
        failed=1
    fi
}

# skip NAME REASON: report a check that cannot be made here.
skip()
{
    number=$((number + 1))
    echo "ok $number $1 # SKIP $2"
}

# has_no_complaints FILE: print the complaints in a file; tells whether there is none.
has_no_complaints()
{
    cat "$1" >&2
    test ! -s "$1"
}

# list_header_functions TOP: the inline functions and the macros with arguments of the public headers.
list_header_functions()
{
    sed -n -e 's/^static inline .*[ *]\(espl_[a-z0-9_]*\)(.*/\1/p' \
        -e 's/^#define \([Ee][Ss][Pp][Ll]_[A-Za-z0-9_]*[A-Za-z0-9]\)(.*/\1/p' "$1"/include/espalier/*.h | sort -u
}

# list_variable NAME: the words of a variable of ./Makefile.am, without references to other variables.
list_variable()
{
    awk -v name="$1" '
        $1 == name && $2 == "=" { on = 1; $1 = $2 = "" }
        on { more = sub(/\\$/, ""); print; on = more }
    ' Makefile.am | tr -s ' \t' '[\n*]' | grep '^[a-z]'
}

# done_testing: end the script with the number of checks, which TAP calls the plan.
done_testing()
{
    echo "1..$number"
    exit $failed
}
