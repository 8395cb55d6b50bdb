#!/bin/sh
# SPDX-License-Identifier: MIT
# A name of lib/ has one meaning: no type is defined twice, no static function with two bodies, no
# static object and no enumerator in two files, and no type is a function or an object elsewhere, because the amalgamation is one file. tests/names.txt lists the exceptions of today. It may only shrink: a
# name that is not listed fails, and so does an exception that is no longer needed.
#
# "tests/names.sh --list", from the top of the source tree, prints the lines that the list would need.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99
LC_ALL=C
export LC_ALL

# list_names SOURCE...: kind, name and number of files of each name that has several meanings.
list_names()
{
    awk -f tests/names.awk "$@" | cut -d ' ' -f 1-3 | sort
}

list_library()
{
    list_names lib/*/*.[ch] lib/*/*.inc include/espalier/*.h
}

list_exceptions()
{
    grep -v '^#' tests/names.txt
}

# Two sources with each way to define a name. What both have the same, and what only one has, is not
# listed.
write_examples() # directory
{
    cat >"$1/a.c" <<'END'
typedef struct shared_tag { int x; } shared_tag;
struct own_tag { int x; };
typedef struct declared declared;
typedef unsigned word;
typedef float four __attribute__((vector_size(16)));
typedef int (*callback)(int first, int second);
typedef enum { ONE_A = 1 } choice;
enum { SIZE_A, SIZE = (1), };
static const int object[] = {1, 2};
static _Alignas(64) int aligned;
static int declaration(int x);
static int same(int x) { return x; }
static int differs(int x) { return x; }
static inline struct shared_tag *pointer(int x) { return 0; }
/* static int in_comment(int x) { return x; } */
static int own_a(void) { return "{"[0] + '}'; }
#define MACRO(x) static int macro(int x) { return x; }
#ifdef ONE
static int branch(int x) { return x; }
#else
static int branch(int x) { return x + 1; }
#endif
int external(int x) { return x; }
typedef struct crossed { int x; } crossed;
struct apart { int x; };
END
    cat >"$1/b.c" <<'END'
typedef struct { int y; } shared_tag;
struct other_tag { struct own_tag *x; };
typedef struct declared declared;
typedef unsigned word;
typedef float four __attribute__((vector_size(16)));
typedef void (*callback)(void);
typedef enum { ONE_B = 1 } choice;
enum named { SIZE = 2, SIZE_B };
static int local(void) { enum { SIZE_A = 3 }; return SIZE_A; }
static const char *const object = "x";
static _Alignas(64) int aligned;
static int declaration(int x);
static int
same(int x)
{
    return x; // a comment
}
static int differs(int x) { return x + 1; }
static inline int *pointer(int x) { return (int *)0 + x; }
// static int in_comment(int x) { return x + 1; }
static int own_b(void) { return 0; }
int external_b(int x) { return x; }
static int crossed[] = {1};
static void apart(void) {}
END
}

expected="clash crossed 2
static aligned 2
static differs 2
static object 2
static pointer 2
type callback 2
type choice 2
type four 2
type shared_tag 2
type word 2
value SIZE 2"

if test "${1-}" = --list; then
    list_library
    exit
fi
room=$(mktemp -d) || exit 99
trap 'rm -rf "$room"' EXIT

write_examples "$room"
list_names "$room/a.c" "$room/b.c" >"$room/found"
echo "$expected" | diff - "$room/found"
ok "each way to define a name is read"

list_library >"$room/names"
list_exceptions | sort >"$room/listed"
list_exceptions | diff - "$room/listed"
ok "the exceptions are sorted"

comm -13 "$room/listed" "$room/names" >"$room/new"
while read -r kind name count; do
    listed=$(awk -v kind="$kind" -v name="$name" '$1 == kind && $2 == name { print $3 }' "$room/listed")
    test "${listed:-0}" -ge "$count" || echo "$kind $name has several meanings:" \
        "$(awk -f tests/names.awk lib/*/*.[ch] lib/*/*.inc include/espalier/*.h |
            awk -v kind="$kind" -v name="$name" '$1 == kind && $2 == name { $1 = $2 = $3 = ""; print }')"
done <"$room/new" >"$room/complaints"
has_no_complaints "$room/complaints"
ok "a name of lib/ has one meaning, but for the exceptions"

comm -23 "$room/listed" "$room/names" | sed 's/$/ is more than needed: see --list/' >"$room/complaints"
has_no_complaints "$room/complaints"
ok "each exception of tests/names.txt is needed"
done_testing
