#!/bin/sh
# SPDX-License-Identifier: MIT
# Long runs of the suites that draw at random, one after the other, from the build directory:
#
#     tests/soak.sh FACTOR SUITE...
#
# Each draws FACTOR times as much as in `make check`; what it says is kept in soak/. Ends with the
# first failure, or with what was done in all.
factor=$1
shift
mkdir -p soak || exit 99
rm -f soak/*.log

for suite in "$@"; do
    log=soak/$(basename "$suite").log
    begin=$(date +%s)
    ESPL_FACTOR=$factor CK_FORK=no CK_DEFAULT_TIMEOUT=0 CK_VERBOSITY=minimal "./$suite" \
        >"$log" 2>&1
    status=$?
    echo "$suite: $(($(date +%s) - begin)) s"
    if test "$status" -ne 0; then
        tail -n 20 "$log"
        exit 1
    fi
done
sh "${srcdir:-.}/tests/figures.sh" soak/*.log
