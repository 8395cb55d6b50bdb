# SPDX-License-Identifier: MIT
# What all pictures have in common. `base` names the tables of one, without the endings; colours are
# those of Okabe and Ito, which most people can tell apart, with two more.
names = system("cut -d ' ' -f 1 " . base . ".names")
colours = system("cut -d ' ' -f 2 " . base . ".names")
count = words(names)

set linetype 1 lc rgb "#e69f00" pt 5
set linetype 2 lc rgb "#56b4e9" pt 7
set linetype 3 lc rgb "#009e73" pt 9
set linetype 4 lc rgb "#0072b2" pt 11
set linetype 5 lc rgb "#d55e00" pt 13
set linetype 6 lc rgb "#cc79a7" pt 4
set linetype 7 lc rgb "#000000" pt 6
set linetype 8 lc rgb "#b8a800" pt 8
set linetype 9 lc rgb "#888888" pt 10
set linetype 10 lc rgb "#8c510a" pt 12
set linetype cycle 10
colour(i) = int(word(colours, i))

set border 3
set tics nomirror
set grid y lc rgb "#dddddd"
set key outside right top noenhanced
