# SPDX-License-Identifier: MIT
# awk -f ways.awk COURSE.CSV...: the table of "Which way to write" in espalier_write(3), from the load `ways`. A
# figure is the time of a way divided by that of espl_write_strided() for the same writes; the last two are
# those of the scheme `deferred`: its writes wait for a call at the end, or are made at once. Of several runs
# the least time of each way counts, because work of other programs only adds to a time. With -v shapes=1: the
# shapes.
BEGIN {
    FS = ","
    library = "espalier"
    row("every-500x20", "all of 500 trees of 20")
    row("every-500x20-shuffled", "the same, shuffled")
    row("every-50000x20", "all of 50,000 trees of 20")
    row("every-50000x20-shuffled", "the same, shuffled")
    row("every-1000x1000", "all of 1,000 trees of 1,000")
    row("rigs-100", "all bones of 100 rigs of 68")
    row("rigs-4000", "all bones of 4,000 rigs of 68")
    row("rigs-4000-bones", "the same, bone by bone")
    row("chain-2500", "all of a chain of 2,500")
    row("sparse-500x20-w100", "1 % of 500 trees of 20")
    row("sparse-500x20-w1000", "10 % of these")
    row("sparse-50000x20-w10000", "1 % of 50,000 trees of 20")
    row("sparse-50000x20-w100000", "10 % of these")
    row("roots-500x20", "the roots of 500 trees of 20")
    row("roots-50000x20", "the roots of 50,000 trees of 20")
    row("roots-1000x1000", "the roots of 1,000 trees of 1,000")
}

function row(shape, words)
{
    shape_of[++rows] = shape
    words_of[rows] = words
}

$3 == "ways" && $2 == 1 && $6 ~ /^ns\/write/ {
    if (!(($1, $4, $6) in least) || $5 + 0 < least[$1, $4, $6]) least[$1, $4, $6] = $5 + 0
}

# Two digits, and a dash where nothing was measured.
function quotient(scheme, shape, unit,    batch, time)
{
    batch = least[library, shape, "ns/write"]
    time = least[scheme, shape, unit]
    if (batch + 0 == 0 || time == "") return "-"
    return sprintf(time < 9.95 * batch ? "%.1f" : "%.0f", time / batch)
}

END {
    for (i = 1; i <= rows && shapes; ++i) print shape_of[i]
    if (shapes) exit
    print ".Bl -column \"the roots of 1,000 trees of 1,000\" \"single\" " \
        "\"list\" \"commands\" \"waits\" \"at once\""
    print ".It Sy written Ta Sy single Ta Sy list Ta Sy commands Ta Sy waits Ta Sy at once"
    for (i = 1; i <= rows; ++i) {
        shape = shape_of[i]
        print ".It " words_of[i] " Ta " quotient(library, shape, "ns/write single") " Ta " \
            quotient(library, shape, "ns/write list") " Ta " quotient(library, shape, "ns/write commands") \
            " Ta " quotient("deferred", shape, "ns/write") " Ta " quotient("deferred", shape, "ns/write single")
    }
    print ".El"
}
