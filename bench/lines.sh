#!/bin/sh
# SPDX-License-Identifier: MIT
# lines.sh: counts the cache lines of data that a call for one node touches, by a list of all loads and
# stores. A line that most of the calls touch is not counted: those of the stack, of the caller and of
# the world, which stay in the cache. Nor are prefetches, which valgrind does not list. The program to
# run is named by LINES_PROGRAM, and what runs it by LIBTOOL, as in counts.sh.
lines=${LINES_PROGRAM:-bench/lines}

if ! command -v valgrind >/dev/null; then
    echo 'lines: valgrind lists loads and stores, and is not here (Debian: valgrind)' >&2
    exit 1
fi

# under ARGUMENT...: run the program as arguments of a command.
under()
{
    # shellcheck disable=SC2086
    ${LIBTOOL:+$LIBTOOL --mode=execute} "$@"
}

LD_BIND_NOW=1 # so that no call looks a symbol up
export LD_BIND_NOW
printf '%-8s %s\n' call lines
for kind in leaf inner root read; do
    # An address is the same in each run under valgrind.
    mark=$(under valgrind --tool=none -q "$lines" "$kind") || exit
    under valgrind --tool=lackey --trace-mem=yes --log-fd=9 "$lines" "$kind" 9>&1 >/dev/null |
        grep '^ [LMS]' | awk -v mark="$mark" -v kind="$kind" '
        BEGIN { sub(/^0x0*/, "", mark) }
        # The number of a line, in two parts, because awk has numbers of 53 bits.
        function digit(address, from_end)
        {
            return index("0123456789abcdef", substr(address, length(address) - from_end, 1)) - 1
        }
        function note(address, size,    within, quarter)
        {
            within = digit(address, 1) % 4 * 16 + digit(address, 0)
            quarter = int(digit(address, 1) / 4) + digit(address, 2) * 4
            touch(substr(address, 1, length(address) - 3) "+" quarter)
            if (within + size > 64) {
                touch(substr(address, 1, length(address) - 3) "+" quarter + 1)
            }
        }
        function touch(line)
        {
            if (!((calls, line) in touched)) {
                touched[calls, line] = 1
                times[line] += 1
            }
        }
        {
            split($2, at, ",")
            sub(/^0+/, "", at[1])
        }
        at[1] == mark { is_inside = !is_inside; calls += is_inside ? 1 : 0; next }
        is_inside { note(at[1], at[2]) }
        END {
            for (line in times) {
                sum += 2 * times[line] <= calls ? times[line] : 0
            }
            if (calls == 0) {
                exit 1
            }
            printf "%-8s %.1f\n", kind, sum / calls
        }' || { echo "lines: nothing was counted on $kind" >&2; exit 1; }
done
