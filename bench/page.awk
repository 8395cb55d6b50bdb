# SPDX-License-Identifier: MIT
# awk -f page.awk COURSE.CSV: a course's figures as tables of a Markdown page. First all figures on
# one worker: the library's, and what it is divided by that of each other scheme; below 1 is to the
# library's credit. Then, for each larger number of workers, whoever ran on them: the figure, and the
# one on one worker divided by it.
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
        add(crews, $2)
        plays[$1, $2] = 1
    }
}

# A list counts itself in list[0] and keeps its members in order of arrival.
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

function put_crew(crew,    i, k, titles, line, theirs)
{
    for (i = 1; i <= schemes[0]; ++i) {
        if ((schemes[i], crew) in plays) titles = titles " " schemes[i] " | 1 worker / " crew " |"
    }
    put_head(titles)
    for (k = 1; k <= rows[0]; ++k) {
        if (figure[rows[k], library, crew] == "") continue
        line = begin_row(rows[k])
        for (i = 1; i <= schemes[0]; ++i) {
            if (!((schemes[i], crew) in plays)) continue
            theirs = figure[rows[k], schemes[i], crew]
            line = line " " short(theirs) " | " quotient(figure[rows[k], schemes[i], 1], theirs) " |"
        }
        print line
    }
}

END {
    put_alone()
    for (c = 1; c <= crews[0]; ++c) {
        print "\nOn " crews[c] " workers:\n"
        put_crew(crews[c])
    }
}
