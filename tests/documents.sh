#!/bin/sh
# SPDX-License-Identifier: MIT
# Documents name only what exists: files, links, targets of make, sections of .ci/run, options,
# identifiers and manual pages. tests/documents.awk has the rules. NEWS is left out because it names what
# was removed, and so are the names in results of older versions, which say so in their second line.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
room=$(mktemp -d "${TMPDIR:-/tmp}/documents.XXXXXX") || exit 99
trap 'rm -rf "$room"' EXIT
cd "${srcdir:-.}" || exit 99
LC_ALL=C
export LC_ALL

# The sources: all but the documents, the manual and this test.
list_sources()
{
    find lib include tests bench tools examples m4 -type f \
        \( -name '*.[ch]' -o -name '*.inc' -o -name '*.sh' -o -name '*.awk' -o -name '*.gp' -o \
        -name '*.m4' -o -name '*.sym' -o -name '*.txt' \) ! -name 'documents.*' ! -name 'lt*.m4' \
        ! -name libtool.m4
    find packaging -type f ! -name '*.pyc'
    echo Makefile.am configure.ac bootstrap .ci/run .ci/foreign | tr ' ' '\n'
}

# The files that a document may name.
list_files()
{
    list_sources
    find lib include tests bench tools examples guides man -type f \
        \( -name '*.md' -o -name '*.[1357]' -o -name '*.supp' -o -name '*.awk' -o -name '*.png' -o \
            -name '*.svg' -o -name '*.webp' -o -name '*.css' -o -name '*.sh' -o -name '*.mjs' \)
    find packaging -type f
    for file in [A-Z]* .clang-format .clang-tidy .editorconfig espalier.pc.in; do
        echo "$file"
    done
}

# list_words FILE...: the words of sources, without comments that begin with //.
list_words()
{
    sed 's,//.*,,' "$@" | tr -cs 'A-Za-z0-9_' '[\n*]' | sort -u
}

# The options of programs and scripts, and those of configure.
list_options()
{
    # shellcheck disable=SC2046
    grep -ohE -e '--[a-z][a-z-]*[a-z]' $(list_sources | grep -v '^configure.ac$')
    # shellcheck disable=SC2046
    sed -n 's/^ *{"\([a-z-]*\)", *\(no\|required\|optional\)_argument.*/--\1/p' $(list_sources)
    sed -n 's/^AC_ARG_ENABLE(\[\([a-z-]*\)\].*/--enable-\1/p' configure.ac
}

list_targets()
{
    echo all check clean dist distcheck install install-strip uninstall | tr ' ' '\n'
    sed -n 's/^\([a-z][a-z -]*\):.*/\1/p' Makefile.am | sed 's/-local$//' | tr ' ' '\n'
}

list_sections()
{
    echo all
    sed -n 's/^\([A-Z_]*=[a-z0-9]* \)*section \([a-z0-9-]*\) .*/\2/p' .ci/run
}

# Names of files that programs and scripts write, and the beginnings of such names.
list_outputs()
{
    # shellcheck disable=SC2046
    grep -ohE '[a-z]+(-[a-z]+)+|[a-z]+[a-z/-]*(\.(csv|dat)|-)' $(list_sources) | sort -u
}

