#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier play --film": frames as files and as a film by ffmpeg, in the sizes and numbers that are asked for.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

make_crew
run play --film "$scratch/none" --copies 1 --frames 1 "$scene"
grep -q 'without Cairo' "$scratch/err" && {
    test "$status" -eq 2 && test ! -e "$scratch/none" && test "$(wc -l <"$scratch/err")" -eq 1
    ok "without Cairo --film is refused in one line"
    done_testing
}

# measure FILE: width and height of a PNG file.
measure()
{
    od -An -t u1 -j 16 -N 8 "$1" |
        awk '{ print ($1 * 256 + $2) * 65536 + $3 * 256 + $4, ($5 * 256 + $6) * 65536 + $7 * 256 + $8 }'
}

# has_frames DIRECTORY COUNT "WIDTH HEIGHT": the directory has so many frames of this size, and nothing else, no
# two alike.
has_frames()
{
    test "$(find "$1" -type f | wc -l)" -eq "$2" && test -e "$1/frame-00000.png" || return 1
    for frame in "$1"/frame-*.png; do
        test "$(measure "$frame")" = "$3" || return 1
    done
    test "$(cksum "$1"/* | sort -u -k 1,2 | wc -l)" -eq "$2"
}

run play --copies 24 --frames 5 --size 320x180 --film "$scratch/film" "$scene"
test "$status" -eq 0 && has_frames "$scratch/film" 5 "320 180" &&
    grep -q "^film  *5 frames of 320 x 180 in $scratch/film\$" "$scratch/out"
ok "a directory gets a PNG file of each frame"

# Sky, water and text alone compress to a tenth of that.
test "$(wc -c <"$scratch/film/frame-00002.png")" -gt 12000
ok "frames are not blank"

run play --quiet --copies 24 --frames 5 --size 320x180 --film "$scratch/again/" "$scene"
test "$status" -eq 0 && test ! -s "$scratch/out" && test ! -s "$scratch/err" &&
    diff -r "$scratch/film" "$scratch/again"
ok "the same play gives the same pixels, and --quiet prints nothing"

run play --quiet --copies 24 --frames 5 --size 320x180 --boats --film "$scratch/boats" "$scene"
test "$status" -eq 0 && has_frames "$scratch/boats" 5 "320 180" &&
    ! cmp -s "$scratch/film/frame-00000.png" "$scratch/boats/frame-00000.png"
ok "--boats draws more"

run play --quiet --copies 24 --frames 5 --size 320x180 --camera chase --film "$scratch/chase" "$scene"
test "$status" -eq 0 && has_frames "$scratch/chase" 5 "320 180" &&
    ! cmp -s "$scratch/film/frame-00000.png" "$scratch/chase/frame-00000.png"
ok "--camera chase sees it from elsewhere"

run play --quiet --copies 3 --frames 9 --size 320x180 --ticks 15 --film "$scratch/ticks" "$scene"
test "$status" -eq 0 && has_frames "$scratch/ticks" 9 "320 180"
ok "with ticks frames between them are drawn"

run play --quiet --copies 3 --frames 2 --size 64x32 --film "$scratch/two" "$scene" "$scene"
test "$status" -eq 0 && test "$(find "$scratch/two" -type f | wc -l)" -eq 4 &&
    cmp "$scratch/two/frame-00001.png" "$scratch/two/frame-00003.png"
ok "scenes follow each other in one film"

run play --copies 3 --frames 2 --within 1e-30 --film "$scratch/wrong" "$scene"
test "$status" -eq 1 && test "$(find "$scratch/wrong" -type f | wc -l)" -eq 2
ok "a film of a play that fails gives status 1"

# What ffmpeg is given, by a stand-in that says so.
mkdir "$scratch/bin" "$scratch/tools" || exit 99
cat >"$scratch/bin/ffmpeg" <<'END'
#!/bin/sh
for last in "$@"; do
    :
done
printf '%s\n' "$@" >"${last#file:}"
wc -c >>"${last#file:}"
END
chmod +x "$scratch/bin/ffmpeg"
before=$PATH
PATH=$scratch/bin:$before
run play --quiet --copies 2 --frames 3 --rate 12 --size 64x32 --film "$scratch/-a film.mp4" "$scene"
PATH=$before
test "$status" -eq 0 && test "$(tail -n 1 "$scratch/-a film.mp4" | tr -d ' ')" -eq $((3 * 64 * 32 * 4)) &&
    grep -qx 12 "$scratch/-a film.mp4" && grep -qx 64x32 "$scratch/-a film.mp4" &&
    grep -qx "file:$scratch/-a film.mp4" "$scratch/-a film.mp4"
