# SPDX-License-Identifier: MIT
# For the scripts beside it: finds the program and runs it.
# shellcheck shell=sh source-path=SCRIPTDIR/../..
. "${srcdir:-.}/tests/tap.sh"
espalier=${ESPALIER:-./espalier}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# explain: print the output of the program in the run that failed.
explain()
{
    sed 's/^/# /' "$scratch"/out "$scratch"/err 2>/dev/null | head -20
}

# run ARGUMENT...: run the program. Its status is in $status, its output in $scratch/out and $scratch/err.
run()
{
    "$espalier" "$@" >"$scratch/out" 2>"$scratch/err"
    # shellcheck disable=SC2034 # for the script that calls run()
    status=$?
}

test -x "$espalier" || skip_all "the program is not built"
