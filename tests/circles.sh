#!/bin/sh
# SPDX-License-Identifier: MIT
# No more than `limit` files of lib/ call each other in a circle: tests/circles.awk says what a circle is.
# A reader of one file of a circle has to read all of them, and none can be tested without the others.
#
# "tests/circles.sh --list", from the top of the source tree, prints all circles, and their calls.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99
LC_ALL=C
export LC_ALL
top=$PWD
limit=4

# list_circles LIMIT SOURCE...
list_circles()
{
    most=$1
    shift
    awk -v limit="$most" -f "$top/tests/circles.awk" "$@"
}

# list_library LIMIT: the circles of lib/. Public headers are sources too, because calls pass through
# their inline functions.
list_library()
{
    list_circles "$1" lib/*/*.[ch] lib/*/*.inc include/espalier/*.h
}

# Sources with each way to call, in two circles: one of a, b and c, and one of d and e. f calls without
# being called, and g is called without calling.
write_examples()
{
    cat >a.h <<'END'
#define ESPL_A(x) \
    espl__b(x)
int espl__a(int x);
static inline int espl__a_inline(int x) { return x; }
END
    cat >a.c <<'END'
// espl__f(0);
static const char *const text = "espl__f(0)";
static int helper(int x)
{
    const struct pair p = {espl__g(x),
                           (x)};
    return p.x + '{';
}
int espl__a(int x)
{
    return helper(x) + ESPL_A(x);
}
END
    cat >b.c <<'END'
#ifdef ONE
typedef int (*espl__function)(int espl__f);
#endif
static const espl__function table[] = {[0] = espl__c};
__attribute__((noinline)) int
espl__b(int x)
{
    return table[0](x);
}
END
    cat >c.h <<'END'
static inline int espl__c(int x)
{
    return espl__a_inline(x);
}
END
    printf 'int espl__d(int x)\n{\n    return espl__e(x);\n}\n' >d.c
    printf 'int espl__e(int x)\n{\n    return apply(espl__d, x);\n}\n' >e.c
    printf 'int espl__f(int x)\n{\n    return espl__a(x);\n}\n' >f.c
    printf 'int espl__g(int x)\n{\n    return x;\n}\n' >g.c
}

expected="circle 3 a b c
call a b ESPL_A espl__b
call b c a table espl__c
call c a espl__c espl__a_inline
circle 2 d e
call d e espl__d espl__e
call e d espl__e espl__d"

if test "${1-}" = --list; then
    list_library 1
    exit
fi
room=$(mktemp -d) || exit 99
trap 'rm -rf "$room"' EXIT

cd "$room" || exit 99
write_examples
list_circles 1 ./*.[ch] | sed 's,\./,,g' >found
echo "$expected" | diff - found
ok "each way to call is read"

list_circles 2 ./*.[ch] | grep -c circle | grep -qx 1
ok "circles within the limit are not listed"

cd "$top" || exit 99
list_library "$limit" >"$room/complaints"
has_no_complaints "$room/complaints"
ok "no circle of calls in lib/ has more than $limit files"

# The stages of a playback include stage_data.h, and playback.c calls the stages.
mkdir "$room/lib" && cp -r lib/commands "$room/lib"
awk '
    { print }
    /^static inline bool espl__operand_is_living/ { is_next = 1 }
    is_next && /^{/ { print "    espl__playback_run(0, 0, 0);"; is_next = 0 }
    ' lib/commands/stage_data.h >"$room/lib/commands/stage_data.h"
cd "$room" || exit 99
list_circles "$limit" lib/commands/*.[ch] | grep -q '^circle .* lib/commands/stage_data'
ok "a call that closes a large circle is noticed"
done_testing
