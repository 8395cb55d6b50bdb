# SPDX-License-Identifier: MIT
# Prints "function parameter" for each pointer that a function of declarations.awk takes.
function declare(    i, parameter)
{
    for (i = 1; i <= count; ++i) {
        if (argument[i] !~ /[*[]/) continue
        parameter = argument[i]
        sub(/\(\*/, "", parameter)
        sub(/[[)].*/, "", parameter)
        sub(/.*[ *]/, "", parameter)
        print name, parameter
    }
}
