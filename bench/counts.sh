#!/bin/sh
# SPDX-License-Identifier: MIT
# counts.sh SCHEME CSV: counts the instructions of the main paths under valgrind, into a table and a
# file. The program to run is named by COUNTS, and what runs it, where that must know of libraries
# that are not installed, by LIBTOOL.
scheme=--scheme=$1
csv=$2
counts=${COUNTS:-bench/counts}

if ! command -v valgrind >/dev/null; then
    echo 'counts: valgrind counts the instructions, and is not here (Debian: valgrind)' >&2
    exit 1
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# under ARGUMENT...: run the program as arguments of a command.
under()
{
    # shellcheck disable=SC2086
    ${LIBTOOL:+$LIBTOOL --mode=execute} "$@"
}

"$counts" "$scheme" >"$scratch/paths" || exit
echo path,things,instructions,instructions_per_thing,base,per_base >"$csv" || exit
printf '%-28s %8s %12s %10s\n' path things instructions 'a thing'
while read -r path thing things base; do
    under valgrind --tool=callgrind --toggle-collect=counts_play \
        --callgrind-out-file="$scratch/out" "$counts" "$scheme" "$path" 2>"$scratch/err" </dev/null
    instructions=$(sed -n 's/^totals: *//p' "$scratch/out" 2>/dev/null)
    if test "${instructions:-0}" -eq 0; then
        cat "$scratch/err" >&2
        echo "counts: nothing was counted on $path" >&2
        exit 1
    fi
    each=$(awk "BEGIN { printf \"%.1f\", $instructions / $things }")
    ratio=$(awk -F, -v base="$base" -v own="$instructions" '$1 == base { printf "%.3f", own / $3 }' "$csv")
    printf '%-28s %8s %12s %10s a %s%s\n' "$path" "$things" "$instructions" "$each" "$thing" \
        "${ratio:+, $ratio x $base}"
    echo "$path,$things,$instructions,$each,$base,$ratio" >>"$csv" || exit
    rm -f "$scratch/out"
done <"$scratch/paths"
