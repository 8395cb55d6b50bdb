# SPDX-License-Identifier: MIT
# Lists the mutants of a source of C: what is changed, at which place, into what.
#
#     awk -v name=lib/tree/nodes.c -f mutants.awk SOURCE
#
# prints a line for each, of fields that a tab parts: name, line, kind, offset of the first character
# that changes, counted from 1, how many there are, what they are, what they become. Of a condition
# or a statement that goes, what it becomes is a word in parentheses, which apply.awk knows.
#
# Only code has mutants. These have none, for nothing that a program promises depends on them:
#
#     comments, strings, lines of the preprocessor
#     enum, struct, union and typedef          what else would a test compare them with
#     ESPL_CHECK(), ESPL_CHECK_FULL(), _Static_assert()
#                                              a second net, which holds in no sound program
#     __builtin_prefetch(), functions named ask_for_...() or ...prefetch...()
#                                              a prefetch changes time alone
#
# It knows the shape of this repository's code, which .clang-format gives it: a binary operator has a
# blank on each side, a unary one has none behind it.

BEGIN {
    turn("relation", "< <= <= < > >= >= > == != != ==")
    turn("logic", "&& || || &&")
    turn("bits", "& | | & ^ & |= &= &= |= ^= |= << >> >> <<")
    turn("arithmetic", "+ - - + * + / * % / += -= -= += *= += /= *= ++ -- -- ++")
}

{ source = source $0 "\n" }

END {
    LENGTH = length(source)
    for (i = 1; i <= LENGTH; ++i) {
        at[i] = substr(source, i, 1)
    }
    blank_text()
    blank_directives()
    blank_calls()
    blank_blocks()
    code = ""
    for (i = 1; i <= LENGTH; i += 64) {
        piece = ""
        for (k = i; k < i + 64 && k <= LENGTH; ++k) {
            piece = piece at[k]
        }
        code = code piece
    }
    line = 1
    for (i = 1; i <= LENGTH; ++i) {
        line_of[i] = line
        line += at[i] == "\n"
    }
    list_tokens()
    list_conditions()
    list_statements()
}

# Operators by pairs: one, and what it becomes.
function turn(kind, pairs,    i, list, count)
{
    count = split(pairs, list, " ")
    for (i = 1; i < count; i += 2) {
        turned[list[i]] = list[i + 1]
        kind_of[list[i]] = kind
    }
}

# Put blanks for all characters [from, to] but the ends of lines.
function blank(from, to,    i)
{
    for (i = from; i <= to; ++i) {
        if (at[i] != "\n") {
            at[i] = " "
        }
    }
}

# Comments, strings and characters.
function blank_text(    i, from, pair)
{
    for (i = 1; i <= LENGTH; ++i) {
        pair = at[i] at[i + 1]
        from = i
        if (pair == "//") {
            while (i <= LENGTH && at[i] != "\n") {
                ++i
            }
            blank(from, i - 1)
        } else if (pair == "/*") {
            for (i += 2; i < LENGTH && at[i] at[i + 1] != "*/"; ++i) {
            }
            blank(from, ++i)
        } else if (at[i] == "\"" || at[i] == "'") {
            for (++i; i <= LENGTH && at[i] != at[from]; ++i) {
                i += at[i] == "\\"
            }
            blank(from, i)
        }
    }
}

function blank_directives(    i, from, is_start)
{
    is_start = 1
    for (i = 1; i <= LENGTH; ++i) {
        if (is_start && at[i] == "#") {
            from = i
            while (i <= LENGTH && (at[i] != "\n" || at[i - 1] == "\\")) {
                ++i
            }
            blank(from, i - 1)
        }
        is_start = at[i] == "\n" || (is_start && at[i] == " ")
    }
}

# Where the parenthesis, bracket or brace at an offset is closed.
function close_of(i, opening, closing,    depth)
{
    for (depth = 0; i <= LENGTH; ++i) {
        depth += (at[i] == opening) - (at[i] == closing)
        if (depth == 0) {
            return i
        }
    }
    return LENGTH
}

function word_at(i,    from)
{
    if (at[i] !~ /[A-Za-z_]/ || (i > 1 && at[i - 1] ~ /[A-Za-z_0-9]/)) {
        return ""
    }
    for (from = i; at[i] ~ /[A-Za-z_0-9]/; ++i) {
    }
    return substr(source, from, i - from)
}

function blank_calls(    i, word, from)
{
    for (i = 1; i <= LENGTH; ++i) {
        word = word_at(i)
        if (word ~ /^(ESPL_CHECK|ESPL_CHECK_FULL|ESPL_CHECK_IF|_Static_assert|__builtin_prefetch)$/) {
            from = i
            i = close_of(i + length(word), "(", ")")
            blank(from, i)
        }
    }
}

