#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes what find_package(espalier) reads after an installation by the Autotools:
#
#     packaging/cmake-package.sh TEMPLATE [NAME=VALUE]... >FILE
#
# Each @NAME@ of the template becomes its value. The value of a NAME in small letters is a directory: it
# replaces the NAME in capitals, as the path from the directory that "from" names to it.
# shellcheck disable=SC2016 # the words of awk are its own
set -eu
: "${AWK:=awk}"
template=$1
shift
LC_ALL=C exec $AWK '
    # find_path(from, to): the relative path between two absolute ones.
    function find_path(from, to,    i, a, b, n, m, path)
    {
        gsub(/\/+/, "/", from)
        gsub(/\/+/, "/", to)
        n = split(substr(from, 2), a, "/")
        m = split(substr(to, 2), b, "/")
        for (i = 1; i <= n && i <= m && a[i] == b[i]; ++i) continue
        path = ""
        for (n = n - i + 1; n > 0; --n) path = path "../"
        for (; i <= m; ++i) path = path b[i] "/"
        sub(/\/$/, "", path)
        return path == "" ? "." : path
    }
    BEGIN {
        for (i = 2; i < ARGC; ++i) {
            name = value = ARGV[i]
            sub(/=.*/, "", name)
            sub(/^[^=]*=/, "", value)
            if (name == "from") from = value
            else if (name == tolower(name)) values[toupper(name)] = find_path(from, value)
            else values[name] = value
            delete ARGV[i]
        }
    }
    {
        line = ""
        while (match($0, /@[A-Z]+@/)) {
            name = substr($0, RSTART + 1, RLENGTH - 2)
            if (!(name in values)) {
                printf "cmake-package.sh: no value for %s\n", name >"/dev/stderr"
                exit 1
            }
            line = line substr($0, 1, RSTART - 1) values[name]
            $0 = substr($0, RSTART + RLENGTH)
        }
        print line $0
    }' "$template" "$@"
