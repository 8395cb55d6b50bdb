#!/bin/sh
# SPDX-License-Identifier: MIT
# A second reader of archives, written in Python from espalier_archive_format(5) alone, finds in them what
# the library wrote: structure, names, components, references, and world transforms in double precision. And it
# carries deltas out.
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

tests/value/archive_files "$room" >"$room/log" 2>&1
ok "archives are written"
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