ok "ffmpeg gets every pixel, the rate and the size, and the path as one word"

for end in "exit 3" "kill -9 \$\$" "cat >/dev/null; exit 3"; do
    printf '#!/bin/sh\n%s\n' "$end" >"$scratch/bin/ffmpeg"
    PATH=$scratch/bin:$before
    run play --quiet --copies 2 --frames 3 --size 640x360 --film "$scratch/film.webm" "$scene"
    PATH=$before
    test "$status" -eq 1 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -ge 1 &&
        grep -q 'film.webm: .*ffmpeg' "$scratch/err"
    ok "an ffmpeg that fails gives status 1 and its reason: $end"
done

# All tools but ffmpeg.
ln -s /usr/bin/* "$scratch/tools" 2>/dev/null
ln -s /bin/* "$scratch/tools" 2>/dev/null
rm -f "$scratch/tools/ffmpeg"
# shellcheck disable=SC2123
PATH=$scratch/tools
run play --copies 3 --frames 2 --size 64x32 --film "$scratch/lone.webp" "$scene"
PATH=$before
test "$status" -eq 0 && test ! -e "$scratch/lone.webp" && has_frames "$scratch/lone" 2 "64 32" &&
    test "$(cat "$scratch/err")" = "espalier: there is no ffmpeg: the frames become PNG files in $scratch/lone" &&
    grep -q "in $scratch/lone\$" "$scratch/out"
ok "without ffmpeg a directory gets the frames, with a sentence"

# count_webp FILE: frames of an animated WebP file.
count_webp()
{
    LC_ALL=C grep -ao ANMF "$1" | wc -l
}

if command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null; then
    for ending in webm mp4; do
        run play --quiet --copies 3 --frames 4 --size 64x32 --film "$scratch/real.$ending" "$scene"
        test "$status" -eq 0 && test ! -s "$scratch/err" &&
            ffprobe -v error -count_frames -select_streams v -of csv=p=0 \
                -show_entries stream=width,height,nb_read_frames "$scratch/real.$ending" |
            grep -q '^64,32,4'
        ok "ffmpeg writes the frames as $ending"
    done
    run play --quiet --copies 3 --frames 4 --size 64x32 --film "$scratch/real.webp" "$scene"
    test "$status" -eq 0 && test "$(count_webp "$scratch/real.webp")" -eq 4
    ok "ffmpeg writes the frames as webp"
else
    skip "ffmpeg writes films" "no ffmpeg"
fi

# README's film.
film=${srcdir:-.}/examples/fleet.webp
test "$(wc -c <"$film")" -le 1000000 && test "$(count_webp "$film")" -ge 48 &&
    grep -q '](examples/fleet.webp)' "${srcdir:-.}/README.md"
ok "README.md shows a film of at most 1 MB"

# The last frame is of second 1 at either rate.
# checksum: print the checksum of the worlds at the end.
checksum()
{
    awk '$1 == "checksum" {print $2}' "$scratch/out"
}
run play --copies 10 --frames 61 --respawn 0 "$scene"
first=$(checksum)
test "$status" -eq 0 && grep -q ' 10 prefabs made, .* 0 destroyed' "$scratch/out"
ok "--respawn 0 destroys nothing"
run play --copies 10 --frames 31 --rate 30 --respawn 0 "$scene"
test "$status" -eq 0 && test -n "$first" && test "$(checksum)" = "$first"
ok "--rate says how many frames are a second"
run play --copies 10 --frames 5 --respawn 50 "$scene"
test "$status" -eq 0 && ! grep -q ' 10 prefabs made' "$scratch/out"
ok "--respawn 50 destroys many"

run play --copies 1 --frames 1 --film "$scratch/no/where" "$scene"
test "$status" -eq 1 && test "$(grep -c . "$scratch/err")" -eq 1
ok "a directory that cannot be made gives one line and status 1"
for line in "play --film $scratch/film.gif" "play --film $scratch/x --camera side" \
    "play --film $scratch/x --size 3x4" "play --film $scratch/x --size 640" \
    "play --film $scratch/x --size 640x360x2" "play --film $scratch/x --size 8x8" "play --rate 0" \
    "play --camera chase" "play --size 64x32" "play --boats" "play --respawn -1" "play --respawn x" "check --film $scratch/x"; do
    # shellcheck disable=SC2086
    run $line "$scene"
    test "$status" -eq 2 && test ! -s "$scratch/out" && test -s "$scratch/err" && test ! -e "$scratch/x"
    ok "refused: espalier $(echo "$line" | sed "s,$scratch/,,g")"
done

done_testing
