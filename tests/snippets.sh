#!/bin/sh
# SPDX-License-Identifier: MIT
# What is copied out of the documents compiles without a warning under -Wall -Wextra -pedantic: the
# programs in examples/, and each piece of C in the manual pages, in README.md and in guides/. A piece of C is
# an indented literal block with a statement in it, or a fenced block of C.
#
# A block of Markdown may be a quotation: lines of a program, `<!-- From examples/x.c -->`, which are in that
# file as they are here, one behind the other; or all that it prints, `<!-- Printed by examples/x.c -->`.
#
# The lines above a block may be comments that say in which languages it compiles, and with which
# declarations: `.\" C, C++: espl_world *world;` in a manual page, `<!-- C: espl_world *world; -->` in
# Markdown. Without such a line it is C and needs none. A program in examples/ is meant for C++ as well where
# its opening comment says so.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
room=$(mktemp -d ./snippets.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT
# A function that is copied is not called yet.
flags="-Wall -Wextra -Wno-unused-function -pedantic -Werror -O1 -I$top/include"
has_cxx=no
# The compilers and the flags are lists of words.
# shellcheck disable=SC2086
! $CXX --version >/dev/null 2>&1 || has_cxx=yes

# Write each piece of C of a document to a file in $room, and print its name and its languages. A block with
# a function in it stands alone; statements are put into a function.
extract() # document
{
    awk -v room="$room" -v page="${1##*/}" '
        function start() { inside = !is_quote; text = ""; is_code = 0; is_whole = 0 }
        function finish(    file) {
            inside = 0
            if (is_code) {
                file = page "-" ++number ".c"
                print "#include <espalier/espalier.h>" >(room "/" file)
                print "#include <math.h>\n#include <stddef.h>\n#include <stdio.h>" >(room "/" file)
                print given >(room "/" file)
                if (is_whole) printf "%s", text >(room "/" file)
                else printf "void statements(void);\nvoid statements(void)\n{\n%s}\n", text >(room "/" file)
                close(room "/" file)
                print file, (languages == "" ? "C" : languages)
            }
            given = languages = ""
        }
        /^\.\\" C(, C\+\+)?:/ || /^<!-- C(, C\+\+)?:/ {
            sub(/^[^C]*/, "")
            sub(/ *-->$/, "")
            languages = $0
            sub(/:.*/, "", languages)
            sub(/^[^:]*:/, "")
            given = given $0 "\n"
            next
        }
        inside && (/^\.Ed$/ || /^```$/) { finish(); next }
        inside {
            gsub(/\\e/, "\\")
            gsub(/\\&/, "")
            text = text $0 "\n"
            if (/;( *\/[\/*].*)?$/) is_code = 1
            if (/^\{$/) is_whole = 1
            next
        }
        /^\.Bd -literal -offset indent$/ || /^```c$/ { start(); next }
        { given = languages = "" }
        { is_quote = /^<!-- From / }
    ' "$1"
}

# Write each quotation of a document to a file in $room, and print its name, its kind and the path in it.
extract_quotations() # document
{
    awk -v room="$room" -v page="${1##*/}" '
        inside && /^```$/ { inside = 0; kind = ""; close(room "/" file); print file, is_kind, path; next }
        inside { print >(room "/" file); next }
        /^<!-- (From|Printed by) [^ ]+ -->$/ { kind = $2; path = $(NF - 1); next }
        kind != "" && /^```(c|text)$/ { inside = 1; is_kind = kind; file = page "-quotation-" ++number; next }
        { kind = "" }
    ' "$1"
}

is_quotation() # file, kind, path
{
    if test "$2" = Printed; then
        diff "$top/${3%.c}.txt" "$1" >&2
    else
        awk 'FILENAME == ARGV[1] { part = part $0 "\n"; next }
            { whole = whole $0 "\n" }
            END { exit part == "" || !index("\n" whole, "\n" part) }' "$1" "$top/$3"
    fi
}

# Tell whether a source needs cglm, and it is not installed.
lacks_cglm() # source
{
    grep -q 'espalier/cglm.h' "$1" && ! echo '#include <cglm/cglm.h>' | $CC -fsyntax-only -x c - 2>/dev/null
}

compile_c() # source
{
    # shellcheck disable=SC2086
    $CC -std=c11 $flags -c -o "$room/object.o" "$1" >&2
}

compile_cxx() # source, name
{
    if test $has_cxx = no; then
        skip "$2 as C++" "no C++ compiler"
        return
    fi
    # shellcheck disable=SC2086
    $CXX -std=c++11 $flags -x c++ -c -o "$room/object.o" "$1" >&2
    ok "$2 as C++"
}

for document in "$top"/man/*.[1-9] "$top"/README.md "$top"/guides/*.md; do
    extract "$document"
    extract_quotations "$document" >>"$room/quotations"
done >"$room/list"
test -s "$room/list" && grep -q '^README\.md-1' "$room/list" && grep -q '^espalier.*C++' "$room/list"
ok "the documents have pieces of C, and of C++"
while read -r file languages; do
    if lacks_cglm "$room/$file"; then
        skip "$file" "cglm is not installed"
        continue
    fi
    compile_c "$room/$file"
    ok "$file as C"
    case $languages in
        *C++*) compile_cxx "$room/$file" "$file" ;;
    esac
done <"$room/list"

test "$(grep -c ' From ' "$room/quotations")" -gt 10 && test "$(grep -c ' Printed ' "$room/quotations")" -gt 5
ok "the documents have quotations of programs, and of what they print"
for program in "$top"/examples/battle*.c; do
    for kind in From Printed; do
        grep "^battle.md" "$room/quotations" | grep -q " $kind ${program#"$top/"}\$" ||
            echo "guides/battle.md has nothing of ${program#"$top/"}: $kind"
    done
done >"$room/lacking"
has_no_complaints "$room/lacking"
ok "guides/battle.md quotes each of its programs, and all that it prints"
while read -r file kind path; do
    is_quotation "$room/$file" "$kind" "$path"
    ok "$file is from $path"
done <"$room/quotations"

for program in "$top"/examples/*.c; do
    if lacks_cglm "$program"; then
        skip "${program#"$top/"}" "cglm is not installed"
        continue
    fi
    compile_c "$program"
    ok "${program#"$top/"} as C"
    if sed -n '/^#/q; /^\/\/.*C++/p' "$program" | grep -q .; then
        compile_cxx "$program" "${program#"$top/"}"
    fi
done

# A warning is noticed.
printf '#include <espalier/espalier.h>\nint main(void) { espl_world *w = 0; espl_world_create(0, &w); }\n' \
    >"$room/bad.c"
! compile_c "$room/bad.c" 2>/dev/null
ok "a status that is ignored is noticed"

# So is a quotation with a line that is missing in the program, changed, or not whole.
hello=examples/hello.c
sed -n 10,12p "$top/$hello" >"$room/right"
is_quotation "$room/right" From $hello
ok "lines of a program are a quotation of it"
for change in 2d '2s/$/ /' '1s/^..//'; do
    sed "$change" "$room/right" >"$room/wrong"
    ! is_quotation "$room/wrong" From $hello
    ok "noticed in a quotation: $change"
done
sed 's/lamp/mast/' "$top/examples/hello.txt" >"$room/wrong"
! is_quotation "$room/wrong" Printed $hello 2>/dev/null
ok "noticed in what a program prints: a word"
done_testing
