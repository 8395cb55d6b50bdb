#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that was built with the last release runs with this library, as long as their sonames are equal.
# tests/abi/ holds a description of that release: by abidw, of the exported functions and of the layout of
# each type that they take, for one architecture; and the values of all constants of the headers. abidiff
# finds what was removed or changed. What was added is no difference: neither functions, nor constants, nor
# fields at the end of a structure that GROWTH in espalier(3) says grows.
#
# "make abi" rewrites both, from the library of the build directory. CONTRIBUTING.md says when.
# shellcheck source-path=SCRIPTDIR disable=SC2016 # the words of awk are its own
. "${srcdir:-.}/tests/tap.sh"
source=${srcdir:-.}
: "${CC=cc}" "${AWK=awk}"
LC_ALL=C
export LC_ALL
shared=.libs/libespalier.so
machine=$($CC -dumpmachine | sed "s/-.*//")
stored=$source/tests/abi/libespalier.$machine.abi
constants=$source/tests/abi/constants.txt
room=$(mktemp -d ./abi.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

# describe: the description of the library of this build, without paths of the machine.
describe()
{
    abidw --exported-interfaces-only --headers-dir "$source/include/espalier" --drop-private-types \
        --drop-undefined-syms --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
        --no-write-default-sizes --type-id-style hash "$shared" |
        sed "s,^\( *<abi-instr .*path='\)[^']*/lib/,\1lib/,"
}

# list_growing: the structures that GROWTH in espalier(3) says grow.
list_growing()
{
    sed -n '/^These structures grow/,/^All other structures never grow/s/^\.Vt \(espl_[a-z_]*\).*/\1/p' \
        "$source/man/espalier.3"
}

# cut_to OLD NEW: print the description NEW with the structures that grow cut to their sizes in OLD: fields
# behind that size are left out, because a program that was built with OLD does not know them.
cut_to()
{
    list_growing | $AWK '
        function value(name)
        {
            if (!match($0, " " name "=\047[^\047]*")) { return "" }
            return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
        }
        FILENAME == "-" { grows[$1] = 1; next }
        FILENAME == ARGV[2] {
            if (/<class-decl / && value("name") in grows) { size[value("name")] = value("size-in-bits") }
            next
        }
        /<class-decl / && !/\/>$/ {
            limit[++depth] = 0
            name = value("name")
            if (name in size && value("size-in-bits") + 0 > size[name] + 0) {
                limit[depth] = size[name]
                sub(/ size-in-bits=\047[0-9]*\047/, " size-in-bits=\047" size[name] "\047")
            }
        }
        /<data-member / && limit[depth] && value("layout-offset-in-bits") + 0 >= limit[depth] + 0 { skips = 1 }
        !skips
        /<\/data-member>/ { skips = 0 }
        /<\/class-decl>/ { --depth }' - "$1" "$2"
}

# compare FILE: nothing that the stored description has is missing or different in FILE. The status is 1
# where something is, and 2 where the two cannot be compared.
compare()
{
    cut_to "$stored" "$1" >"$room/cut.abi" || return 2
    abidiff --no-added-syms --no-show-locs "$stored" "$room/cut.abi" >"$room/report" 2>&1
    status=$?
    test $((status & 3)) -eq 0 || return 2
    test "$status" -eq 0
}

# breaks FILE WORD: FILE differs, and the report has the word.
breaks()
{
    compare "$1"
    test $? -eq 1 && grep -q -e "$2" "$room/report"
}

# list_constants: name and value of each constant of the headers: the enumerators, and the macros without
# parameters that are numbers. Versions change with each release.
list_constants()
{
    for header in "$source"/include/espalier/*.h; do
        echo "#include \"espalier/${header##*/}\""
    done >"$room/headers.c"
    {
        $CC -E -dM -I"$source/include" "$room/headers.c" |
            sed -n 's/^#define \(ESPL_[A-Z0-9_]*\) [(0-9A-Z].*/\1/p'
        $CC -E -P -I"$source/include" "$room/headers.c" | tr -s '\n ' '  ' |
            grep -oE 'enum [a-z_]*( )?\{[^}]*\}' | grep -oE 'ESPL_[A-Z0-9_]+ ?[=,}]' | tr -d ' =,}'
    } | grep -vxE 'ESPL_(API|NODISCARD|NULL_|SITE|TAPE_VERSION|VERSION_[A-Z]*)' | sort -u >"$room/names"
    {
        printf '#include <stdio.h>\n'
        cat "$room/headers.c"
        printf 'int main(void)\n{\n'
        sed 's/.*/    printf("%s %lld\\n", "&", (long long)&);/' "$room/names"
        printf '    return 0;\n}\n'
    } >"$room/constants.c"
    $CC -I"$source/include" -o "$room/constants" "$room/constants.c" && "$room/constants"
}

# compare_constants FILE: each line of the stored list is in FILE.
compare_constants()
{
    sort "$1" >"$room/sorted"
    sort "$constants" | comm -23 - "$room/sorted" >"$room/report"
    test ! -s "$room/report"
}

# describes_growing: the stored description has each structure that grows.
describes_growing()
{
    test "$(list_growing | sort -u | wc -l)" -gt 15 || return
    for name in $(list_growing); do
        grep -q "<class-decl name='$name' size-in-bits=" "$stored" || return
    done
}

explain()
{
    sed 's/^/# /' "$room/report"
    echo '# The change breaks programs that are linked with the last release: CONTRIBUTING.md, section'
    echo '# "The binary interface", says what to do.'
}

