# SPDX-License-Identifier: MIT
# Lays the library out as one source file: every header of lib/ once, where it is first included, then
# each source. Variables: mode is "header" for espalier.h and "source" for espalier.c; stb is the path of
# stb_ds.h, and xxhash that of xxhash.h. Arguments: the public headers, or the sources, from the top of the
# source tree.
function print_file(file,    line, name, result)
{
    if (file in printed && file !~ /\.inc$/) {
        return
    }
    printed[file] = 1
    while ((result = (getline line < file)) > 0) {
        if (line ~ /^#[ \t]*include "lib\//) {
            split(line, part, "\"")
            print_file(part[2])
        } else if (line ~ /^#[ \t]*include <espalier\//) {
            name = line
            sub(/.*</, "include/", name)
            sub(/>.*/, "", name)
            if (mode == "header") {
                print_file(name)
            }
        } else if (line ~ /^#[ \t]*include <stb_ds\.h>/) {
            print_file(stb)
        } else if (line ~ /^#[ \t]*include <xxhash\.h>/) {
            print_file(xxhash)
        } else if (line ~ /^#[ \t]*include <config\.h>/) {
            continue
        } else {
            print line
        }
    }
    close(file)
    if (result < 0) {
        print "cannot read " file >"/dev/stderr"
        failed = 1
        exit 1
    }
}

BEGIN {
    for (i = 1; i < ARGC; ++i) {
        print_file(ARGV[i])
    }
    exit failed
}
