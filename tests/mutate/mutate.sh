#!/bin/sh
# SPDX-License-Identifier: MIT
# Mutation testing: changes one small thing of the kernels or of playback at a time, and tells whether a suite
# fails. "make mutate" runs it in a build directory. Environment variables:
#
#     MUTANTS=200        how many are drawn from all that tests/mutate/mutants.awk lists
#     MUTATE_SEED=1      seed of the draw; a larger number of mutants includes the smaller one
#     MUTATE_FILES=...   sources to change, from the top of the tree, instead of those below
#     MUTATE_ONLY=FILE   a table that this script has written: try its survivors instead of a draw
#     MUTATE_SUITES=...  suites to run, instead of all
#     MUTATE_SLOWEST=2   suites that take more seconds of the processor are left out
#     MUTATE_JOBS=1      mutants tried at once
#
# Writes mutate.csv, and a summary of it. A mutant is
#
#     killed      by a suite that failed, crashed, or did not end: then by "time"
#     survived    by passing all suites
#     same        because its objects are those of the library
#     broken      because it does not compile; neither this nor "same" is counted
#
# The suites that are likeliest to fail run first: those that killed mutants of the same source, of the same
# layer, those with a similar name, and quick ones. The order decides which suite kills a mutant, and never
# whether it survives.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/mutate/lib.sh"
: "${MUTANTS:=200}" "${MUTATE_SEED:=1}" "${MUTATE_SLOWEST:=2}" "${MUTATE_JOBS:=1}"
: "${ESPL_DIVISOR:=20}"
export ESPL_DIVISOR
here=$srcdir/tests/mutate

# Formulas and kernels; propagation; edits, placement and layout; batches. Headers are possible too, but a
# mutant of lib/math/pose.h compiles most of the library again.
files=${MUTATE_FILES:-$(cd "$srcdir" && ls lib/math/*.c lib/math/kernel.inc lib/commands/*.c \
    lib/tree/levels.c lib/tree/edit*.c lib/tree/layout.c lib/tree/nodes.c lib/tree/compaction.c \
    lib/tree/placement.c lib/tree/relocation*.c lib/tree/propagate.c lib/tree/side_arrays.c \
    lib/tree/write_kinds.c lib/tree/writes.c lib/world/batch.c lib/world/change.c lib/world/change_rows.c \
    lib/world/partition_members.c lib/world/commands.c lib/world/slot_writes.c lib/world/structure.c)}

list_mutants()
{
    for file in $files; do
        awk -v name="$file" -f "$here/mutants.awk" "$srcdir/$file"
    done
}

# Draw mutants: sort by a hash of the seed, the place and the kind.
draw()
{
    awk -v seed="$MUTATE_SEED" -F '\t' '
        BEGIN {
            for (i = 1; i < 256; ++i) {
                code[sprintf("%c", i)] = i
            }
        }
        {
            text = $1 ":" $4 ":" $3
            hash = seed
            for (i = 1; i <= length(text); ++i) {
                hash = (hash * 65599 + code[substr(text, i, 1)]) % 2147483647
            }
            for (i = 0; i < 3; ++i) {
                hash = (hash * 48271 + 12345) % 2147483647
            }
            printf "%010d\t%s\n", hash, $0
        }' | sort | cut -f 2- | head -n "$MUTANTS"
}

# The survivors in a table, by file, kind and offset.
pick()
{
    awk -F '\t' -v table="$1" '
        BEGIN {
            while ((getline row < table) > 0) {
                split(row, part, ",")
                if (part[6] == "survived") {
                    wanted[part[2] "\t" part[4] "\t" part[5]] = 1
                }
            }
        }
        ($1 "\t" $3 "\t" $4) in wanted'
}

# Suites with the seconds of processor time that each takes without a fault.
time_suites()
{
    rm -rf "$room/objects"
    for suite in $SUITES; do
        link_suite "$suite" || { echo "$suite: not linked" >&2 && continue; }
        look_at_processor
        before=$taken
        if run_suite "$suite" $((MUTATE_SLOWEST * 2)) </dev/null; then
            look_at_processor
            echo "$taken $before $suite" | awk '{ printf "%.2f %s\n", $1 - $2, $3 }'
        else
            echo "$suite: left out, because it fails or is slow" >&2
        fi
    done | awk -v slowest="$MUTATE_SLOWEST" '$1 <= slowest'
}

# order FILE: print suites with their seconds, sorted by the likelihood per second that they kill a mutant of a
# file.
order()
{
    awk -v file="$1" '
        BEGIN {
            split(file, part, "/")
            unit = part[3]
            sub(/\..*/, "", unit)
        }
        FILENAME ~ /kills$/ {
            all[$2] += 1
            same[$2] += $1 == file
            split($1, other, "/")
            near[$2] += other[2] == part[2]
            next
        }
        {
            likely = 0.1 + 8 * same[$2] + near[$2] + 0.3 * all[$2]
            likely += index($2, "tests/" part[2] "/" unit) == 1 ? 8 : 0
            likely += index($2, "tests/" part[2] "/") == 1 ? 1 : 0
            printf "%f %s %s\n", likely / ($1 + 0.1), $1, $2
        }' "$top/kills" "$top/suites" | sort -rn | cut -d ' ' -f 2-
}