# What stands outside all functions, and functions that prefetch.
function blank_blocks(    i, from, end, header)
{
    from = 1
    for (i = 1; i <= LENGTH; ++i) {
        if (at[i] == ";") {
            from = i + 1
        } else if (at[i] == "{") {
            header = ""
            for (end = from; end < i; ++end) {
                header = header at[end]
            }
            end = close_of(i, "{", "}")
            if (header ~ /(ask_for|prefetch)[a-z_]*\(/ ||
                (header ~ /(enum|struct|union|typedef)/ && header !~ /[(=]/)) {
                blank(from, end)
            }
            i = end
            from = end + 1
        }
    }
}

function mutant(kind, offset, count, old, new)
{
    gsub(/[\n\t ]+/, " ", old)
    printf "%s\t%d\t%s\t%d\t%d\t%s\t%s\n", name, line_of[offset], kind, offset, count, old, new
}

function list_operator(i,    three, two, one)
{
    three = at[i] at[i + 1] at[i + 2]
    two = at[i] at[i + 1]
    one = at[i]
    if (three == "<<=" || three == ">>=" || three == "...") {
        return i + 2
    }
    if (two == "->") {
        return i + 1
    }
    if (two in turned) {
        mutant(kind_of[two], i, 2, two, turned[two])
        return i + 1
    }
    if (one in turned && at[i - 1] ~ /[ \n]/ && at[i + 1] ~ /[ \n]/) {
        mutant(kind_of[one], i, 1, one, turned[one])
    }
    return i
}

function list_number(i,    from, number)
{
    for (from = i; at[i] ~ /[0-9A-Za-z_.]/; ++i) {
    }
    number = substr(source, from, i - from)
    if (number ~ /^[01](u|f|\.0f)?$/) {
        mutant("constant", from, 1, substr(number, 1, 1), 1 - substr(number, 1, 1))
    }
    return i - 1
}

function list_word(i, word)
{
    if (word == "true" || word == "false") {
        mutant("constant", i, length(word), word, word == "true" ? "false" : "true")
    } else if (word == "return") {
        list_return(i)
    }
}

# A call that went well fails, one that failed went well.
function list_return(i,    text)
{
    text = substr(source, i, 60)
    if (text ~ /^return ESPL_OK;/) {
        mutant("status", i, 14, "return ESPL_OK", "return ESPL_ERR_LIMIT")
    } else if (match(text, /^return (ESPL_[A-Z_]+|status);/)) {
        mutant("status", i, RLENGTH - 1, substr(text, 1, RLENGTH - 1), "return ESPL_OK")
    }
}

function list_tokens(    i, word)
{
    for (i = 1; i <= LENGTH; ++i) {
        word = word_at(i)
        if (word != "") {
            list_word(i, word)
            i += length(word) - 1
        } else if (at[i] ~ /[0-9]/) {
            i = list_number(i)
        } else if (at[i] ~ /[-<>=!+*\/%&|^]/) {
            i = list_operator(i)
        }
    }
}

# One that begins with a "!" is not negated a second time where that is all of it.
function list_conditions(    i, word, end)
{
    for (i = 1; i <= LENGTH; ++i) {
        word = word_at(i)
        if (word == "if" || word == "while") {
            i += length(word) + 1
            end = close_of(i, "(", ")")
            mutant("condition", i + 1, end - i - 1, substr(source, i + 1, end - i - 1), "(negated)")
        }
    }
}

# A declaration begins with two names, stars between them; what else is no statement, or one that
# holds others, begins with a word of the language.
function is_droppable(text)
{
    if (text !~ /^[A-Za-z_(*+-]/ || text ~ /^[A-Za-z_0-9]+( [*(]*|\) ?\(?)[A-Za-z_]/) {
        return 0
    }
    return text !~ /^(case|default|else|do|if|for|while|switch|return|goto|struct|enum|static|const)[ :;]/
}

function list_statements(    i, k, from, text)
{
    from = 0
    for (i = 1; i <= LENGTH; ++i) {
        if (at[i] ~ /[{}]/) {
            from = i + 1
        } else if (at[i] == "(") {
            i = close_of(i, "(", ")")
        } else if (at[i] == ";") {
            for (k = from; k < i && at[k] ~ /[ \n]/; ++k) {
            }
            text = substr(code, k, i - k)
            if (from != 0 && k < i && is_droppable(text)) {
                mutant("statement", k, i - k, text, "(dropped)")
            }
            from = i + 1
        }
    }
}