list_files >"$room/files"
# shellcheck disable=SC2046
list_words $(list_sources) >"$room/words"
list_words include/espalier/*.h >"$room/public"
list_options >"$room/options"
list_targets >"$room/targets"
list_sections >"$room/sections"
list_outputs >"$room/outputs"

# check DOCUMENT...
check()
{
    awk -f tests/documents.awk kind=files "$room/files" kind=words "$room/words" \
        kind=public "$room/public" kind=outputs "$room/outputs" kind=options "$room/options" \
        kind=targets "$room/targets" kind=sections "$room/sections" kind=document "$@"
}

check README.md CONTRIBUTING.md bench/*.md bench/results/*.md guides/*.md tests/*.md >&2
ok "documents name only what exists"

# Each line has a wrong name, which its complaint names.
mkdir -p "$room/bench/results"
cat >"$room/bench/planted.md" <<'END'
# Planted
`lib/tree/nowhere.c`
`tests/nowhere/`
`nowhere.c`
`loads/NOWHERE.txt`
`no_such_name()`
`make check NO_SUCH_SETTING=1`
`bench/course --nowhere-to-go`
`--enable-nothing`
`make -j2 nowhere`
`.ci/run clang elsewhere`
espl_no_such_call
espl__no_such_call
ESPL_NO_SUCH_NAME
espalier_nowhere(3)
`nosuch/nosuch`
17x4711
[a link](nowhere.md)

    make all nothing # and no comment
END
cat >"$room/names" <<'END'
2 lib/tree/nowhere.c
3 tests/nowhere/
4 nowhere.c
5 loads/NOWHERE.txt
6 no_such_name
7 NO_SUCH_SETTING
8 --nowhere-to-go
9 --enable-nothing
10 nowhere
11 elsewhere
12 espl_no_such_call
13 espl__no_such_call
14 ESPL_NO_SUCH_NAME
15 man/espalier_nowhere.3
16 nosuch/nosuch
17 17x4711
18 bench/nowhere.md
20 nothing
END
check "$room/bench/planted.md" >"$room/found"
test $? -eq 1 && test "$(wc -l <"$room/found")" -eq "$(wc -l <"$room/names")" &&
    while read -r line name; do
        sed -n "s/^[^:]*:$line: //p" "$room/found" | grep -qF -e "$name" || exit 1
    done <"$room/names"
ok "a wrong name of each kind is found"

# Placeholders, programs, outputs and names of the reader's own choice are no faults, nor are names in
# results of an older version.
cat >"$room/bench/sound.md" <<'END'
# Sound

`tests/<layer>/<unit>_test.c` `schemes/NAME.c` `scheme_NAME` `espl_record_...()` `tests/world/random_test`
`bars-LOAD.svg` `counts-SCHEME.csv` `make check && .ci/run asan` espalier(7) [the head](#sound) 50000x20

    make -C build check TESTS=tests/base/heap_test # and so on
    bench/course --load full --csv mine.csv >mine.txt
END
{
    echo '<!-- names are those of an older version -->'
    echo 'espl_no_such_call'
} >"$room/bench/results/old.md"
check "$room/bench/sound.md" "$room/bench/results/old.md" >&2
ok "a sound document has no faults"

# list_wrong_tests FILE...: where code takes a status for a failure that is positive, which is done with a
# remark: the negation of a call that returns a status, and comparisons with ESPL_OK. `return` and the
# programs' comparisons of two statuses are no such tests.
list_wrong_tests()
{
    sed -n 's/.*espl_status \(espl_[a-z0-9_]*\)(.*/\1/p' include/espalier/*.h | sort -u >"$room/calls"
    awk '
        FILENAME == ARGV[1] { is_call[$1] = 1; next }
        {
            text = $0
            while (match(text, /![ ]*espl_[a-z0-9_]+\(/)) {
                name = substr(text, RSTART + 1, RLENGTH - 2)
                gsub(/ /, "", name)
                if (name in is_call) print FILENAME ":" FNR ": !" name "()"
                text = substr(text, RSTART + RLENGTH)
            }
        }
        # Prose, in backquotes or after .Ql, says that it is wrong.
        /[!=]= ESPL_OK/ && !/`[^`]*[!=]= ESPL_OK[^`]*`|^\.Ql/ && !/expected ==/ { print FILENAME ":" FNR ": " $0 }
        /espl_[a-z0-9_]*\(.*\)+ (<|>=) 0/ { print FILENAME ":" FNR ": " $0 }
    ' "$room/calls" "$@"
}

