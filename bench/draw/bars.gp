# SPDX-License-Identifier: MIT
# Bars of ratios on a logarithmic axis: they grow from 1, up for more and down for less.
load here . "/style.gp"

stats base . ".dat" using 1 name "place" nooutput
stats base . ".dat" using 2 name "ratio" nooutput
groups = place_max + 1
width = 0.8 / count
left(i) = (i - 1) * width - 0.4
low = ratio_min / 1.15 < 0.8 ? ratio_min / 1.15 : 0.8
high = ratio_max * 1.15 > 1.25 ? ratio_max * 1.15 : 1.25

set terminal svg size 260 + 130 * groups, 420 font "sans,12" background rgb "white"
set output base . ".svg"
set title title noenhanced
set ylabel "ratio"
set logscale y
set xrange [-0.6:groups - 0.4]
set yrange [low:high]
set xtics scale 0
set bmargin 4
set format y "%g"
if (high / low < 200) {
    set ytics (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
}
if (high / low < 5) {
    set ytics (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4)
}
set style fill solid 0.9 noborder
set arrow from -0.6, 1 to groups - 0.4, 1 nohead lc rgb "#000000"

plot base . ".tics" using 1:(1):xtic(2) with dots lc rgb "#000000" notitle, \
    for [i = 1:count] base . ".dat" index i - 1 \
    using ($1 + left(i) + width / 2):2:($1 + left(i)):($1 + left(i) + width):(1):2 \
    with boxxyerror lt colour(i) title word(names, i)
