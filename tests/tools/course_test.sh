#!/bin/sh
# SPDX-License-Identifier: MIT
# The course: on small cases all schemes and numbers of workers compute the same worlds, and the figures that
# follow from others are right. No time is compared.
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
course=${COURSE:-bench/course}
counts=${COUNTS:-bench/counts}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

test -x "$course" || skip_all "the course is not built"
has_shrunken_limits && skip_all "a world of this build holds too few entities for the course"

# explain: print the output of the program in the run that failed.
explain()
{
    sed 's/^/# /' "$scratch"/out "$scratch"/err 2>/dev/null | head -20
}

# run ARGUMENT...: run the course. Its status is in $status, its output in out, err and csv.
run()
{
    rm -f "$scratch/csv"
    "$course" --csv "$scratch/csv" "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
}

# agrees ROWS: the run succeeded, with at least so many rows of schemes.
agrees()
{
    test "$status" -eq 0 && test ! -s "$scratch/err" && grep -q '^checksums agree: ' "$scratch/out" &&
        test "$(grep -c '^[a-z-]*,[0-9]*,' "$scratch/csv")" -ge "$1"
}

# has_rows SCHEME...: the run has rows of each scheme.
has_rows()
{
    for scheme; do
        grep -q "^$scheme," "$scratch/csv" || return 1
    done
}

# scales: each speed-up is the quotient of two times, and each efficiency a speed-up divided by the workers.
scales()
{
    awk -F, '
        function is_near(a, b) { return a - b < 1e-4 * b && b - a < 1e-4 * b }
        $6 ~ / speed-up$/ { ++rows; key = $6; sub(/ speed-up$/, "", key); f = $1 $3 $4 key
            if (!is_near(time[f 1] / time[f $2], $5)) exit 1
            gain[f $2] = $5; next }
        $6 ~ / efficiency$/ { key = $6; sub(/ efficiency$/, "", key); f = $1 $3 $4 key
            if (!is_near(gain[f $2] / $2, $5)) exit 1
            next }
        { time[$1 $3 $4 $6 $2] = $5 }
        END { if (rows == 0) exit 1 }' "$scratch/csv"
}

# roots_scale: runs with threads of the library.
roots_scale()
{
    run --load roots --shape 500x20 --workers 1,2,3 --scheme espalier,batch
    if grep -q ',2,roots,' "$scratch/csv"; then
        agrees 12 && scales
        ok "worlds do not depend on workers, and speed-ups are reported"
    else
        skip "worlds do not depend on workers" "built without pthreadpool"
    fi
}

# ThreadSanitizer can find nothing where one thread runs, and would take minutes.
case "${ESPL_LDFLAGS-}" in
    *-fsanitize=thread*)
        roots_scale
        run --load spawn --shape 100x12 --scheme espalier,linked --workers 2
        agrees 2
        ok "playbacks on threads agree with linked blocks"
        done_testing
        ;;
esac

# is_slow SHAPE: where arrays always move, building is quadratic, and ten thousand nodes take minutes. Only the
# smallest shapes are tested there.
is_slow()
{
    always_moves && case $1 in
        1x2000 | 100x* | chain) false ;;
    esac
}

# Each load on a small shape, by every scheme that has it.
deferred='flat recursive depth-sweep clustered dirty-stream'
chunks='recursive depth-sweep clustered'
while read -r load shape schemes; do
    if is_slow "$shape"; then
        continue
    fi
    run --load "$load" --shape "$shape"
    # shellcheck disable=SC2086 # The list is to be split.
    agrees 2 && has_rows $schemes
    ok "$load $shape: all schemes agree"
done <<END
full 500x20 $deferred linked espalier
every 500x20 $deferred deferred espalier
ways sparse-500x20 $deferred deferred linked espalier
sparse 500x20 $deferred linked espalier
sparse 1x2000 $deferred linked espalier
midframe 100x20-few $deferred linked espalier
animate 500x11 $deferred linked espalier onebyone batch
roots 500x20 $deferred linked espalier onebyone batch
bevy chain $deferred linked espalier
spawn 100x12 $chunks linked espalier
spawn 100x12-k100-drawn espalier
mixed plain linked espalier
mixed all espalier
full 10x1000-flag espalier
full 10x1000-stretch espalier
reparent 100x20 $chunks linked espalier
reparent k1-atonce linked espalier
battle 500x11 $chunks linked espalier onebyone
giant 10000-edits $chunks linked espalier
giant 10000-commands $chunks linked espalier onebyone
wide 1x10000-fan10 $deferred linked espalier
readers 500x20 $deferred linked espalier
watch idle-500x20 compare ticks espalier
watch r100-500x20 compare ticks espalier
watch leaves100-500x20 compare ticks espalier
watch all-500x20 compare ticks espalier
motion roots-500x20 eased espalier
motion every-500x20 eased espalier
motion inner-500x20 eased espalier
motion idle-500x20 eased espalier
values 500x20 espalier
history r50-500x20 espalier
history full-500x20 espalier
deltas fall-grid espalier
deltas walk-exact espalier
memory 500x20-watched ticks espalier
memory 500x20-ticked eased espalier
build 500x20 $deferred linked espalier
cull 500x20-four flat-cull scalar-cull gather clustered-cull espalier
cull aged-500x20 espalier
memory 500x20 $deferred linked espalier
END