# Tell whether the objects of a mutant are equal to those of the library.
is_same()
{
    for object in "$room"/objects/*.o; do
        plain=$top/plain/${object##*/}
        cmp -s "$object" "$plain" || return
    done
}

# Compile the unchanged sources that include a file, to compare with.
make_plain()
{
    for source in $(sources_of "$1"); do
        object=$(object_of "$source")
        test -f "$top/plain/$object" && continue
        compile "$room/source/$source" "$room/$object" && mv "$room/$object" "$top/plain" || return
    done
}

# try_suites FILE: print the verdict, the suite that killed, and its test.
try_suites()
{
    order "$1" >"$room/order"
    while read -r seconds suite; do
        link_suite "$suite" || { echo "broken - -" && return; }
        limit=$(echo "$seconds" | awk '{ printf "%d\n", 2 + 4 * $1 }')
        run_suite "$suite" "$limit" </dev/null && continue
        echo "$1 $suite" >>"$top/kills"
        case $result in
            1) echo "killed $suite $(failure)" ;;
            124) echo "killed $suite time" ;;
            *) echo "killed $suite crash" ;;
        esac
        return
    done <"$room/order"
    echo "survived - -"
}

quote() # text
{
    printf '"%s"' "$(printf '%s' "$1" | sed 's/"/""/g')"
}

# try NUMBER: write the line of the table for one mutant.
try()
{
    mutant=$(sed -n "$1p" "$top/mutants")
    IFS=$tab read -r file line kind offset count old new <<EOF
$mutant
EOF
    start=$(now)
    rm -rf "$room/source"
    mkdir -p "$room/source/${file%/*}"
    for source in $(sources_of "$file") "$file"; do
        mkdir -p "$room/source/${source%/*}" && cp "$srcdir/$source" "$room/source/$source"
    done
    make_plain "$file" || echo "$file: does not compile" >&2
    rm -f "$room/source/$file"
    awk -v offset="$offset" -v count="$count" -v new="$new" -f "$here/apply.awk" \
        "$srcdir/$file" >"$room/source/$file"
    if ! build_changed "$file"; then
        verdict="broken - -"
    elif is_same; then
        verdict="same - -"
    else
        verdict=$(try_suites "$file")
    fi
    seconds=$(since "$start")
    # shellcheck disable=SC2086
    set -- "$1" $verdict
    echo "$1,$file,$line,$kind,$offset,$2,$3,${4:--},$seconds,$(quote "$old"),$(quote "$new")" >>mutate.csv
    echo "$1 $file:$line $kind $old -> $new: $2 $3 ${4:-} ($seconds s)"
}

work() # worker
{
    room=$top/$1
    mkdir -p "$room"
    number=$1
    total=$(wc -l <"$top/mutants")
    while test "$number" -le "$total"; do
        try "$number"
        number=$((number + MUTATE_JOBS))
    done
}

summarize()
{
    awk -F , '
        NR == 1 { next }
        {
            made[$2] += 1
            verdicts[$2, $6] += 1
            total[$6] += 1
            if ($6 == "killed") {
                by[$7] += 1
                timed += $8 == "time"
            }
            seconds += $9
        }
        END {
            row = "%-34s %6s %6s %6s %6s %6s\n"
            printf row, "file", "made", "broken", "same", "killed", "left"
            for (file in made) {
                printf row, file, made[file], verdicts[file, "broken"] + 0, verdicts[file, "same"] + 0,
                    verdicts[file, "killed"] + 0, verdicts[file, "survived"] + 0 | "sort"
            }
            close("sort")
            printf row, "all", NR - 1, total["broken"] + 0, total["same"] + 0, total["killed"] + 0,
                total["survived"] + 0
            printf "\n%d killed by time alone; %.1f s a mutant\n\n", timed, (NR > 1 ? seconds / (NR - 1) : 0)
            for (suite in by) {
                printf "%6d %s\n", by[suite], suite | "sort -rn"
            }
        }' mutate.csv
}

test -f $core || { echo "mutate: make check_PROGRAMS first; there is no $core" >&2 && exit 1; }
tab=$(printf '\t')
top=$(mktemp -d ./mutate.XXXXXX) || exit 1
trap 'rm -rf "$top"' EXIT
trap 'exit 1' HUP INT TERM
room=$top/0
mkdir -p "$room" "$top/plain"
SUITES=${MUTATE_SUITES:-$SUITES}
: >"$top/kills"
if test -n "${MUTATE_ONLY-}"; then
    list_mutants | pick "$MUTATE_ONLY" >"$top/mutants"
else
    list_mutants | draw >"$top/mutants"
fi
echo "timing suites, each by itself"
if test -n "${MUTATE_TIMES-}" && test -f "$MUTATE_TIMES"; then
    cp "$MUTATE_TIMES" "$top/suites"
else
    time_suites >"$top/suites"
    test -z "${MUTATE_TIMES-}" || cp "$top/suites" "$MUTATE_TIMES"
fi
test -s "$top/suites" || { echo "mutate: no suite passes" >&2 && exit 1; }
echo "number,file,line,kind,offset,verdict,suite,test,seconds,old,new" >mutate.csv
worker=1
while test $worker -le "$MUTATE_JOBS"; do
    work $worker &
    worker=$((worker + 1))
done
wait
echo
summarize
