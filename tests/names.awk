# SPDX-License-Identifier: MIT
# Lists the names that lib/ defines in several files:
#
#     awk -f names.awk SOURCE...
#
# prints a line for each: kind, name, and how often it is defined. The kinds are
#
#     type    a struct, union or enum with its members, or a typedef of something else
#     static  a function of a file, if its bodies differ; an object of a file
#     value   an enumerator outside of functions
#     clash   a name of a typedef in one file that is a function or an object in another one
#
# A definition counts once for each file, because the branches of one #if may each have their own. It
# reads the shape that .clang-format gives the code, by words and the nesting of brackets.

function clear_item()
{
    count = 0
    depth = 0
}

function begin_file()
{
    clear_item()
    in_comment = 0
    in_macro = 0
}

FNR == 1 { begin_file() }

{
    line = $0
    if (in_macro || line ~ /^[ \t]*#/) {
        in_macro = line ~ /\\$/
        next
    }
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    gsub(/'([^'\\]|\\.)*'/, "' '", line)
    sub(/\/\/.*/, "", line)
    while (match(line, /[A-Za-z_0-9]+|[^ \tA-Za-z_0-9]/)) {
        read_word(substr(line, RSTART, RLENGTH))
        line = substr(line, RSTART + RLENGTH)
    }
}

# An item is what stands outside all braces up to a semicolon, or up to the end of a function's body.
function read_word(w)
{
    word[++count] = w
    if (w == "{" || w == "(") {
        depth += 1
    } else if (w == "}" || w == ")") {
        depth -= 1
    }
    if (depth == 0 && (w == ";" || (w == "}" && is_function()))) {
        read_item()
        clear_item()
    }
}

# The end of a group of brackets that begins at word i.
function close_of(i,    nesting)
{
    for (; i <= count; ++i) {
        nesting += word[i] ~ /^[({[]$/ ? 1 : word[i] ~ /^[)}\]]$/ ? -1 : 0
        if (nesting == 0) {
            return i
        }
    }
    return count
}

# The word before the parameters of a function, or 0. What a declaration says by ATTRIBUTE(...) is no
# function; a name that a macro makes is named by the macro's argument.
function name_of_function(    i)
{
    for (i = 1; i < count && word[i] !~ /^[={;[]$/; ++i) {
        if (word[i + 1] == "(" && word[i] ~ /^(__attribute__|_Alignas|_Atomic|__asm__)$/) {
            i = close_of(i + 1)
        } else if (word[i + 1] == "(" && word[i] ~ /^[A-Za-z_]/) {
            return i
        }
    }
    return 0
}

function is_function(    i)
{
    if (word[1] == "typedef" || (i = name_of_function()) == 0) {
        return 0
    }
    i = close_of(i + 1) + 1
    return word[i] == "{" || word[i] == "("
}

function read_item(    i, name, body)
{
    if (word[1] == "extern" && word[2] == "\"") {
        return
    }
    read_record()
    read_enumerators()
    if (word[1] == "typedef") {
        read_typedef()
    } else if (is_static()) {
        i = name_of_function()
        note_ordinary("static", i == 0 ? name_of_object() : word[i] ~ /^[A-Z_]+$/ ? word[i + 2] : word[i])
        if (i == 0) {
            note("static", name_of_object(), FILENAME)
        } else if (word[count] == "}") {
            name = word[i] ~ /^[A-Z_]+$/ ? word[i + 2] : word[i]
            for (body = ""; i <= count; ++i) {
                body = body " " word[i]
            }
            note("static", name, body)
        }
    }
}

# A struct, union or enum with members, which typedef may name as well.
function read_record(    i)
{
    record = ""
    for (i = 1; i + 2 <= count; ++i) {
        if (word[i] == "(") {
            return
        }
        if (word[i] ~ /^(struct|union|enum)$/ && word[i + 2] == "{") {
            record = word[i + 1]
            note("type", record, FILENAME)
            return
        }
    }
}

# The names after the opening brace and after each comma that is in no other brackets.
function read_enumerators(    i, last, nesting)
{
    for (i = 1; i < count && word[i] != "enum"; ++i) {
        if (word[i] ~ /^[({=]$/) {
            return
        }
    }
    for (; i < count && word[i] != "{"; ++i) {
        if (word[i] ~ /^[(;=]$/) {
            return
        }
    }
    last = close_of(i)
    for (; i < last; ++i) {
        nesting += word[i] ~ /^[({[]$/ ? 1 : word[i] ~ /^[)}\]]$/ ? -1 : 0
        if (nesting == 1 && word[i] ~ /^[{,]$/ && word[i + 1] ~ /^[A-Za-z_]/) {
            note("value", word[i + 1], FILENAME)
        }
    }
}

# The name is the last word before the semicolon, its array bounds and its attributes, or the word
# in the parentheses of a pointer to a function.
function read_typedef(    i, name)
{
    for (i = 2; i <= count; ++i) {
        if (word[i] == "{") {
            i = close_of(i)
        } else if (word[i] == "__attribute__") {
            i = close_of(i + 1)
        } else if (word[i] == "(" && word[i + 1] == "*") {
            name = word[i + 2]
            break
        } else if (word[i] == "[") {
            i = close_of(i)
        } else if (word[i] ~ /^[A-Za-z_]/) {
            name = word[i]
        }
    }
    note_ordinary("typedef", name)
    # "typedef struct x x;" declares a type that is defined elsewhere.
    if (name != record && !(word[2] ~ /^(struct|union|enum)$/ && word[3] == name)) {
        note("type", name, FILENAME)
    }
}

function is_static(    i)
{
    for (i = 1; i <= count && word[i] !~ /^[({=]$/; ++i) {
        if (word[i] ~ /^(static|ESPL__INLINE|WIDE_INLINE)$/) {
            return 1
        }
    }
    return 0
}

function name_of_object(    i, name)
{
    for (i = 1; i <= count && word[i] !~ /^[=[;]$/; ++i) {
        if (word[i] ~ /^(_Alignas|_Atomic|__attribute__)$/ && word[i + 1] == "(") {
            i = close_of(i + 1)
        } else if (word[i] == "{") {
            i = close_of(i)
        } else if (word[i] ~ /^[A-Za-z_]/) {
            name = word[i]
        }
    }
    return name
}

# Several definitions in one file are one: the first stands for the others.
function note(kind, name, meaning,    key)
{
    key = kind " " name
    if (name == "" || (key, FILENAME) in seen) {
        return
    }
    seen[key, FILENAME] = 1
    files[key] += 1
    where[key] = where[key] " " FILENAME
    differs[key] = differs[key] || (key in first && first[key] != meaning)
    if (!(key in first)) {
        first[key] = meaning
    }
}

# Typedefs, functions and objects share their names, where struct tags are apart.
function note_ordinary(kind, name)
{
    if (!((name, FILENAME) in ordinary)) {
        ordinary[name, FILENAME] = 1
        ordinary_files[name] = ordinary_files[name] " " FILENAME
        ordinary_count[name] += 1
    }
    is_ordinary[kind, name] = 1
}

END {
    for (name in ordinary_count) {
        if (("typedef", name) in is_ordinary && ("static", name) in is_ordinary) {
            print "clash", name, ordinary_count[name] ordinary_files[name]
        }
    }
    for (key in files) {
        if (differs[key]) {
            print key, files[key] where[key]
        }
    }
}
