# SPDX-License-Identifier: MIT
# Make a page of `make html` of a fragment of HTML: of what mandoc makes of a manual page, cmark-gfm of a
# Markdown document, or of a source file or a list of links, which html.sh makes.
#
#     awk -v kind=man|document|source|list -v self=FILE -v title=TEXT -v version=TEXT -v names=FILE
#         -v links=FILE [-v home=DIRECTORY] -f page.awk FRAGMENT
#
# names is the output of man/names.awk. Each name in it gets an anchor where its page describes it, and
# each mention of it anywhere becomes a link to that anchor. links has a line "PATH FILE" for each file of
# the source tree that has a page in this directory; links to other files of the tree become plain text.
# home is the directory of a document in the source tree, from which its links are relative.
BEGIN {
    while ((getline line < names) > 0) {
        split(line, word, " ")
        file = word[2] ".html"
        owns[file, word[1]] = 1
        # A constant that several pages describe belongs to the first of them.
        if (!(word[1] in owner)) owner[word[1]] = file
    }
    while ((getline line < links) > 0) {
        split(line, word, " ")
        page_of[word[1]] = word[2]
        is_page[word[2]] = 1
    }
    # A record is a tag without its "<", and the text behind it.
    RS = "<"
    identifier = "[Ee][Ss][Pp][Ll]_[A-Za-z0-9_]+"
}

NR == 1 && $0 ~ /^[ \n]*$/ { next }
{
    end = index($0, ">")
    tag[++count] = substr($0, 1, end - 1)
    gsub(/[ \n]+/, " ", tag[count])
    text[count] = substr($0, end + 1)
}

END {
    sub(/\n$/, "", text[count])
    drop_frame()
    name_headings()
    find_anchors()
    for (i = 1; i <= count; ++i) {
        if (!(i in dropped)) body = body token(i)
    }
    print_page()
}