run --load bevy --shape update_ --scheme flat,recursive,depth-sweep
agrees 6
ok "a sweep by depth includes the nodes below the depths that it distinguishes"

run --load aged --shape 500x20-full
agrees 6
ok "an aged world computes what a fresh one does"

"$course" --list >"$scratch/out" 2>"$scratch/err"
test $? -eq 0 && grep -q '^  bevy .* humanoids_mixed' "$scratch/out" &&
    grep -q '^  batch ' "$scratch/out"
ok "loads, shapes and schemes are listed"

roots_scale

# Each quotient of parts is that of their times.
run --load motion --shape every-500x20 --scheme espalier --workers 1
awk -F, '
    function is_near(a, b) { return a - b < 1e-4 * b && b - a < 1e-4 * b }
    { figure[$6] = $5 }
    END {
        write = figure["ns/node write"]
        exit !(write > 0 && is_near(figure["ns/node roll"] / write, figure["roll/write"]) &&
            is_near(figure["ns/node present"] / write, figure["present/write"]))
    }' "$scratch/csv"
ok "a part of a tick is divided by its writes"

run --load roots --shape nowhere
test "$status" -eq 3 && grep -q 'nothing to do' "$scratch/err"
ok "a course without work is an error"

checksum()
{
    sed -n 's/^espalier,1,wide,.*,//p' "$scratch/csv"
}

# A tree of 100,000 nodes has blocks larger than a huge page. Where arrays always move, building it is quadratic,
# so the tree is smaller there.
size=1x100000-
always_moves && size=1x10000-
run --load wide --shape $size --scheme espalier,flat --workers 1 --huge-pages off
agrees 2 && small=$(checksum) && test -n "$small" &&
    run --load wide --shape $size --scheme espalier,flat --workers 1 --huge-pages on &&
    agrees 2 && test "$(checksum)" = "$small"
ok "worlds do not depend on huge pages"

run --load wide --huge-pages yes
test "$status" -eq 2 && grep -q "on or off, not 'yes'" "$scratch/err"
ok "huge pages are on or off"

run --load flight
test "$status" -eq 2 && grep -q "no load 'flight'" "$scratch/err"
ok "the message names a load that does not exist"

# The first line of a table has the figure of linked, or its ratio to that of flat.
draw=${srcdir:-.}/bench/draw
cat >"$scratch/csv" <<'END'
scheme,workers,load,shape,figure,unit,checksum
flat,1,sparse,500x20-w100,500,ns/write,0
linked,1,sparse,500x20-w100,25,ns/write,0
espalier,1,sparse,500x20-w100,50,ns/write,0
espalier,2,sparse,500x20-w100,40,ns/write,0
espalier,2,sparse,500x20-w100,1.25,ns/write speed-up,0
linked,1,idle,200x20,30,ns/write,0
linked,1,aged,500x20-full,1.5,aged/fresh,0
END
"${AWK:-awk}" -v out="$scratch" -f "$draw/tables.awk" "$scratch/csv" >"$scratch/err" 2>&1 &&
    test "$(sed 1q "$scratch/bars-sparse.dat")" = '0 0.05' &&
    test "$(tr '\n' ' ' <"$scratch/bars-sparse.names")" = 'linked 1 espalier 2 espalier:2 3 ' &&
    test "$(sed 1q "$scratch/idle.dat")" = '4000 30' &&
    test "$(sed 1q "$scratch/bars-aged-fresh.dat")" = '0 1.5'
ok "figures are sorted into the tables of their pictures"

