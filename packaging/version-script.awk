# SPDX-License-Identifier: MIT
# From lib/espalier.sym, the linker's version script: what the shared library exports, and in which symbol
# version. Autotools, CMake and meson run
#
#     awk -f packaging/version-script.awk lib/espalier.sym >libespalier.map
#
# A line of lib/espalier.sym is the name of an exported function. A function that a release after 0.2 adds
# has that release behind its name: "espl_example 0.3". It gets the symbol version ESPALIER_0.3, and every
# other function keeps the version that programs were linked with. Releases are listed in ascending order
# by their numbers, each as the successor of the one before.

function complain(text)
{
    printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
    is_bad = 1
    exit 1
}

# Where two releases are numbers apart: 0.10 comes after 0.9.
function place_of(release,    part)
{
    split(release, part, ".")
    return part[1] * 1000 + part[2]
}

BEGIN { first = "0.2" }

NF == 0 || NF > 2 || $1 !~ /^espl_[a-z0-9][a-z0-9_]*$/ { complain("not the name of a function: " $0) }
$1 in is_listed { complain($1 " is listed twice") }
NF == 2 && ($2 !~ /^[0-9]+\.[0-9]+$/ || place_of($2) <= place_of(first)) {
    complain($2 " is not a release after " first)
}

{
    release = NF == 2 ? $2 : first
    is_listed[$1] = 1
    if (!(release in names)) {
        releases[++count] = release
    }
    names[release] = names[release] "        " $1 ";\n"
}

END {
    if (is_bad) {
        exit 1
    }
    for (i = 2; i <= count; ++i) {
        release = releases[i]
        for (j = i - 1; j >= 1 && place_of(releases[j]) > place_of(release); --j) {
            releases[j + 1] = releases[j]
        }
        releases[j + 1] = release
    }
    for (i = 1; i <= count; ++i) {
        printf "ESPALIER_%s {\n    global:\n%s", releases[i], names[releases[i]]
        printf "%s", i == 1 ? "    local:\n        *;\n" : ""
        printf "}%s;\n", i == 1 ? "" : " ESPALIER_" releases[i - 1]
    }
}
