#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library exports exactly the names in lib/espalier.sym, each in the symbol version of the
# release that the list has behind it. Every other name with linkage in the static library begins with espl__,
# so that it clashes with no name of another library.
# shellcheck source-path=SCRIPTDIR disable=SC2016 # the words of awk are its own
. "${srcdir:-.}/tests/tap.sh"
srcdir=${srcdir:-.}
: "${AWK=awk}"
LC_ALL=C
export LC_ALL
shared=.libs/libespalier.so
static=.libs/libespalier.a

# defined [nm's options] FILE: names of functions and data, with @@ and the symbol version if they have
# one. What compilers add begins with an underscore, but for one name of gcc's coverage counters.
defined()
{
    $NM "$@" | $AWK 'NF == 3 && $2 ~ /[TDBRVWC]/ && $3 !~ /^_|^mangle_path$/ {print $3}' | sort -u
}

# listed: the names of lib/espalier.sym.
listed()
{
    sed 's/ .*//' "$srcdir/lib/espalier.sym"
}

# refuses LINE...: the version script of these lines of a list is refused.
refuses()
{
    printf '%s\n' "$@" | $AWK -f "$srcdir/packaging/version-script.awk" >/dev/null 2>&1
    test $? -eq 1
}

# list_growing: the functions that take a pointer to a struct with reserved words.
list_growing()
{
    $AWK '
        NR == FNR && /^typedef struct/ { name = $3 }
        NR == FNR && /uintptr_t reserved\[/ { grows[name] = 1 }
        NR == FNR { next }
        /^ESPL_API/ { text = "" }
        { line = $0; sub(/\/\/.*/, "", line); text = text " " line }
        /;[ \t]*$/ && text ~ /ESPL_API/ {
            for (type in grows) if (text ~ type " \\*") found = 1
            if (found) { sub(/\(.*/, "", text); sub(/.*[ *]/, "", text); print text }
            text = ""; found = 0
        }' "$1" "$1"
}

# find_untested HEADER...: print those of these headers that tests/world/growth_test.c does not call.
# espl_view_...() read a struct that the library filled.
find_untested()
{
    cat "$@" >symbols.headers.$$
    list_growing symbols.headers.$$ | grep -v '^espl_view_[de]' | while read -r name; do
        grep -q "$name(" "$srcdir/tests/world/growth_test.c" || echo "$name"
    done
    rm -f symbols.headers.$$
}

# changes_no_world NAME: the function reads, or works on values or threads, or begins or ends a world.
changes_no_world()
{
    case $1 in
    espl_quat_* | espl_transform_* | espl_status_* | espl_get_* | espl_is_* | espl_has_* | espl_count_* | \
        espl_read_* | espl_view_entity | espl_executor_* | espl_archive_delta | \
        espl_archive_inspect | espl_archive_patch | espl_archive_write) ;;
    espl_command_buffer_count | espl_command_buffer_recorder | espl_command_buffer_resolve | \
        espl_command_buffer_result | espl_component_count | espl_component_find | \
        espl_component_info | espl_convert | espl_copy_subtree | espl_dump | \
        espl_find_counterpart | espl_find_descendant | espl_hash | espl_history_hash | espl_history_range | espl_image_layout | espl_image_save | \
        espl_image_size | espl_log_stderr | espl_query_read | espl_query_read_transforms | \
        espl_camera_from_matrix | espl_cull | espl_mirror_* | espl_renderables_acquire | espl_visible_* | \
        espl_stage_name | espl_stats | espl_validate | espl_version | \
        espl_world_create | espl_world_destroy | espl_world_kernels | espl_world_timeline | \
        espl_writer_job) ;;
    *) return 1 ;;
    esac
}

# find_unrefused [NAME]: print the functions that may change a world, of the list and of the argument,
# without a row in tests/world/refused_test.c.
find_unrefused()
{
    { listed && printf '%s\n' "$@"; } | while read -r name; do
        test -z "$name" || changes_no_world "$name" ||
            grep -q "{\"$name\", " "$srcdir/tests/world/refused_test.c" || echo "$name"
    done
}

# find_missing FILE...: print the functions that these sources of packages name and that no header declares.
find_missing()
{
    $AWK '{
            while (match($0, /wasm\.espl_[a-z0-9_]+|espl_[a-z0-9_]+\(/)) {
                name = substr($0, RSTART, RLENGTH)
                gsub(/^wasm\.|\($/, "", name)
                print name
                $0 = substr($0, RSTART + RLENGTH)
            }
        }' "$@" | sort -u | while read -r name; do
        listed | grep -qx "$name" || case " $values" in *" $name "*) ;; *) echo "$name" ;; esac
    done
}

test -f "$shared" || test -f "$static" || skip_all "no library of a kind that is known here"
if test -f "$shared"; then
    listed >symbols.listed.$$
    defined -D --defined-only "$shared" | sed 's/@.*//' | diff symbols.listed.$$ -
    ok "the shared library exports lib/espalier.sym"
    rm -f symbols.listed.$$
    name="each export has the symbol version of its release"
    if test -f libespalier.map; then
        test "$(sed 's/^\([^ ]*\)$/\1 0.2/; s/ /@@ESPALIER_/' "$srcdir/lib/espalier.sym")" = \
            "$(defined -D --defined-only --with-symbol-versions "$shared")"
        ok "$name"
    else
        skip "$name" "this linker has no symbol versions"
    fi
