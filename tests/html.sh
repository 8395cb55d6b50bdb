#!/bin/sh
# SPDX-License-Identifier: MIT
# `make html`: no link is dead, no anchor is missing, no page loads anything from another host, and every name
# that the manual pages document is on the index page. Markdown is rendered where cmark-gfm is installed.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
LC_ALL=C
export LC_ALL

command -v mandoc >/dev/null || skip_all "mandoc is not installed"
room=$(mktemp -d ./html.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

build() # cmark, directory
{
    # Names of pages have no spaces.
    # shellcheck disable=SC2046
    AWK=awk MANDOC=mandoc CMARK=$1 VERSION=0 sh "$top/man/html/html.sh" "$top" "$2" \
        $(cd "$top" && echo man/*.[1-9])
}

# Every link of a directory of HTML leads to a file and to an anchor that are there; no anchor is there
# twice; nothing is fetched but the style sheet and pictures beside the page.
# shellcheck disable=SC2035 # names of pages do not begin with a dash
check_links() # directory
{
    (cd "$1" && awk '
        BEGIN { RS = "<" }
        function complain(text) { print FILENAME ": " text; wrong = 1 }
        function value(name,    text) {
            if (!match(tag, "[ \n]" name "=\"[^\"]*\"")) return ""
            text = substr(tag, RSTART, RLENGTH)
            sub(/^[^"]*"/, "", text)
            return substr(text, 1, length(text) - 1)
        }
        FNR == 1 { ++files; exists[FILENAME] = 1; exists["style.css"] = 1 }
        {
            tag = substr($0, 1, index($0, ">"))
            id = value("id")
            if (id != "" && anchors[FILENAME "#" id]++) complain("two anchors " id)
            source = value("src")
            if (tag ~ /^(script|iframe|object|embed|style)/ || value("style") != "" ||
                (source != "" && (tag !~ /^img/ || source ~ /:/))) {
                complain("not wanted: <" tag)
            }
            if (source != "" && (getline line <source) <= 0) complain("no picture " source)
            if (source != "") close(source)
            href = value("href")
            if (tag ~ /^link/ && href != "style.css") complain("not wanted: <" tag)
            if (tag ~ /^a[ \n>]/ && href == "") complain("a link without a target: <" tag)
            if (href == "" || (tag ~ /^a/ && href ~ /^https:/)) next
            if (href ~ /^#/) href = FILENAME href
            used[href] = FILENAME
            ++links
        }
        END {
            for (href in used) {
                FILENAME = used[href]
                file = href
                sub(/#.*/, "", file)
                if (!(file in exists)) complain("no file " href)
                else if (href ~ /#/ && !(href in anchors)) complain("no anchor " href)
            }
            if (files < 10 || links < 100) { print "hardly any links"; wrong = 1 }
            exit wrong
        }' *.html) >&2
}

# The index page has each name, with a link to a page that documents it, or one of them.
check_index() # directory
{
    (cd "$top" && awk -f man/names.awk man/*.[1-9]) >"$room/names"
    awk '
        FILENAME == ARGV[1] { pages[$1] = pages[$1] " " $2 ".html#" $1 " "; next }
        match($0, /^<li><a href="[^"]*"><code>/) {
            target = substr($0, 14, RLENGTH - 21)
            name = target
            sub(/.*#/, "", name)
            if (index(pages[name], " " target " ")) found[name] = 1
        }
        END {
            for (name in pages) {
                ++count
                if (!(name in found)) { print "index.html has no link for " name; wrong = 1 }
            }
            exit wrong || count == 0
        }' "$room/names" "$1/index.html" >&2
}

check() # directory, what it is
{
    check_links "$1"
    ok "$2: no link is dead, nothing is fetched"
    check_index "$1"
    ok "$2: every name is on the index page"
    missing=0
    for page in "$top"/man/*.[1-9]; do
        grep -q "href=\"${page##*/}.html\"" "$1/index.html" || missing=1
    done
    test $missing -eq 0
    ok "$2: every page is on the index page"
}

build '' "$room/manual"
ok "the manual pages, examples and headers become HTML"
check "$room/manual" "manual pages"
if command -v cmark-gfm >/dev/null; then
    build cmark-gfm "$room/all"
    ok "with README.md and what it links to"
    check "$room/all" "all documents"
    grep -q 'href="README.html"' "$room/all/index.html"
    ok "README.md is on the index page"
else
    skip "with README.md and what it links to" "cmark-gfm is not installed"
fi

# A file of CSS that fetches nothing, with a style for dark screens and one for narrow ones.
style=$top/man/html/style.css
grep -q 'prefers-color-scheme: dark' "$style" && grep -q '@media (min-width' "$style" &&
    ! grep -E '@import|url\(|https?:' "$style" >&2
ok "the style sheet stands alone"

# What is wrong is noticed.
for fault in '<a href="nowhere.html">' '<a href="index.html#nowhere">' '<a href="#nowhere">' '<a>' \
    '<p id="names">' '<script>' '<img src="https://example.org/a.png">' '<link href="https://example.org/a.css">'; do
    cp "$room/manual/index.html" "$room/index.html"
    printf '%s\n' "$fault" >>"$room/manual/index.html"
    ! check_links "$room/manual" 2>/dev/null
    ok "noticed: $fault"
    mv "$room/index.html" "$room/manual/index.html"
done
sed '/#espl_/d' "$room/manual/index.html" >"$room/index.html"
mv "$room/index.html" "$room/manual/index.html"
! check_index "$room/manual" 2>/dev/null
ok "noticed: a name that is not on the index page"
done_testing
