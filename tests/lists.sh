#!/bin/sh
# SPDX-License-Identifier: MIT
# Makefile.am holds the list of the library's sources, and configure.ac its version and the version of its
# interface. The builds by CMake and meson have the same list and the same versions.
#
# "tests/lists.sh --write", from the top of the source tree, writes both lists.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99
# shellcheck source=packaging/lib.sh
. packaging/lib.sh

# build_with_list BUILD: the file with the list that it must have.
build_with_list()
{
    list_sources . | awk -v build="$1" '
        BEGIN {
            is_cmake = build == "CMakeLists.txt"
            line = is_cmake ? "  %s\n" : "  \047%s\047,\n"
        }
        FILENAME == "-" { list = list sprintf(line, $0); next }
        /^# end of sources$/ { is_inside = 0 }
        !is_inside
        /^# begin of sources$/ {
            is_inside = 1
            print (is_cmake ? "set(espalier_sources" : "sources = files(")
            printf "%s)\n", list
        }' - "$1"
}

if test "${1-}" = --write; then
    for build in CMakeLists.txt meson.build; do
        text=$(build_with_list "$build") && printf '%s\n' "$text" >"$build" || exit
    done
    exit
fi

# The rotation of .ci/run has each way of a consumer once.
ways=$(sed -n 's/^try \([a-z0-9-]*\) .*/\1/p' tests/consumers.sh | sort)
test "$(echo "$ways" | wc -l)" -gt 10 &&
    test "$ways" = "$(sed -n 's/^ways_[a-z]*=(\(.*\))$/\1/p' .ci/run | tr ' ' '\n' | sort)"
ok ".ci/run tries each way of a consumer"

test "$(list_sources . | wc -l)" -gt 50
ok "Makefile.am lists the sources"
# GROWTH in espalier(3) names each struct that ends with reserved words.
growing=$(cat include/espalier/*.h | awk '
    /^typedef struct espl_[a-z_]* \{/ { name = $3 }
    /^    uintptr_t reserved\[/ && name != "" { print name; name = "" }' | sort)
named=$(sed -n '/^These structures grow/,/^\.Vt espl_custom_calls/s/^\.Vt \(espl_[a-z_]*\).*/\1/p' \
    man/espalier.3 | grep -v '^espl_custom_calls$' | sort -u)
test "$(echo "$growing" | wc -l)" -gt 15 && test "$growing" = "$named"
ok "GROWTH in espalier(3) names the structs that have reserved words"
# The page of the library and README.md name each example; the tutorial has those of the battle.
missing=$(for page in man/espalier.3 README.md; do
    for file in examples/*.c; do
        name=${file##*/}
        case $name in battle*) ;; *) grep -q "\<$name\>" "$page" || echo "# $page lacks $name" ;; esac
    done
done)
test -z "$missing"
ok "pages name each example"
test -z "$missing" || echo "$missing"
for build in CMakeLists.txt meson.build; do
    difference=$(build_with_list "$build" | diff "$build" -)
    test -z "$difference"
    ok "$build lists the same sources"
    printf '%s' "$difference" | sed 's/^/# /'
done
version=$(print_release .)
test -n "$version" && grep -q "^project(espalier VERSION $version " CMakeLists.txt
ok "CMakeLists.txt has the version of configure.ac"
test -n "$version" && grep -q "^project('espalier', 'c', version: '$version'," meson.build
ok "meson.build has the version of configure.ac"
# libtool's current:revision:age is the file libespalier.so.(current - age).age.revision on these systems.
numbers=$(sed -n 's/^AC_SUBST(\[ESPL_LT_VERSION\], \[\([0-9]*:[0-9]*:[0-9]*\)\])$/\1/p' configure.ac |
    awk -F: '{ print $1 - $3, $1 - $3 "." $3 "." $2 }')
test -n "$numbers" && grep -q "^  VERSION ${numbers#* } SOVERSION ${numbers% *})" CMakeLists.txt
ok "CMakeLists.txt has the soname of configure.ac"
test -n "$numbers" && grep -q "soversion: '${numbers% *}', version: '${numbers#* }'" meson.build
ok "meson.build has the soname of configure.ac"
done_testing
