#!/bin/sh
# SPDX-License-Identifier: MIT
# Make the documents as a directory of HTML: manual pages, examples and headers, and where cmark-gfm is
# found README.md, with what it links to and so on. All links are relative, and nothing is fetched.
#
#     AWK=awk MANDOC=mandoc CMARK=cmark-gfm VERSION=1.2.3 html.sh SOURCE-TREE DIRECTORY PAGE...
#
# A PAGE is a manual page, named from the top of the source tree. It may say its group of the index page
# in a comment, '.\" Group: Start here'; else that is the group of its section. So may a Markdown
# document, '<!-- Group: Start here -->', which is then listed by its title instead of its path.
# shellcheck disable=SC2016 # the words of awk are its own
set -eu
: "${AWK=awk}" "${MANDOC=mandoc}" "${CMARK=}" "${VERSION=}"
LC_ALL=C
export LC_ALL
top=$1
out=$2
shift 2
room=$out.tmp
rm -rf "$room"
mkdir -p "$room/html"
trap 'rm -rf "$room"' EXIT
tab=$(printf '\t')

escape()
{
    sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'
}

# The file of a path of the source tree, which is the same without directories.
flat() # path
{
    case $1 in
        man/*) printf '%s.html\n' "${1##*/}" ;;
        *.md) printf '%s\n' "${1%.md}.html" | tr / _ ;;
        *) printf '%s.html\n' "$1" | tr / _ ;;
    esac
}

# Add a file of the source tree to those that get a page, once.
add() # path
{
    grep -q "^$1 " "$room/links" || printf '%s %s\n' "$1" "$(flat "$1")" >>"$room/links"
}

# Note an entry of the index page.
enter() # group, path, label, description
{
    printf '%s\t%s\t%s\t%s\n' "$1" "$(flat "$2")" "$3" "$4" >>"$room/entries"
}

# Make a page of a fragment of HTML.
finish() # kind, path, title, fragment
{
    home=
    case $2 in
        */*) home=${2%/*}/ ;;
    esac
    $AWK -v kind="$1" -v self="$(flat "$2")" -v title="$3" -v version="$VERSION" -v home="$home" \
        -v names="$room/names" -v links="$room/links" -f "$top/man/html/page.awk" "$4" \
        >"$room/html/$(flat "$2")"
}

# Paths that a Markdown document in this directory links to, from the top of the source tree.
linked_paths() # directory, fragment
{
    $AWK -v home="$1" 'BEGIN { RS = "<" }
        match($0, /^a href="[^"#:]+/) {
            path = home substr($0, RSTART + 8, RLENGTH - 8)
            while (sub(/[^\/]+\/\.\.\//, "", path)) { }
            sub(/\/$/, "", path)
            print path
        }' "$2"
}

# Render a Markdown document and find all documents and files that it links to.
find_documents() # path
{
    add "$1"
    printf '%s\n' "$1" >>"$room/documents"
    fragment=$room/$(flat "$1")
    $CMARK -e table -e autolink "$top/$1" >"$fragment"
    home=
    case $1 in
        */*) home=${1%/*}/ ;;
    esac
    for path in $(linked_paths "$home" "$fragment"); do
        if grep -q "^$path " "$room/links" || ! test -e "$top/$path"; then
            continue
        fi
        case $path in
            *.md) find_documents "$path" ;;
            *) add "$path" ;;
        esac
    done
}

# The group of a manual page, or of a document.
group_of() # path
{
    group=$(sed -n -e 's/^\.\\" Group: *//p' -e 's/^<!-- Group: *\(.*\) -->$/\1/p' "$top/$1")
    case $group,$1 in
        ,*.md) group='Working on the library' ;;
        ,*.1) group=Program ;;
        ,*.3) group=Reference ;;
        ,*) group=Guides ;;
    esac
    printf '%s\n' "$group"
}

make_manual() # path
{
    title=$(printf '%s\n' "${1##*/}" | sed 's/\.\([0-9]\)$/(\1)/')
    "$MANDOC" -T html -O 'man=%N.%S.html,fragment' "$top/$1" >"$room/fragment"
    finish man "$1" "$title" "$room/fragment"
    enter "$(group_of "$1")" "$1" "$title" "$(sed -n 's/^\.Nd //p' "$top/$1" | escape)"
}

# The row of the table of documents in README.md that is about a path.
description_of() # path
{
    sed -n "s,^| \[[^]]*\]($1) | \(.*\) |\$,\1,p" "$top/README.md" | sed 1q | escape
}

