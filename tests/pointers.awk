# SPDX-License-Identifier: MIT
# Prints "function parameter" for each pointer that an exported function takes, of the public headers.
# With -v forms=1: of the inline forms in them as well.
/^ESPL_API/ || (forms && /^static inline/) { text = ""; on = 1 }
on {
    line = $0
    sub(/\/\/.*/, "", line)
    text = text " " line
}
on && (line ~ /;[ \t]*$/ || line ~ /\)$/) {
    on = 0
    gsub(/[ \t]+/, " ", text)
    name = text
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    arguments = substr(text, index(text, "(") + 1)
    sub(/\)(;.*)?$/, "", arguments)
    count = split(arguments, argument, /, */)
    for (i = 1; i <= count; ++i) {
        if (argument[i] !~ /[*[]/) continue
        parameter = argument[i]
        sub(/\(\*/, "", parameter)
        sub(/[[)].*/, "", parameter)
        sub(/.*[ *]/, "", parameter)
        print name, parameter
    }
}
