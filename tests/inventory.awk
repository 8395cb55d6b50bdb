# SPDX-License-Identifier: MIT
# Reads public headers and prints a line for each function: "exported NAME" or "inline NAME"; and "order NAME
# PARAMETER" where an input comes behind an output. Outputs are pointers to what is not const. A first
# parameter that is no number and is not called out is the object of the call. The size or the stride of an
# output may follow it.
/^(ESPL_API|static inline)/ { text = ""; on = 1 }
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
    print (text ~ /ESPL_API/ ? "exported" : "inline"), name
    arguments = substr(text, index(text, "(") + 1)
    sub(/\)(;.*)?$/, "", arguments)
    count = split(arguments, argument, /, */)
    has_output = 0
    for (i = 1; i <= count; ++i) {
        is_output = argument[i] ~ /[*[]/ && argument[i] !~ /^const /
        if (i == 1 && argument[i] !~ /^float |[ *]out$/) continue
        if (is_output) has_output = 1
        else if (has_output && argument[i] !~ /^size_t (out_stride|size)$/) print "order", name, argument[i]
    }
}
