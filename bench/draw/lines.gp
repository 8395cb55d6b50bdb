# SPDX-License-Identifier: MIT
# Lines over the number of nodes. `unit` is what the figure counts, `is_wide` whether figures differ
# by powers of ten.
load here . "/style.gp"

set terminal svg size 820, 460 font "sans,12" background rgb "white"
set output base . ".svg"
set title title noenhanced
set xlabel "nodes"
set ylabel unit noenhanced
set logscale x
set format x "%.0s%c"
if (is_wide) {
    set logscale y
    set format y "%.0s%c"
} else {
    set yrange [0:*]
}

plot for [i = 1:count] base . ".dat" index i - 1 using 1:2 \
    with linespoints lt colour(i) lw 2 ps 0.7 title word(names, i)