# A page has a row for each figure of the library, with its ratio to each other scheme: 50 / 500, 50 / 25.
# On two workers it has the figure, and how many times faster it is: 50 / 40.
"${AWK:-awk}" -f "${srcdir:-.}/bench/page.awk" "$scratch/csv" >"$scratch/out" 2>"$scratch/err" &&
    test ! -s "$scratch/err" && test "$(grep -c '^## ' "$scratch/out")" -eq 2 &&
    grep -qF '| load | shape | unit | espalier | / flat | / linked |' "$scratch/out" &&
    grep -qF '| sparse | 500x20-w100 | ns/write | 50 | 0.10 | 2.00 |' "$scratch/out" &&
    grep -qF '| sparse | 500x20-w100 | ns/write | 40 | 1.25 |' "$scratch/out"
ok "figures are printed as the tables of a page"

# The table of the manual page has shapes of the load, quotients of least times with two digits, 30 / 20 for one, and
# a dash where nothing was measured.
ways=${srcdir:-.}/bench/ways.awk
page=${srcdir:-.}/man/espalier_write.3
"${AWK:-awk}" -v shapes=1 -f "$ways" </dev/null >"$scratch/shapes"
"$course" --list | sed -n 's/^  ways .*commands://p' | tr ' ' '\n' >"$scratch/listed"
test "$(wc -l <"$scratch/shapes")" -gt 10 && ! grep -vxFf "$scratch/listed" "$scratch/shapes"
ok "the table of ways has shapes of the load"
cat >"$scratch/csv" <<'END'
espalier,1,ways,every-500x20,90,ns/write,0
espalier,1,ways,every-500x20,62.8,ns/write single,0
espalier,1,ways,every-500x20,252,ns/write commands,0
deferred,1,ways,every-500x20,30,ns/write,0
deferred,2,ways,every-500x20,9,ns/write,0
espalier,1,every,500x20,7,ns/write,0
END
echo 'espalier,1,ways,every-500x20,20,ns/write,0' >"$scratch/csv2"
"${AWK:-awk}" -f "$ways" "$scratch/csv" "$scratch/csv2" >"$scratch/out" 2>"$scratch/err" && test ! -s "$scratch/err" &&
    grep -qx '.It all of 500 trees of 20 Ta 3.1 Ta - Ta 13 Ta 1.5 Ta -' "$scratch/out"
ok "the ways to write are printed as a table"

# rows_of FILE: the table of ways in a page.
rows_of()
{
    sed -n '/^\.Bl -column "the roots of /,/^\.El$/p' "$1"
}

# forget FILE: the same without its figures.
forget()
{
    rows_of "$1" | sed 's/ Ta [-0-9.]*\>/ Ta -/g'
}
test "$(rows_of "$scratch/out" | wc -l)" -eq "$(($(wc -l <"$scratch/shapes") + 3))" &&
    test "$(forget "$page")" = "$(forget "$scratch/out")" && ! rows_of "$page" | grep ' Ta -'
ok "espalier_write(3) has the table with a figure in each place"

GNUPLOT='' sh "$draw/pictures.sh" "$scratch/csv" "$scratch/pictures" >"$scratch/out" 2>"$scratch/err"
test $? -eq 1 && grep -q 'gnuplot-nox' "$scratch/err" && test ! -e "$scratch/pictures"
ok "without gnuplot the message names its package"

# is_left_out SCHEME PATH: where arrays always move, building is quadratic, and a large world takes minutes. It
# would show no more than the small ones.
is_left_out()
{
    case $1-$2 in
    espalier-spawn*-2000x12 | espalier-spawn-k1* | espalier-reparent-1000x100 | espalier-move-* | espalier-giant-* | \
        espalier-root-5000x20*) always_moves ;;
    *) false ;;
    esac
}

# counts_paths SCHEME PATHS: the program lists at least so many paths of a scheme, and runs each.
counts_paths()
{
    "$counts" --scheme="$1" >"$scratch/out" 2>"$scratch/err" || return
    test "$(wc -l <"$scratch/out")" -ge "$2" || return
    while read -r path _; do
        is_left_out "$1" "$path" && continue
        "$counts" --scheme="$1" "$path" >>"$scratch/err" 2>&1 || return
    done <"$scratch/out"
}

counts_paths espalier 30 && counts_paths linked 20 && counts_paths flat 10
ok "every path whose instructions are counted runs"

"$counts" --scheme=linked every-500x20 >"$scratch/out" 2>"$scratch/err"
test $? -eq 2 && grep -q '^Usage: ' "$scratch/err"
ok "a path that a scheme lacks is refused"

done_testing
