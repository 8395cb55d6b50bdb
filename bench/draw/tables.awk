# SPDX-License-Identifier: MIT
# Sorts the rows of the course's CSV into tables for gnuplot. Of each picture there are files in the
# directory `out`: PICTURE.dat with a block of lines "x y" for each entrant, PICTURE.names with
# "name colour" for each block, and where it has bars, PICTURE.tics with "x label" for each group of
# them. An entrant is a scheme, with its workers where they are more than one, and has the same
# colour in all pictures.
BEGIN { FS = "," }

function add(picture, x, y)
{
    if (!((picture, entrant) in lines)) {
        if (!(entrant in colours)) {
            colours[entrant] = ++colour_count
        }
        entrants[picture, ++entrant_counts[picture]] = entrant
    }
    lines[picture, entrant] = lines[picture, entrant] sprintf("%s %.6g\n", x, y)
}

function add_bar(picture, y, label)
{
    if (!((picture, label) in places)) {
        places[picture, label] = bar_counts[picture]++
        print places[picture, label], "\"" label "\"" >(out "/" picture ".tics")
    }
    add(picture, places[picture, label], y)
}

NR > 1 {
    rows[++row_count] = $0
    if ($2 == 1) {
        figures[$1, $3, $4, $6] = $5
    }
}

END {
    for (r = 1; r <= row_count; ++r) {
        split(rows[r], f)
        entrant = f[2] == 1 ? f[1] : f[1] ":" f[2]
        split(f[4], sides, "x")

        if (f[3] == "scaling" && f[6] == "ns/node") {
            add(sides[1] == 1 ? "scaling-tree" : "scaling-trees", sides[1] * sides[2], f[5])
        } else if (f[3] == "idle" && f[6] == "ns/write") {
            add("idle", sides[1] * sides[2], f[5])
        } else if (f[6] == "aged/fresh") {
            add_bar("bars-aged-fresh", f[5], f[4])
        } else if (f[6] ~ /^(ns|us|bytes)\/[a-z]+$/ || f[6] == "ms p50") {
            base = (("flat", f[3], f[4], f[6]) in figures) ? "flat" : "linked"
            if (entrant != base && figures[base, f[3], f[4], f[6]] > 0) {
                add_bar("bars-" f[3], f[5] / figures[base, f[3], f[4], f[6]], f[4] "\\nto " base)
            }
        }
    }
    for (picture in entrant_counts) {
        for (i = 1; i <= entrant_counts[picture]; ++i) {
            entrant = entrants[picture, i]
            print entrant, colours[entrant] >(out "/" picture ".names")
            printf "%s\n\n", lines[picture, entrant] >(out "/" picture ".dat")
        }
    }
}
