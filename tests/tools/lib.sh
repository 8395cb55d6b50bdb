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

# make_crew: make a scene of the animation of examples/crew.awk, or skip the script where the program cannot read it.
# Its path is in $scene.
make_crew()
{
    has_shrunken_limits && skip_all "a world of this build holds too few entities for scenes"
    scene=$scratch/crew.bvh
    awk -f "${srcdir:-.}/examples/crew.awk" >"$scene" || exit 99
    run check "$scene"
    if grep -q 'without Assimp' "$scratch/err"; then
        skip_all "built without Assimp"
    fi
}

test -x "$espalier" || skip_all "the program is not built"
