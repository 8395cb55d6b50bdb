#!/bin/sh
# SPDX-License-Identifier: MIT
# Every example runs to its end; each says by its exit status whether its own claims held.
for program in $EXAMPLES; do
    echo "== $program"
    "./$program" || { echo "$program: exit status $?"; exit 1; }
done
