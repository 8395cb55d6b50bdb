#!/bin/sh
# SPDX-License-Identifier: MIT
# walk.sh FUNCTION PATH: lists the functions of the library that calls of FUNCTION go through on a path of
# counts.c, each with its file, and counts both. FUNCTION is counts_play for the frame that is counted.
# Configure with CFLAGS='-O1 -fno-inline -g', so that functions are not inlined, and with
# --enable-checks=none. The program is named by COUNTS, and what runs it by LIBTOOL, as for counts.sh.
function=$1
path=$2
counts=${COUNTS:-bench/counts}

if ! command -v valgrind >/dev/null; then
    echo 'walk: valgrind finds the functions, and is not here (Debian: valgrind)' >&2
    exit 1
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# shellcheck disable=SC2086
${LIBTOOL:+$LIBTOOL --mode=execute} valgrind --tool=callgrind --toggle-collect="$function" \
    --callgrind-out-file="$scratch/out" "$counts" --scheme=espalier "$path" \
    >/dev/null 2>"$scratch/err" </dev/null
callgrind_annotate --threshold=100 "$scratch/out" 2>/dev/null |
    grep -o 'lib/[a-z]*/[a-z_]*\.[ch]:[a-z_0-9A-Z.]*' | sort -u >"$scratch/functions"
if ! test -s "$scratch/functions"; then
    cat "$scratch/err" >&2
    echo "walk: $function was not called on $path, or the build has no debugging information" >&2
    exit 1
fi
cat "$scratch/functions"
printf '%s functions in %s files\n' "$(wc -l <"$scratch/functions")" \
    "$(cut -d: -f1 "$scratch/functions" | sort -u | wc -l)"
