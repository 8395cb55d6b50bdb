# SPDX-License-Identifier: MIT
# Prints a source with one thing in it changed.
#
#     awk -v offset=N -v count=N -v new=TEXT -f apply.awk SOURCE
#     awk -v old=TEXT -v new=TEXT -f apply.awk SOURCE
#
# The first form takes what mutants.awk lists. The second takes a text that must stand in the source
# exactly once; else nothing is printed and the status is 1. Lines keep their numbers, which assertions
# put into object code.

{ source = source $0 "\n" }

END {
    if (old != "") {
        offset = index(source, old)
        count = length(old)
        if (offset == 0 || index(substr(source, offset + 1), old) != 0) {
            exit 1
        }
    }
    gone = substr(source, offset, count)
    if (new == "(negated)") {
        new = "!(" gone ")"
    } else if (new == "(dropped)") {
        gsub(/[^\n]/, " ", gone)
        new = gone
    }
    printf "%s%s%s", substr(source, 1, offset - 1), new, substr(source, offset + count)
}
