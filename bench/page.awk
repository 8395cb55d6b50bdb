# SPDX-License-Identifier: MIT
# awk -f page.awk COURSE.CSV: the figures of a course as the tables of a file of bench/results. The first
# table has all figures on one worker: that of the library, and that figure divided by the figure of each
# other scheme, where less than 1 means that the library needs less. Then follows a table for each larger
# number of workers, with the schemes that ran on it: the figure, and the figure of one worker divided by it.
BEGIN {
    FS = ","
    library = "espalier"
}

FNR == 1 || $6 ~ / (speed-up|efficiency)$/ { next }

{
    row = $3 "," $4 "," $6
    figure[row, $1, $2] = $5
    add(rows, row)
    add(schemes, $1)
    if ($2 > 1) {
        add(counts, $2)
        plays[$1, $2] = 1
    }
}

# A list has its length in list[0] and its members in the order in which they were added.
function add(list, member)
{
    if (!(("in", member) in list)) {
        list["in", member] = 1
        list[++list[0]] = member
    }
}

function short(number)
{
    return number == "" ? "" : sprintf(number >= 100 ? "%.0f" : "%.3g", number)
}

function quotient(above, below)
{
    return above == "" || below + 0 == 0 ? "" : sprintf("%.2f", above / below)
}

function put_head(titles,    rule)
{
    rule = titles
    gsub(/[^|]+/, "---", rule)
    print "| load | shape | unit |" titles
    print "|---|---|---|" rule
}

function begin_row(row,    part)
{
    split(row, part, ",")
    return "| " part[1] " | " part[2] " | " part[3] " |"
}

function put_alone(    i, k, titles, line, own)
{
    titles = " " library " |"
    for (i = 1; i <= schemes[0]; ++i) {
        if (schemes[i] != library) titles = titles " / " schemes[i] " |"
    }
    put_head(titles)
    for (k = 1; k <= rows[0]; ++k) {
        own = figure[rows[k], library, 1]
        if (own == "") continue
        line = begin_row(rows[k]) " " short(own) " |"
        for (i = 1; i <= schemes[0]; ++i) {
            if (schemes[i] != library) line = line " " quotient(own, figure[rows[k], schemes[i], 1]) " |"
        }
        print line
    }
}

function put_workers(workers,    i, k, titles, line, theirs)
{
    for (i = 1; i <= schemes[0]; ++i) {
        if ((schemes[i], workers) in plays) titles = titles " " schemes[i] " | 1 worker / " workers " |"
    }
    put_head(titles)
    for (k = 1; k <= rows[0]; ++k) {
        if (figure[rows[k], library, workers] == "") continue
        line = begin_row(rows[k])
        for (i = 1; i <= schemes[0]; ++i) {
            if (!((schemes[i], workers) in plays)) continue
            theirs = figure[rows[k], schemes[i], workers]
            line = line " " short(theirs) " | " quotient(figure[rows[k], schemes[i], 1], theirs) " |"
        }
        print line
    }
}

END {
    print "## 1 worker\n"
    put_alone()
    for (c = 1; c <= counts[0]; ++c) {
        print "\n## " counts[c] " workers\n"
        print "Each figure is followed by the figure of one worker divided by it.\n"
        put_workers(counts[c])
    }
}
