#!/bin/sh
# SPDX-License-Identifier: MIT
# A file in lib/ includes headers of its own layer or of a lower one; tests/layers.txt holds the
# order. Only one layer or file includes each foreign library, and no public header includes any.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99

awk '
    function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }

    FILENAME == "tests/layers.txt" { height[$1] = $2; next }
    FNR == 1 { split(FILENAME, part, "/"); home = part[1]; layer = part[2] }
    FNR == 1 && home == "lib" && !(layer in height) { complain("layer " layer " is not listed") }
    !/^[ \t]*#[ \t]*include/ { next }

    home == "lib" && match($0, /"lib\/[a-z]+\//) {
        used = substr($0, RSTART + 5, RLENGTH - 6)
        if (!(used in height)) complain("no layer " used)
        else if (height[used] > height[layer]) complain(layer " may not use " used)
        else if (height[used] == height[layer] && used != layer)
            complain(layer " and " used " are at one height and may not use each other")
    }
    home == "lib" && /"/ && !/"lib\// { complain("the path of an own header begins with lib/") }
    home == "lib" && /stb/ && FILENAME != "lib/base/array.c" {
        complain("stb_ds stays in lib/base/array.c")
    }
    home == "lib" && /xxh/ && FILENAME != "lib/value/checksum.c" {
        complain("xxHash stays in lib/value/checksum.c")
    }
    home == "lib" && /pthread/ && layer != "jobs" { complain("threads stay in lib/jobs") }

    # cglm.h is for programs with cglm, which it copies from and to by memcpy().
    home == "include" && FILENAME ~ /\/cglm[.]h$/ && (/<cglm\/cglm[.]h>/ || /<string[.]h>/) { next }
    home == "include" && !/<espalier\/[a-z]+\.h>/ && !/<(stdbool|stddef|stdint)\.h>/ {
        complain("a public header includes only public headers, stdbool, stddef, stdint")
    }
    (home == "tools" || home == "examples") && /"lib\// {
        complain(home " use public headers only")
    }

    END { exit bad }
' tests/layers.txt lib/*/*.[ch] include/espalier/*.h tools/*.[ch] tools/*.cpp examples/*.c
ok "every file includes its own layer or lower ones"

# Builds without configure, as that for Windows, have no config.h.
# list_unguarded FILE...: includes of it that need one.
list_unguarded()
{
    awk '
        /include [<"]config[.]h[>"]/ && last !~ /^#ifdef HAVE_CONFIG_H$/ { printf "%s:%d: %s\n", FILENAME, FNR, $0; bad = 1 }
        { last = $0 }
        END { exit bad }
    ' "$@"
}
# shellcheck disable=SC2046
list_unguarded $(find lib tests tools bench examples -name '*.[ch]' -o -name '*.cpp')
ok "config.h is included where there is one alone"
! printf '#include <config.h>\n' | list_unguarded - >/dev/null
ok "another include of it is noticed"

# list_readers FILE...: where the lists of a definition are read, but by its reader and by the tape, which
# copies the arguments of the call.
list_readers()
{
    awk '
        FILENAME ~ /(change_list|tape)[.]c$/ { next }
        /->(add|remove)([^_[:alnum:]]|$)/ { printf "%s:%d: %s\n", FILENAME, FNR, $0; bad = 1 }
        END { exit bad }
    ' "$@"
}
list_readers lib/*/*.[ch]
ok "one function reads an espl_change_def, espl__change_list_read()"
found=$(echo 'for (size_t i = 0; i < def->add_count; ++i) use(&def->add[i]);' | list_readers -)
test "${found%%:*}" = -
ok "a second reader is noticed"
done_testing
