# SPDX-License-Identifier: MIT
# Prints a line for each function of declarations.awk: "exported NAME" or "inline NAME"; and "order NAME PARAMETER"
# where an input comes behind an output. Outputs are pointers to what is not const. A first parameter that is
# no number and is not called out is the object of the call. The size or the stride of an output may follow it.
function declare(    i, is_output, has_output)
{
    print (text ~ /ESPL_API/ ? "exported" : "inline"), name
    for (i = 1; i <= count; ++i) {
        is_output = argument[i] ~ /[*[]/ && argument[i] !~ /^const /
        if (i == 1 && argument[i] !~ /^float |[ *]out$/) continue
        if (is_output) has_output = 1
        else if (has_output && argument[i] !~ /^size_t (out_stride|size)$/) print "order", name, argument[i]
    }
}