fi
if test -f "$static"; then
    listed >symbols.listed.$$
    defined -g --defined-only "$static" | grep -v '^espl__' | diff symbols.listed.$$ -
    ok "the static library defines lib/espalier.sym, and else only espl__ names"
    rm -f symbols.listed.$$
fi

# find_foreign: print the names of headers that are compiled in, stb_ds and xxHash. nm prints them as undefined
# where such a header would only declare its functions.
find_foreign()
{
    $AWK '/(^|_)(XXH|xxh|stbds)/ && !/^espl__/'
}
for file in "$shared" "$static"; do
    test ! -f "$file" || $NM "$file" | $AWK 'NF > 1 && $(NF - 1) ~ /^[A-Z]$/ {print $NF}'
done >symbols.foreign.$$
test -s symbols.foreign.$$ && test -z "$(find_foreign <symbols.foreign.$$)"
ok "stb_ds and xxHash leave no name with linkage, neither defined nor undefined"
rm -f symbols.foreign.$$
test "$(printf '%s\n' XXH3_64bits espl__stbds_arrgrowf stbds_arrgrowf | find_foreign | tr '\n' ' ')" = \
    "XXH3_64bits stbds_arrgrowf "
ok "such a name is noticed"
printf '%s\n' 'typedef struct espl_mend {' '    uintptr_t reserved[2];' '} espl_mend;' \
    'ESPL_API void espl_no_growth(const espl_mend *given);' >symbols.planted.$$
test -z "$(find_untested "$srcdir"/include/espalier/*.h)" && test "$(find_untested symbols.planted.$$)" = espl_no_growth
ok "tests/world/growth_test.c calls each function that takes a struct with reserved words"
rm -f symbols.planted.$$
# Every function that a program calls is exported, but for arithmetic on values and lists of writes.
# espalier/cglm.h is for programs that have cglm, and nothing of it is in the library.
values="espl_entity_equal espl_entity_is_null espl_entity_null espl_failed espl_quat_conjugate \
espl_quat_from_wxyz espl_quat_identity espl_quat_to_wxyz espl_view_parent espl_write_list_push espl_write_listed "
# list_functions [HEADER]: see tests/inventory.awk.
list_functions()
{
    $AWK -v forms=1 -f "$srcdir/tests/declarations.awk" -f "$srcdir/tests/inventory.awk" "$@"
}
# A new function of the core replaces one, or says why it must be there. Headers that a program needs for what
# they are about alone are counted by themselves.
most=171
apart="watch motion image archive history counterpart renderables far"
for header in "$srcdir"/include/espalier/*.h; do
    test "${header##*/}" = cglm.h || list_functions "$header"
done | sort >symbols.inventory.$$
sed -n 's/^exported //p' symbols.inventory.$$ >symbols.declared.$$
listed | sort | diff - symbols.declared.$$
ok "the headers declare what lib/espalier.sym lists, and nothing else that is no inline function"
test "$(sed -n 's/^inline //p' symbols.inventory.$$ | tr '\n' ' ')" = "$values"
ok "only arithmetic on values and lists of writes is inline"
for header in $apart; do
    list_functions "$srcdir/include/espalier/$header.h" 2>/dev/null | sed -n 's/^exported //p'
done | sort >symbols.apart.$$
test "$(listed | sort | comm -23 - symbols.apart.$$ | wc -l)" -le "$most"
ok "at most $most functions are exported by the core"
rm -f symbols.apart.$$
sed -n 's/^order \([^ ]*\) /an input behind an output: \1: /p' symbols.inventory.$$ >symbols.order.$$
has_no_complaints symbols.order.$$
ok "outputs come last"
test "$(printf '%s\n' 'ESPL_API void espl_a(espl_world *world, float out[3],' '    const float by[3]);' \
    'ESPL_API void espl_b(float out[4], int by);' | list_functions |
    sed -n 's/^order //p')" = "espl_a const float by[3]
espl_b int by"
ok "an output before an input is noticed"
rm -f symbols.inventory.$$ symbols.declared.$$ symbols.order.$$
printf '%s\n' 'settle(wasm.espl_mend, wasm.espl_play(1));' 'return espl_failed(espl_mended(w));' >symbols.planted.$$
find_missing "$srcdir"/packaging/npm/*.js "$srcdir"/packaging/npm/*.ts "$srcdir"/packaging/npm/glue.c \
    "$srcdir"/packaging/python/native/* "$srcdir"/packaging/python/espalier/*.py >symbols.missing.$$
has_no_complaints symbols.missing.$$ &&
    test "$(find_missing symbols.planted.$$ | tr '\n' ' ')" = "espl_mend espl_mended "
ok "the packages for npm and Python call functions that exist"
rm -f symbols.planted.$$ symbols.missing.$$
test -z "$(find_unrefused)" && test "$(find_unrefused espl_mend)" = espl_mend
ok "tests/world/refused_test.c refuses each function that may change a world"
test "$(printf '%s\n' 'espl_b' 'espl_d 0.10' 'espl_a 0.3' 'espl_c 0.3' |
    $AWK -f "$srcdir/packaging/version-script.awk" | tr -d '\n ')" = \
    "ESPALIER_0.2{global:espl_b;local:*;};ESPALIER_0.3{global:espl_a;espl_c;}ESPALIER_0.2;\
ESPALIER_0.10{global:espl_d;}ESPALIER_0.3;"
ok "functions of later releases get symbol versions that succeed each other"
refuses 'espl_a' 'espl_a 0.3' && refuses 'espl_a 0.2' && refuses 'espl_a 0.3 0.4' &&
    refuses 'espl__a' && refuses ''
ok "a wrong line of the list is refused"
done_testing