make_document() # path
{
    title=$(sed -n 's/^# //p' "$top/$1" | sed 1q | escape)
    finish document "$1" "$title" "$room/$(flat "$1")"
    if test "$1" = README.md; then
        enter 'Start here' "$1" "$1" 'what the library does, a first program, and what it costs'
    elif grep -q '^<!-- Group: ' "$top/$1"; then
        enter "$(group_of "$1")" "$1" "$title" "$(description_of "$1")"
    else
        enter "$(group_of "$1")" "$1" "$1" "$(description_of "$1")"
    fi
}

# The sentence on top of an example or a header.
purpose_of() # path
{
    $AWK '/^#/ { exit }
        /^\/\/\/? (@file|SPDX)/ { next }
        sub(/^\/\/\/? ?/, "") { words = words (words == "" ? "" : " ") $0; next }
        END { if (match(words, /[.;] /)) words = substr(words, 1, RSTART); sub(/[:;]$/, ".", words); print words }
    ' "$top/$1" | escape
}

# A file as it is; below an example is what it prints.
make_source() # path
{
    {
        printf '<pre class="source">'
        escape <"$top/$1"
        printf '</pre>\n'
        printed=${1%.c}.txt
        if test "$printed" != "$1" && test -f "$top/$printed"; then
            printf '<p>It prints:</p>\n<pre>'
            escape <"$top/$printed"
            printf '</pre>\n'
        fi
    } >"$room/fragment"
    finish source "$1" "$1" "$room/fragment"
    case $1 in
        examples/*) enter Examples "$1" "${1##*/}" "$(purpose_of "$1")" ;;
        include/*) enter Headers "$1" "${1#include/}" "$(purpose_of "$1")" ;;
        *) enter 'Working on the library' "$1" "$1" "$(description_of "$1")" ;;
    esac
}

make_directory() # path
{
    {
        echo '<ul>'
        sed -n "s,^$1/\([^ ]*\) \(.*\),<li><a href=\"\2\"><code>\1</code></a></li>,p" "$room/links"
        echo '</ul>'
    } >"$room/fragment"
    finish list "$1" "$1" "$room/fragment"
}

# What is read first, then groups in the order in which people come to need them.
make_index()
{
    test ! -f "$room/html/README.html" ||
        $AWK '/^<p>/ { inside = 1 } inside { print } inside && /<\/p>$/ { exit }' "$room/html/README.html"
    for group in 'Start here' Guides Reference Program Examples Headers 'Working on the library'; do
        grep "^$group$tab" "$room/entries" >"$room/group" || continue
        printf '<h2>%s</h2>\n<dl class="entries">\n' "$group"
        while IFS=$tab read -r _ file label words; do
            printf '<dt><a href="%s">%s</a></dt><dd>%s</dd>\n' "$file" "$label" "$words"
        done <"$room/group"
        echo '</dl>'
    done
    echo '<h2>Names</h2>'
    for kind in function macro type constant; do
        grep -q " $kind\$" "$room/names" || continue
        case $kind in
            function) echo '<h3>Functions</h3>' ;;
            macro) echo '<h3>Macros</h3>' ;;
            type) echo '<h3>Types</h3>' ;;
            constant) echo '<h3>Constants</h3>' ;;
        esac
        echo '<ul class="names">'
        # A constant that several pages describe belongs to the first of them.
        grep " $kind\$" "$room/names" | sort -k 1,1 -s | $AWK '!seen[$1]++ {
            print "<li><a href=\"" $2 ".html#" $1 "\"><code>" $1 "</code></a></li>" }'
        echo '</ul>'
    done
}

(cd "$top" && $AWK -f man/names.awk "$@") >"$room/names"
: >"$room/links"
: >"$room/documents"
: >"$room/entries"
for path; do
    add "$path"
done
for path in "$top"/examples/*.[ch] "$top"/include/*/*.h*; do
    add "${path#"$top/"}"
done
test -z "$CMARK" || find_documents README.md

while read -r path; do
    make_document "$path"
done <"$room/documents"
for path; do
    make_manual "$path"
done
while read -r path file; do
    if test -d "$top/$path"; then
        make_directory "$path"
    elif ! test -f "$room/html/$file"; then
        make_source "$path"
    fi
done <"$room/links"
make_index >"$room/fragment"
finish list index "Espalier" "$room/fragment"
cat "$top/man/html/style.css" >"$room/html/style.css"
# Pictures of the documents have the paths that they have beside these.
for path in "$top"/examples/*.svg "$top"/examples/*.png "$top"/examples/*.webp; do
    mkdir -p "$room/html/examples"
    cat "$path" >"$room/html/examples/${path##*/}"
done
rm -rf "$out"
mv "$room/html" "$out"
