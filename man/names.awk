# SPDX-License-Identifier: MIT
# Print the public names that manual pages of section 3 describe, one a line: name, page, kind.
#
#     awk -f man/names.awk man/*.[1-9]
#
# A page documents the functions and macros (.Fo, .Fn) and the types (.Vt) that its SYNOPSIS lists, and
# the names beside its own (.Nm) in its NAME section. These are of kind function, macro or type. A
# constant (.Dv) may be described by several pages: it heads an item of a list there.
FNR == 1 {
    page = FILENAME
    sub(/.*\//, "", page)
    section = ""
}

# Pages of other sections explain functions, but do not document them.
page !~ /\.3$/ { next }

/^\.Sh / { section = substr($0, 5) }

section == "NAME" && $1 == ".Nm" { note($2) }
section == "SYNOPSIS" && ($1 == ".Fo" || $1 == ".Fn") { note($2) }
section == "SYNOPSIS" && $1 == ".Vt" && is_name($NF) { print $NF, page, "type" }
section != "SYNOPSIS" && $1 == ".It" && $2 == "Dv" {
    for (i = 3; i <= NF; ++i) {
        if (is_name($i)) print $i, page, "constant"
    }
}

# A word with the prefix of the library.
function is_name(word)
{
    return word ~ /^[Ee][Ss][Pp][Ll]_[A-Za-z0-9_]+$/
}

function note(word)
{
    if (is_name(word)) print word, page, word ~ /^ESPL_/ ? "macro" : "function"
}