list_wrong_tests README.md guides/*.md man/*.[37] examples/*.[ch] tools/*.c >"$room/found"
has_no_complaints "$room/found"
ok "no document, example or program takes a positive status for a failure"
cat >"$room/planted.c" <<'END'
    ok = ok && !espl_attach(world, a, b, NULL);
    if (espl_set_component(world, a, c, &v, sizeof v) != ESPL_OK) {
    return status == ESPL_OK;
    if (espl_detach(world, a, keep) < 0) {
    if (!espl_entity_is_null(a) && !espl_failed(espl_detach(world, a, keep))) {
END
list_wrong_tests "$room/planted.c" >"$room/found"
test "$(sed 's/^[^:]*:\([0-9]*\):.*/\1/' "$room/found" | tr '\n' ' ')" = "1 2 3 4 "
ok "a wrong test of each kind is found"

# The tables of contents are complete.
for file in bench/results/*.md; do
    grep -qF "](results/${file##*/})" bench/README.md || echo "bench/README.md has no link to $file"
done >"$room/lacking"
has_no_complaints "$room/lacking"
ok "bench/README.md has a link to each file of results"

# list_suites: those of both lists of Makefile.am, the fuzz targets and the scripts.
list_suites()
{
    awk '
        $1 ~ /^(contract|unit|fuzz|text|build)_tests$/ && $2 == "=" { on = 1 }
        on { for (i = 1; i <= NF; ++i) if ($i ~ /^tests\//) print $i; on = /\\$/ }' Makefile.am
}

list_suites >"$room/suites"
while read -r suite; do
    grep -qF -e "\`${suite#tests/}\`" -e "\`$suite\`" tests/README.md || echo "tests/README.md does not name $suite"
done <"$room/suites" >"$room/lacking"
has_no_complaints "$room/lacking" && test "$(wc -l <"$room/suites")" -gt 100
ok "tests/README.md names every suite, fuzz target and script"

# check_guarantees DOCUMENT: each section, except the last, has the paragraphs Promise, Condition, Limits and
# Held by, in this order. "Held by" names tests, and "make check" runs each of them.
check_guarantees()
{
    awk '
        function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
        function finish()
        {
            if (heading != "" && (said != "Promise Condition Limits Held " || tests == 0)) {
                complain("\"" heading "\" does not say all four things and name a test")
            }
        }
        FILENAME == ARGV[1] { is_run[$1] = 1; next }
        /^## / { finish(); heading = substr($0, 4); said = ""; tests = 0; ++sections }
        /^\*\*(Promise|Condition|Limits)\.\*\* / { said = said substr($1, 3, length($1) - 5) " " }
        /^\*\*Held by\*\* / { said = said "Held " }
        said ~ /Held $/ {
            text = $0
            while (match(text, /`tests\/[^`]*`/)) {
                path = name = substr(text, RSTART + 1, RLENGTH - 2)
                text = substr(text, RSTART + RLENGTH)
                sub(/\.c$/, "", name)
                ++tests
                if (!(name in is_run) || (getline line <path) <= 0) complain("make check runs no " path)
                close(path)
            }
        }
        END {
            if (heading != "What is not promised" || sections < 10) complain("the sections are not read")
            exit bad
        }
    ' "$room/suites" "$1"
}

check_guarantees guides/guarantees.md >&2
ok "each promise of guides/guarantees.md names its condition, its limits and tests that make check runs"
for change in 's,world/sweep_test,world/swept_test,' 's,stack[.]sh,static.sh,' '/^\*\*Limits/d' \
    's,`tests/world/doubling_test.*,nothing,'; do
    sed "$change" guides/guarantees.md >"$room/guarantees.md"
    ! check_guarantees "$room/guarantees.md" >"$room/found" && grep -q . "$room/found"
    ok "noticed in the guarantees: $change"
done
for document in guides/*.md; do
    grep -qF "]($document)" README.md || echo "README.md has no link to $document"
done >"$room/lacking"
has_no_complaints "$room/lacking"
ok "README.md has a link to each guide"
done_testing
