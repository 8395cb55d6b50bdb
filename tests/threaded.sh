#!/bin/sh
# SPDX-License-Identifier: MIT
# Print which of the given suites can start a thread, because a function that starts one is linked in.
# ThreadSanitizer can find nothing in the others.
#
#     tests/threaded.sh SUITE...
NM=${NM-nm}

for suite; do
    symbols=$($NM "$suite") || exit
    case "$symbols" in
        *" T espl_executor_create"* | *" U pthread_create"*) echo "$suite" ;;
    esac
done
