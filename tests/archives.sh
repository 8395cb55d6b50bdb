#!/bin/sh
# SPDX-License-Identifier: MIT
# A second reader of archives, written in Python from espalier_archive_format(5) alone, finds in them what
# the library wrote: structure, names, components, references, and world transforms in double precision. And it
# carries deltas out. The library itself makes the same hierarchies of them that it wrote. xxhsum computes the same
# checksums.
#
# ESPL_EMULATOR is the program that runs what this build makes, if the machine does not. ESPL_OTHER_BUILD is the
# directory of another build, whose programs the machine runs: each of both reads what the other one wrote.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
command -v python3 >/dev/null || skip_all "needs python3"
! has_shrunken_limits || skip_all "a world of this build holds too few entities"
room=$(mktemp -d ./archives.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

explain()
{
    sed 's/^/# /' "$room/log"
}

# files ARGUMENT...: run the program of this build.
files()
{
    # A list of words; none where the machine runs what is built.
    # shellcheck disable=SC2086
    ${ESPL_EMULATOR:+$LIBTOOL --mode=execute $ESPL_EMULATOR} tests/value/archive_files "$@" >"$room/log" 2>&1
}

files "$room"
ok "archives are written"
files --read "$room"
ok "the same hierarchies are made of them"
if test -n "${ESPL_OTHER_BUILD-}"; then
    other=$ESPL_OTHER_BUILD/tests/value/archive_files
    "$other" --read "$room" >"$room/log" 2>&1
    ok "another machine makes the same hierarchies of them"
    mkdir "$room/other" && "$other" "$room/other" >"$room/log" 2>&1 && files --read "$room/other"
    ok "of archives of another machine the same hierarchies are made"
fi
# field FILE OFFSET SIZE: print a little-endian number in hexadecimal.
field()
{
    od -An -v -tx1 -j "$2" -N "$3" "$1" | tr -d '\n' | awk '{ for (i = NF; i > 0; --i) printf "%s", $i }'
}

# differs FILE BEGIN SIZE OFFSET: tell whether xxhsum finds another checksum of SIZE bytes than the one at OFFSET.
differs()
{
    tail -c +$(($2 + 1)) "$1" | head -c "$3" >"$room/bytes"
    sum=$(xxhsum -q -H3 "$room/bytes" | sed 's/.*= //')
    sums=$((sums + 1))
    test "$sum" != "$(field "$1" "$4" 8)"
}

# wrong_sums FILE: print what has another checksum: the head, the table, or a section by its number.
wrong_sums()
{
    count=$((0x$(field "$1" 24 4)))
    differs "$1" 0 56 56 && echo "the head of $1"
    differs "$1" 64 $((count * 40)) 48 && echo "the table of $1"
    for section in $(seq 0 $((count - 1))); do
        at=$((64 + section * 40))
        differs "$1" $((0x$(field "$1" $((at + 8)) 8))) $((0x$(field "$1" $((at + 16)) 8))) $((at + 32)) &&
            echo "section $section of $1"
    done
}

agrees="xxhsum computes each checksum of archives as the library did"
notices="and another one of a section that was changed"
if command -v xxhsum >/dev/null; then
    sums=0
    : >"$room/log"
    for file in "$room"/[0-7].archive; do
        wrong_sums "$file" >>"$room/log"
    done
    test ! -s "$room/log" && test "$sums" -gt 20
    ok "$agrees"
    { head -c -1 "$room/0.archive" && printf '\377'; } >"$room/changed"
    test "$(wrong_sums "$room/changed" | wc -l)" -eq 1
    ok "$notices"
else
    skip "$agrees" "xxhsum is not installed (Debian: xxhash)"
    skip "$notices" "xxhsum is not installed (Debian: xxhash)"
fi

python3 "$top/tests/value/archive_reader.py" "$room" >"$room/log" 2>&1
ok "a second reader finds the same in them"
sed "s/^/# /" "$room/log"

# The reader sees what is wrong.
cp "$room/0.next" "$room/next"
cp "$room/1.next" "$room/0.next"
! python3 "$top/tests/value/archive_reader.py" "$room" >"$room/log" 2>&1
ok "and tells where a delta makes another archive"
grep -q 'another archive is made' "$room/log"
ok "which it says"
mv "$room/next" "$room/0.next"
for file in "$room"/*.txt; do
    sed '3s/^\([^|]*\)|[^|]*/\1|another name/' "$file" >"$file.new" && mv "$file.new" "$file"
done
! python3 "$top/tests/value/archive_reader.py" "$room" >"$room/log" 2>&1
ok "and tells where something else was written"
done_testing
