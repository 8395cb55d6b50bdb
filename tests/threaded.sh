#!/bin/sh
# SPDX-License-Identifier: MIT
# Print which of the suites given can start a thread: a function that starts one is linked in. They
# are all that ThreadSanitizer has anything to say of.
#
#     tests/threaded.sh SUITE...
NM=${NM-nm}

for suite; do
    program=$suite
    test -f "$(dirname "$suite")/.libs/$(basename "$suite")" &&
        program=$(dirname "$suite")/.libs/$(basename "$suite")
    symbols=$($NM "$program") || exit
    case "$symbols" in
        *" T espl_executor_create"* | *" U pthread_create"*) echo "$suite" ;;
    esac
done
