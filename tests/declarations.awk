# SPDX-License-Identifier: MIT
# Reads the functions of public headers, for a program that defines declare(): it is called for each function,
# with `text` its declaration in one line, `name`, and argument[1, count].
# With -v forms=1: inline functions as well.
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
    declare()
}