# The value of an attribute of a tag, or nothing.
function attribute(i, name,    value)
{
    if (!match(tag[i], " " name "=\"[^\"]*\"")) return ""
    value = substr(tag[i], RSTART, RLENGTH)
    sub(/^[^"]*"/, "", value)
    sub(/"$/, "", value)
    return value
}

function set_attribute(i, name, value)
{
    sub(" " name "=\"[^\"]*\"", "", tag[i])
    if (value != "") tag[i] = tag[i] " " name "=\"" value "\""
}

function element(i)
{
    match(tag[i], /^\/?[A-Za-z0-9!-]+/)
    return substr(tag[i], 1, RLENGTH)
}

# The tables above and below a manual page repeat its title; comments are for authors.
function drop_frame(    i, inside)
{
    for (i = 1; i <= count; ++i) {
        if (tag[i] ~ /^table class="(head|foot)"/) inside = 1
        if (inside && tag[i] ~ /^td class="foot-date"/) date = text[i]
        if (inside) dropped[i] = 1
        if (tag[i] == "/table") inside = 0
        if (tag[i] ~ /^!--/) {
            tag[i] = ""
            text[i - 1] = text[i - 1] text[i]
            dropped[i] = 1
        }
    }
}

# What an anchor is called: as mandoc names the targets of .Sx, or GitHub those of its headings.
function anchor_name(heading)
{
    if (kind == "man") {
        gsub(/[^A-Za-z0-9.,:\/_-]/, "_", heading)
        return heading
    }
    heading = tolower(heading)
    gsub(/&[a-z]+;/, "", heading)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}

# Headings get an anchor each, go into the table of contents, and are one level below the title. Those in
# a SYNOPSIS repeat those of the description, so a plain name always means the latter.
function name_headings(    i, j, level, words, id, section)
{
    for (i = 1; i <= count; ++i) {
        if (tag[i] !~ /^h[1-6]( |$)/) continue
        level = substr(tag[i], 2, 1) + 0
        words = text[i]
        for (j = i + 1; tag[j] != "/h" level; ++j) {
            words = words text[j]
            # A heading is a link to itself, and there is no link in a link.
            if (tag[j] ~ /^\/?a( |$)/) tag[j] = tag[j] ~ /^\// ? "/span" : "span"
        }
        gsub(/[ \n]+/, " ", words)
        if (level == 1) section = words
        id = anchor_name((kind == "man" && level > 1 && section == "SYNOPSIS" ? "SYNOPSIS " : "") words)
        if (used[id]++) id = id "-" used[id]
        if (kind == "man") ++level
        tag[i] = "h" level
        tag[j] = "/h" level
        set_attribute(i, "id", id)
        text[i] = "<a class=\"permalink\" href=\"#" id "\">" text[i]
        text[j - 1] = text[j - 1] "</a>"
        opens_link[i] = 1
        if (level > 1 && level < 4 && id !~ /^SYNOPSIS_/) {
            contents = contents "<li class=\"level" level "\"><a href=\"#" id "\">" words "</a></li>\n"
            ++content_count
        }
    }
}

# mandoc gives an anchor to the first mention of a name, which may be a reference to another page. A
# name gets one where its page describes it: a function at the head of a paragraph or in the first cell of
# a row, a constant there as well, a type where the text first mentions it, else in the SYNOPSIS.
function find_anchors(    i, inside, section, name, class, in_synopsis)
{
    for (i = 1; i <= count; ++i) {
        if (attribute(i, "id") ~ "^" identifier) set_attribute(i, "id", "")
        set_attribute(i, "style", "")
        if (tag[i] ~ /^h2 /) in_synopsis = attribute(i, "id") == "SYNOPSIS"
        if (tag[i] ~ /^(dt|tr)( |$)/) inside = 1
        if (tag[i] ~ /^\/(dt|tr)$/) inside = 0
        if (kind != "man") continue
        class = attribute(i, "class")
        name = text[i]
        if (!((self, name) in owns)) continue
        if (class == "Vt" && in_synopsis && !(name in listed)) listed[name] = i
        if ((class == "Vt" && !in_synopsis || (class == "Fn" || class == "Dv") && inside) && !(name in anchor)) {
            anchor[name] = i
        }
    }
    for (name in listed) {
        if (!(name in anchor)) anchor[name] = listed[name]
    }
}

# Where a link leads that mandoc or cmark-gfm made, or nothing for what has no page here.
function target(href,    name, hash, path)
{
    if (href ~ /^https?:/ || kind == "list") return href
    hash = href
    if (!sub(/^[^#]*/, "", hash)) hash = ""
    path = href
    sub(/#.*/, "", path)
    if (path == "") {
        name = substr(hash, 2)
        sub(/~.*/, "", name)
        return name in owner ? reference(name) : kind == "man" ? "#" anchor_name(name) : hash
    }
    if (kind == "man") return path in is_page ? path hash : ""
    path = resolve(home path)
    return path in page_of ? page_of[path] hash : ""
}

# A path of the source tree without ".." in it.
function resolve(path)
{
    while (sub(/[^\/]+\/\.\.\//, "", path)) {
    }
    sub(/\/$/, "", path)
    return path
}

# The link to a documented name.
function reference(name)
{
    return (((self, name) in owns) ? "" : owner[name]) "#" name
}

# One tag and the text behind it.
function token(i,    element_name, href, before, after)
{
    element_name = element(i)
    if (element_name == "a") {
        href = attribute(i, "href")
        # mandoc puts the header of an #include between tags without a target.
        href = attribute(i, "class") == "In" ? page_of["include/" text[i]] : target(href)
        link_is_open = href != ""
        if (!link_is_open) return text[i]
        # mandoc makes a link to itself of what it takes for the description of a name.
        if (attribute(i, "class") == "permalink" && text[i + 1] in owner && anchor[text[i + 1]] != i + 1) {
            set_attribute(i, "class", "name")
        }
        set_attribute(i, "href", href)
        set_attribute(i, "id", "")
    }
    if (element_name == "/a") {
        if (!link_is_open) return linked(text[i])
        link_is_open = 0
    }
    if (text[i] in anchor && anchor[text[i]] == i) set_attribute(i, "id", text[i])
    if (element_name == "table") before = "<div class=\"wide\">"
    if (element_name == "/table") after = "</div>"
    if (element_name ~ /^h[1-6]$/) link_is_open = 1
    if (element_name ~ /^\/h[1-6]$/) link_is_open = 0
    return before "<" tag[i] ">" after (link_is_open ? text[i] : linked(text[i]))
}

# A text with a link around each documented name in it.
function linked(words,    result, name)
{
    while (match(words, identifier)) {
        name = substr(words, RSTART, RLENGTH)
        result = result substr(words, 1, RSTART - 1)
        words = substr(words, RSTART + RLENGTH)
        result = result (name in owner ? "<a class=\"name\" href=\"" reference(name) "\">" name "</a>" : name)
    }
    return result words
}

function print_page()
{
    print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
    print "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
    print "<meta name=\"color-scheme\" content=\"light dark\">"
    print "<title>" title " - Espalier</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>"
    print "<header><a class=\"home\" href=\"index.html\">Espalier <span>" version "</span></a>"
    print "<nav><a href=\"index.html#names\">All names</a></nav></header>"
    print "<div class=\"page\">"
    if (content_count > 1) print "<nav class=\"contents\"><ul>\n" contents "</ul></nav>"
    print "<main class=\"" kind "\">"
    if (kind != "document") print "<h1>" title "</h1>"
    print body "\n</main>\n</div>"
    print "<footer>Espalier " version (date ? ", " date : "") "</footer>\n</body>\n</html>"
}
