# SPDX-License-Identifier: MIT
# Reports names in documents that do not exist, as lines "FILE:LINE: what is wrong"; exits with 1 if there
# are any. tests/documents.sh makes the lists. Each list is a file with one entry a line, and comes after
# an assignment that says what it is:
#
#   kind=files     the files of the source tree
#   kind=words     all words of the sources, without comments of C
#   kind=public    all words of the public headers, without comments
#   kind=outputs   names of files that programs write, and beginnings of such names
#   kind=options   the options of programs, scripts and configure
#   kind=targets   the targets of make
#   kind=sections  the sections of .ci/run
#   kind=document  the documents
#
# Identifiers that begin with espl or ESPL, pages of the manual and links are checked in the whole text,
# shapes of the course in the documents of bench/, other names in code: spans in backquotes, indented
# lines and fenced blocks of sh. A document about other programs says so in a comment, and is then
# free in its code.

function complain(text)
{
    printf "%s:%d: %s\n", FILENAME, FNR, text
    bad = 1
}

function add_file(path,    part, count, i, suffix, dir)
{
    known_files[path] = 1
    count = split(path, part, "/")
    suffix = part[count]
    suffixes[suffix] = 1
    for (i = count - 1; i >= 1; --i) {
        suffix = part[i] "/" suffix
        suffixes[suffix] = 1
    }
    dir = part[1]
    for (i = 2; i <= count; ++i) {
        directories[dir] = 1
        dir = dir "/" part[i]
    }
}

