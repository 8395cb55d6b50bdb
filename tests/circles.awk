# SPDX-License-Identifier: MIT
# Finds the circles of calls among sources:
#
#     awk -v limit=N -f circles.awk SOURCE...
#
# A source and the header of its name are one unit, because the inline functions of a header are part
# of what its source implements. Unit A calls unit B where a function, a macro with arguments or an
# initialiser of A names a function or a macro with arguments that B defines: a function that is
# passed on is called as well. A circle is a largest set of units of which each one calls each other
# one, directly or through others of the set. For each circle of more than `limit` units, a line
#
#     circle COUNT UNIT...
#
# is printed, and after it the calls within it, one for each pair of units:
#
#     call UNIT UNIT FUNCTION FUNCTION
#
# Only names that are shared, which begin with espl_ or ESPL_, are looked at. The shape that
# .clang-format gives the code is relied on.

function begin_file()
{
    unit = FILENAME
    sub(/\.[a-z]+$/, "", unit)
    if (!(unit in is_unit)) {
        is_unit[unit] = 1
        units[++unit_count] = unit
    }
    braces = parens = in_macro = 0
    begin_item()
}

# An item is what stands outside all brackets up to a semicolon, or up to the end of a function.
function begin_item()
{
    name = before = ""
    parens = is_typedef = has_value = is_function = 0
}

FNR == 1 { begin_file() }

{
    line = $0
    if (!in_macro && line ~ /^[ \t]*#/) {
        in_macro = 1
        macro = ""
        if (match(line, /^[ \t]*#[ \t]*define[ \t]+ESPL_[A-Za-z0-9_]*\(/)) {
            macro = substr(line, RSTART, RLENGTH - 1)
            sub(/.*[ \t]/, "", macro)
            line = substr(line, RSTART + RLENGTH)
            home[macro] = unit
        }
    }
    is_last_of_macro = line !~ /\\$/
    # In most lines of comments nothing else stands.
    if (line ~ /^[ \t]*\/\//) {
        line = ""
    }
    gsub(/"([^"\\]|\\.)*"/, "", line)
    gsub(/'([^'\\]|\\.)*'/, "", line)
    sub(/\/\/.*/, "", line)
    if (in_macro) {
        if (macro != "") {
            read_names(line, macro)
        }
        in_macro = !is_last_of_macro
        next
    }
    read_line(line)
}

function read_names(text, caller,    w)
{
    while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
        w = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        note_use(w, caller)
    }
}

function read_line(text,    w)
{
    # Fast path: a line inside a function that neither begins nor ends a block.
    if (is_function && text !~ /[{}]/) {
        read_names(text, name)
        return
    }
    while (match(text, /[A-Za-z_][A-Za-z_0-9]*|[(){};=]/)) {
        w = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        read_word(w)
    }
}

function read_word(w)
{
    if (w == "{") {
        if (braces == 0 && parens == 0 && name != "" && !is_typedef && !has_value) {
            is_function = 1
            home[name] = unit
        }
        braces += 1
    } else if (w == "}") {
        braces -= 1
        if (braces == 0 && is_function) {
            begin_item()
        }
    } else if (w == "(") {
        # The first word before a parenthesis names a function, but for attributes.
        if (braces == 0 && parens == 0 && name == "" &&
            before !~ /^(__attribute__|_Alignas|_Atomic|_Static_assert|)$/) {
            name = before
        }
        parens += 1
    } else if (w == ")") {
        parens -= 1
    } else if (w == ";") {
        if (braces == 0 && parens == 0) {
            begin_item()
        }
    } else if (w == "=") {
        if (braces == 0 && parens == 0) {
            has_value = 1
        }
    } else {
        is_typedef = is_typedef || w == "typedef"
        if (is_function || has_value) {
            note_use(w, is_function ? name : "a table")
        }
        before = w
    }
}

function note_use(w, caller,    key)
{
    if (w !~ /^(espl_|ESPL_)/) {
        return
    }
    key = unit SUBSEP w
    if (!(key in user)) {
        user[key] = caller
    }
}

# Pairs of units of which the first calls the second.
function join_units(    key, part, from, to)
{
    for (key in user) {
        split(key, part, SUBSEP)
        from = part[1]
        to = home[part[2]]
        if (to == "" || to == from) {
            continue
        }
        # The first name in the order of the alphabet, so that each awk prints the same.
        if (!((from, to) in called)) {
            callees[from] = callees[from] " " to
            called[from, to] = part[2]
        } else if (part[2] < called[from, to]) {
            called[from, to] = part[2]
        }
    }
}

# Mark all units that a unit reaches by calls.
function reach(from,    queue, begin, end, list, count, i)
{
    queue[end = 1] = from
    for (begin = 1; begin <= end; ++begin) {
        count = split(callees[queue[begin]], list, " ")
        for (i = 1; i <= count; ++i) {
            if (!((from, list[i]) in reaches)) {
                reaches[from, list[i]] = 1
                queue[++end] = list[i]
            }
        }
    }
}

function print_circle(first,    circle, count, i, k, line)
{
    for (i = 1; i <= unit_count; ++i) {
        if ((first, units[i]) in reaches && (units[i], first) in reaches) {
            circle[++count] = units[i]
            is_listed[units[i]] = 1
            line = line " " units[i]
        }
    }
    if (count <= limit) {
        return
    }
    print "circle " count line
    for (i = 1; i <= count; ++i) {
        for (k = 1; k <= count; ++k) {
            line = called[circle[i], circle[k]]
            if (line != "") {
                print "call", circle[i], circle[k], user[circle[i], line], line
            }
        }
    }
}

END {
    join_units()
    for (i = 1; i <= unit_count; ++i) {
        reach(units[i])
    }
    for (i = 1; i <= unit_count; ++i) {
        if ((units[i], units[i]) in reaches && !(units[i] in is_listed)) {
            print_circle(units[i])
        }
    }
}
