#!/bin/sh
# SPDX-License-Identifier: MIT
# What the suites of a run did, summed by kind, from the lines "# figure: N WHAT" in their logs:
#
#     tests/figures.sh LOG...
#
# Suites that were not run have no log.
for log; do
    test ! -f "$log" || cat "$log"
done | awk '
    $1 == "#" && $2 == "figure:" {
        count = $3
        sub(/^# figure: [0-9]+ /, "")
        if (!($0 in sum)) order[++kinds] = $0
        sum[$0] += count
    }
    END { for (i = 1; i <= kinds; ++i) printf "%14.0f  %s\n", sum[order[i]], order[i] }'
