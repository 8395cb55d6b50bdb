# SPDX-License-Identifier: MIT
# Functions that read the source tree, for scripts that build from it. TOP is the top of that tree.
# shellcheck shell=sh

# find_header NAME FLAGS: print the path of a header that the library is built with. Its folder is one of the -I
# options of FLAGS or one of Debian.
find_header()
{
    for folder in $(printf '%s\n' "$2" | sed 's/-I//g') /usr/include/stb /usr/include; do
        if test -e "$folder/$1"; then
            printf '%s\n' "$folder/$1"
            return
        fi
    done
    echo "$1 is not found (Debian: libstb-dev and libxxhash-dev)" >&2
    return 1
}

# link_headers FOLDER FLAGS: make a folder of these headers alone, for compilers for other machines: they must
# not find other headers of this machine.
link_headers()
{
    mkdir "$1" || return
    for name in stb_ds.h xxhash.h; do
        path=$(find_header "$name" "$2") && ln -s "$path" "$1" || return
    done
}

# print_release TOP: print the version of configure.ac.
print_release()
{
    sed -n 's/^AC_INIT(\[espalier\], \[\([0-9.]*\)\])$/\1/p' "$1/configure.ac"
}

# list_sources TOP: print the sources of the library, one a line.
list_sources()
{
    sed -n '/^libespalier_core_la_SOURCES/,/[^\\]$/p' "$1/Makefile.am" | grep -o 'lib/[a-z_/]*\.c'
}