# Why this build cannot be described; empty if it can.
missing=
if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
    missing="needs abidw and abidiff (Debian: abigail-tools)"
elif test ! -f "$shared" || test ! -f libespalier.map; then
    missing="no shared library with symbol versions"
elif ! describe >"$room/new.abi" || ! grep -q "<class-decl name='espl_entity' " "$room/new.abi"; then
    missing="the library has no debug information"
fi

if test "${1-}" = --write; then
    test -z "$missing" || { echo "$0: $missing" >&2 && exit 1; }
    cp "$room/new.abi" "$stored" && list_constants >"$constants"
    exit
fi

list_constants >"$room/new.txt"
test "$(wc -l <"$room/new.txt")" -gt 100 && compare_constants "$room/new.txt"
ok "each constant has the value of the last release"
sed 's/^ESPL_ERR_DEAD .*/ESPL_ERR_DEAD -99/' "$room/new.txt" >"$room/changed"
! compare_constants "$room/changed" && test "$(cat "$room/report")" = "ESPL_ERR_DEAD -4"
ok "a changed constant is found"

if test -n "$missing" || test ! -f "$stored"; then
    skip "the library fits programs of the last release" "${missing:-no description for $machine}"
    done_testing
fi
compare "$room/new.abi"
ok "the library fits programs of the last release"
describes_growing
ok "the description has each structure that grows"

# plant FUNCTION: the new description with a change, by a function of awk that may print and change the line.
# It sees the name of the structure or the function around, and the offset of the field, if there is one.
plant()
{
    $AWK -v size_type="$size_type" '
        function member(name, offset)
        {
            print "<data-member access=\047public\047 layout-offset-in-bits=\047" offset "\047>"
            print "<var-decl name=\047" name "\047 type-id=\047" size_type "\047 visibility=\047default\047/>"
            print "</data-member>"
        }
        function enlarge(bits)
        {
            match($0, /size-in-bits=\047[0-9]*/)
            size = substr($0, RSTART + 14, RLENGTH - 14)
            sub(/size-in-bits=\047[0-9]*/, "size-in-bits=\047" size + bits)
        }
        function '"$1"'
        /<(class|function)-decl / { match($0, / name=\047[^\047]*/); around = substr($0, RSTART + 7, RLENGTH - 7) }
        /layout-offset-in-bits=/ { match($0, /bits=\047[0-9]*/); offset = substr($0, RSTART + 6, RLENGTH - 6) + 0 }
        { gone = 0; change(); if (!gone) { print } }' "$room/new.abi" >"$room/planted.abi" &&
        ! cmp -s "$room/new.abi" "$room/planted.abi"
}

# type_id NAME: the identifier of a type in the description.
type_id()
{
    sed -n "s/.*<typedef-decl name='$1'.* id='\([^']*\)'.*/\1/p" "$room/new.abi" | head -n 1
}

size_type=$(type_id size_t)
short_type=$(type_id uint32_t)
plant 'change() {
    if (around == "espl_query_def" && /<class-decl/) { enlarge(64) }
    if (around == "espl_query_def" && /<\/class-decl>/) { member("planted", size); around = "" }
}' && grep -q planted "$room/planted.abi" && compare "$room/planted.abi"
ok "a field at the end of a structure that grows is no break"
plant 'change() {
    if (around == "espl_query_def" && /<class-decl/) { enlarge(64) }
    if (around == "espl_query_def" && /name=.since./) { sub(/type-id=\047[^\047]*/, "type-id=\047'"$short_type"'") }
    if (around == "espl_query_def" && /<\/class-decl>/) { member("planted", size); around = "" }
}' && breaks "$room/planted.abi" "type of 'uint64_t since' changed"
ok "but a change of another field beside it is one"
plant 'change() {
    if (around == "espl_query_def" && /<class-decl/) { enlarge(64) }
    if (around == "espl_query_def" && /<data-member/ && offset >= 64) {
        if (offset == 64) { member("planted", 64) }
        sub(/bits=\047[0-9]*/, "bits=\047" offset + 64)
    }
}' && breaks "$room/planted.abi" "planted"
ok "a field before others is a break"
plant 'change() {
    if (around == "espl_transform" && /<class-decl/) { enlarge(64) }
    if (around == "espl_transform" && /<\/class-decl>/) { member("planted", size); around = "" }
}' && breaks "$room/planted.abi" "planted"
ok "a field of a structure that does not grow is a break"
plant 'change() {
    gone = around == "espl_play" || /<elf-symbol name=\047espl_play\047/
    if (/<\/function-decl>/) { around = "" }
}' && breaks "$room/planted.abi" espl_play
ok "a function that is missing is a break"
plant 'change() {
    if (/<elf-symbol name=\047espl_play\047/) { print; sub(/espl_play/, "espl_planted") }
}' && compare "$room/planted.abi"
ok "a new function is none"
plant 'change() {
    if (/<elf-symbol name=\047espl_play\047/) { sub(/ESPALIER_[0-9.]*/, "ESPALIER_99.1") }
}' && breaks "$room/planted.abi" espl_play@@ESPALIER
ok "another symbol version of a function is a break"
plant 'change() {
    if (around == "espl_play" && /<return/) { print "<parameter type-id=\047" size_type "\047/>" }
}' && breaks "$room/planted.abi" espl_play
ok "another parameter of a function is a break"
plant 'change() { sub(/soname=\047[^\047]*/, "soname=\047libespalier.so.99") }' &&
    breaks "$room/planted.abi" SONAME
ok "a description of another soname is out of date"
done_testing
