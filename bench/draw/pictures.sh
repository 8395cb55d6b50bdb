#!/bin/sh
# SPDX-License-Identifier: MIT
# pictures.sh CSV DIRECTORY: draws what the course has written. GNUPLOT names the program.
csv=$1
out=$2
here=$(dirname "$0")

if test -z "$GNUPLOT"; then
    echo 'pictures: configure has found no gnuplot, which draws them (Debian: gnuplot-nox)' >&2
    exit 1
fi
if test ! -r "$csv"; then
    echo "pictures: there is no $csv (bench-full: course.csv, bench: course-short.csv)" >&2
    exit 1
fi
mkdir -p "$out" && rm -f "$out"/*.svg || exit
scratch=$(mktemp -d) || exit
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# draw SCRIPT PICTURE TITLE [SETTING]: make one picture, if there is anything in it.
draw()
{
    test -f "$scratch/$2.dat" || return 0
    "$GNUPLOT" -e "here = '$here'; base = '$scratch/$2'; title = '$3'; $4" "$here/$1.gp" &&
        mv "$scratch/$2.svg" "$out" && echo "$out/$2.svg"
}

awk -v out="$scratch" -f "$here/tables.awk" "$csv" || exit
draw lines scaling-trees 'full over size, trees of 20' "unit = 'ns/node'; is_wide = 0" || exit
draw lines scaling-tree 'full over size, one tree of fan 10' "unit = 'ns/node'; is_wide = 0" || exit
draw lines idle '100 writes among nodes that idle' "unit = 'ns/write'; is_wide = 1" || exit
draw bars bars-aged-fresh 'aged: time to that of a fresh world of the same scheme' || exit
for names in "$scratch"/bars-*.names; do
    picture=$(basename "$names" .names)
    test "$picture" = bars-aged-fresh && continue
    draw bars "$picture" "${picture#bars-}: figure to that of flat or linked" || exit
done