# A file or a directory, named from the top, from the directory of the document, or by the end of its
# path. Programs are named by their sources without the ending.
function has_path(path)
{
    sub(/^\.\//, "", path)
    sub(/^\.\.\//, "", path)
    sub(/\/$/, "", path)
    return path in suffixes || path in directories || (home path) in known_files ||
        (home path) in directories || (path ".c") in suffixes || (path ".sh") in suffixes
}

# A path with a placeholder: a word in capitals, a word in angle brackets, or a star.
function has_pattern(path,    pattern, file)
{
    sub(/\/$/, "", path)
    pattern = path
    gsub(/[.]/, "[.]", pattern)
    gsub(/<[a-z]+>|[A-Z][A-Z]+|[*]/, "[^/]*", pattern)
    if (pattern == path) {
        return 0
    }
    pattern = "(^|/)" pattern "([.](c|sh))?$"
    for (file in known_files) {
        if (file ~ pattern) {
            return 1
        }
    }
    return 0
}

# What a program or a script writes. Of a name with a placeholder the part before it counts. A suite and
# configure write a log; a picture is named by its table.
function is_output(path)
{
    if (path ~ /_test\.log$/) {
        return has_path(substr(path, 1, length(path) - 4))
    }
    sub(/[A-Z][A-Z]+.*/, "", path)
    sub(/\.svg$/, "", path)
    return path == "config.log" || path in outputs || path in words
}

function has_word(word,    stem)
{
    if (word in words) {
        return 1
    }
    if (word ~ /_$/) {
        return word in prefixes
    }
    if (match(word, /_[A-Z]+$/) && word ~ /^[a-z]/) {
        return substr(word, 1, RSTART) in prefixes
    }
    return 0
}

function check_path(path)
{
    if (!has_path(path) && !has_pattern(path) && !is_output(path)) {
        complain("no file " path)
    }
}

function check_word(word)
{
    if (!has_word(word)) {
        complain("no name " word " in the sources")
    }
}

# The unit of a figure, such as aged/fresh: both sides are words.
function check_quotient(text,    part)
{
    split(text, part, "/")
    gsub(/[^A-Za-z0-9_]/, "", part[1])
    gsub(/[^A-Za-z0-9_]/, "", part[2])
    if (!(part[1] in words) || !(part[2] in words)) {
        complain("neither a file nor a unit: " text)
    }
}

function looks_like_path(word)
{
    return word ~ /[^\/]\.(c|h|sh|awk|gp|md|txt|am|ac|m4|sym|supp|csv|svg|log|inc|pc)$/ ||
        word ~ /^(lib|include|tests|bench|tools|examples|guides|man|[.]ci|m4)\// || word ~ /^\.clang-[a-z]+$/
}

# One word of code, after make and .ci/run have taken theirs.
function check_token(word)
{
    gsub(/^[("'$]+|["',;:.?]+$/, "", word)
    if (word !~ /\(\)$/) {
        sub(/\)+$/, "", word)
    }
    if (word == "" || word ~ /^https?:/ || word ~ /^\/|^<[a-z\/.]+>$|\.\.\./) {
        return
    }
    if (word ~ /^--[a-z]/) {
        sub(/=.*/, "", word)
        if (!(word in options) && word !~ /^--with(out)?-[A-Z]$/) {
            complain("no option " word)
        }
    } else if (word ~ /^[A-Za-z_]+=/) {
        check_word(substr(word, 1, index(word, "=") - 1))
        word = substr(word, index(word, "=") + 1)
        if (word ~ /^tests\//) {
            check_path(word)
        }
    } else if (looks_like_path(word)) {
        check_path(word)
    } else if (word ~ /^[a-z.]+\/[a-z_\/<>-]+$/) {
        if (!has_path(word) && !has_pattern(word)) {
            check_quotient(word)
        }
    } else if (word ~ /^[A-Za-z_][A-Za-z0-9_]*$/ && word ~ /[a-z0-9]_|_[A-Z]/) {
        check_word(word)
    } else if (word ~ /^[A-Za-z_][A-Za-z0-9_]*\(\)$/) {
        check_word(substr(word, 1, length(word) - 2))
    }
}

# A command: targets follow make, sections follow .ci/run, other words are checked by their form. Names
# of the reader's own choice are not checked: what cc compiles, and files that a command is to write.
function check_code(text,    part, count, i, mode, word)
{
    count = split(text, part, " ")
    mode = ""
    for (i = 1; i <= count; ++i) {
        word = part[i]
        if (word == "#" && is_command) {
            return
        }
        if (word == "&&" || word == "||" || word == "|" || word == ";") {
            mode = ""
            continue
        }
        if (word == "cc") {
            return
        } else if (word == "--csv" || word == "--out") {
            ++i
        } else if (word == "cp") {
            check_token(part[i + 1])
            i += 2
            continue
        } else if (word == "make" || word == ".ci/run") {
            mode = word
        } else if (word ~ /^>/) {
            return
        } else if (mode == "make" && word == "-C") {
            ++i
            continue
        } else if (mode == "make" && word ~ /^[a-z]/ && word !~ /=/) {
            gsub(/[;,.]+$/, "", word)
            if (!(word in targets)) {
                complain("no target " word " of make")
            }
            continue
        } else if (mode == ".ci/run" && word ~ /^[a-z]/) {
            if (!(word in sections)) {
                complain("no section " word " of .ci/run")
            }
            continue
        }
        if (part[i] ~ /;$/) {
            mode = ""
        }
        check_token(word)
    }
}

# Names of the library, anywhere in a line.
function check_names(text,    name, rest)
{
    rest = text
    while (match(rest, /(espl|ESPL)_[A-Za-z0-9_]*/)) {
        name = substr(rest, RSTART, RLENGTH)
        if (RSTART > 1 && substr(rest, RSTART - 1, 1) ~ /[A-Za-z0-9_]/) {
            name = ""
        }
        rest = substr(rest, RSTART + RLENGTH)
        if (name ~ /^espl_[a-z0-9]/ ) {
            if (!(name in public_words) && !(name ~ /_$/ && name in public_prefixes)) {
                complain("no name " name " in the public headers")
            }
        } else if (name != "" && !has_word(name)) {
            complain("no name " name " in the sources")
        }
    }
    rest = text
    while (match(rest, /espalier(_[a-z_]+)?\([1357]\)/)) {
        name = substr(rest, RSTART, RLENGTH - 1)
        sub(/\(/, ".", name)
        rest = substr(rest, RSTART + RLENGTH)
        if (!(("man/" name) in known_files)) {
            complain("no page man/" name)
        }
    }
}

# Shapes of the course, such as 50000x20.
function check_shapes(text,    shape)
{
    while (match(text, /[0-9]+x[0-9]+/)) {
        shape = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (!(shape in words)) {
            complain("no shape " shape)
        }
    }
}

# The anchor of a heading, as sites that show Markdown make it.
function slug(heading)
{
    heading = tolower(heading)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}

function resolve(path,    part, count, i, kept, result)
{
    count = split(home path, part, "/")
    kept = 0
    for (i = 1; i <= count; ++i) {
        if (part[i] == "..") {
            --kept
        } else if (part[i] != "" && part[i] != ".") {
            part[++kept] = part[i]
        }
    }
    result = part[1]
    for (i = 2; i <= kept; ++i) {
        result = result "/" part[i]
    }
    return result
}

function check_links(text,    target, path, anchor)
{
    while (match(text, /\]\([^)]*\)/)) {
        target = substr(text, RSTART + 2, RLENGTH - 3)
        text = substr(text, RSTART + RLENGTH)
        if (target ~ /^[a-z]+:/) {
            continue
        }
        anchor = index(target, "#") ? substr(target, index(target, "#") + 1) : ""
        sub(/#.*/, "", target)
        path = target == "" ? FILENAME : resolve(target)
        if (target != "" && !(path in known_files) && !(path in directories)) {
            complain("a link to " path ", which does not exist")
        } else if (anchor != "") {
            anchors[++anchor_count] = FILENAME ":" FNR "\t" path "#" anchor
        }
    }
}

kind == "files" { add_file($0); next }
kind == "words" {
    words[$0] = 1
    text = $0
    while (match(text, /_[^_]*$/)) {
        text = substr(text, 1, RSTART - 1)
        prefixes[text "_"] = 1
    }
    next
}
kind == "public" {
    public_words[$0] = 1
    text = $0
    while (match(text, /_[^_]*$/)) {
        text = substr(text, 1, RSTART - 1)
        public_prefixes[text "_"] = 1
    }
    next
}
kind == "outputs" { outputs[$0] = 1; next }
kind == "options" { options[$0] = 1; next }
kind == "targets" { targets[$0] = 1; next }
kind == "sections" { sections[$0] = 1; next }

# A document.
FNR == 1 {
    home = FILENAME
    if (!sub(/[^\/]*$/, "", home)) {
        home = ""
    }
    fence = ""
    is_old = 0
    is_foreign = 0
    was_blank = 1
}
/^<!-- names in code are those of other programs as well -->$/ { is_foreign = 1 }
home ~ /(^|\/)bench\/results\/$/ && /^<!-- names are those of an older version -->$/ { is_old = 1 }
/^```/ { fence = fence == "" ? ($0 == "```" ? "```text" : $0) : ""; next }
fence != "" && fence != "```c" && fence != "```sh" { next }
fence == "" && /^#+ / {
    heading = $0
    sub(/^#+ +/, "", heading)
    headings[FILENAME "#" slug(heading)] = 1
}
fence == "" { check_links($0) }
is_old { next }
{ check_names($0) }
home ~ /(^|\/)bench\// { check_shapes($0) }
fence == "```c" || is_foreign { next }
fence == "" && /^    [^ |]/ && (was_blank || was_code) {
    was_code = 1
    is_command = 1
    check_code($0)
    next
}
{
    was_code = 0
    was_blank = $0 == ""
    is_command = 0
    count = split($0, span, "`")
    for (i = 2; i <= count; i += 2) {
        check_code(span[i])
    }
}

END {
    for (i = 1; i <= anchor_count; ++i) {
        split(anchors[i], part, "\t")
        if (!(part[2] in headings)) {
            print part[1] ": no heading for " part[2]
            bad = 1
        }
    }
    exit bad
}
