# SPDX-License-Identifier: MIT
# For the scripts beside it: finds the program, and reports in TAP.
# shellcheck shell=sh
espalier=${ESPALIER:-}
for candidate in ./tools/espalier ./espalier; do
    test -n "$espalier" || { test -x "$candidate" && espalier=$candidate; }
done
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
number=0
failed=0

# skip_all REASON: nothing here can be tested.
skip_all()
{
    echo "1..0 # SKIP $1"
    exit 0
}

# ok NAME: the last command's status decides.
ok()
{
    result=$?
    number=$((number + 1))
    if test $result -eq 0; then
        echo "ok $number $1"
    else
        echo "not ok $number $1"
        sed 's/^/# /' "$scratch"/out "$scratch"/err 2>/dev/null | head -20
        failed=1
    fi
}

# run ARGUMENT...: run the program; status, out and err hold what came of it.
run()
{
    "$espalier" "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
}

# done_testing: the plan, at the end.
done_testing()
{
    echo "1..$number"
    exit $failed
}

test -n "$espalier" || skip_all "the program is not built"
