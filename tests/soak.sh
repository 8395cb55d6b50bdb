#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the random suites for a long time, one after the other, from the build directory:
#
#     tests/soak.sh FACTOR SUITE...
#
# Each suite runs FACTOR times as many operations as in `make check`, and its output is kept in soak/. The
# script ends at the first failure, or prints the sums of what the suites did.
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
