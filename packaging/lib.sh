# SPDX-License-Identifier: MIT
# Functions that read the source tree, for scripts that build from it. TOP is the top of that tree.
# shellcheck shell=sh

# find_stb FLAGS: print the folder of stb_ds.h, which is one of the -I options of FLAGS or one of Debian.
find_stb()
{
    for folder in $(printf '%s\n' "$1" | sed 's/-I//g') /usr/include/stb /usr/include; do
        if test -e "$folder/stb_ds.h"; then
            printf '%s\n' "$folder"
            return
        fi
    done
    echo "stb_ds.h is not found (Debian: libstb-dev)" >&2
    return 1
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
