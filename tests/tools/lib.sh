# SPDX-License-Identifier: MIT
# For the scripts beside it: finds the program and runs it.
# shellcheck shell=sh source-path=SCRIPTDIR/../..
. "${srcdir:-.}/tests/tap.sh"
espalier=${ESPALIER:-./espalier}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# explain: what the program said in the run that failed.
explain()
{
    sed 's/^/# /' "$scratch"/out "$scratch"/err 2>/dev/null | head -20
}

# run ARGUMENT...: run the program; status, out and err hold what came of it.
run()
{
    "$espalier" "$@" >"$scratch/out" 2>"$scratch/err"
    # shellcheck disable=SC2034 # for the script that asked
    status=$?
}

test -x "$espalier" || skip_all "the program is not built"
