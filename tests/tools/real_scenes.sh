#!/bin/sh
# SPDX-License-Identifier: MIT
# Plays and checks scenes that others made, from packages of Debian 12, and compares what comes of each with
# tests/tools/scenes.txt: "make real-scenes". Not part of make check, because the packages are large.
#
# scenes.txt has a line for each file: package|path|result. A file is where its package is installed, or below
# $SCENES/PACKAGE, where the package is unpacked; CONTRIBUTING.md says how. Other packages are left out, with a
# line. real_scenes.sh --write writes the list anew, and --table prints the table of tests/README.md from it.
srcdir=${srcdir:-.}
espalier=${ESPALIER:-./espalier}
list=$srcdir/tests/tools/scenes.txt
: "${SCENES=scenes}" "${JOBS=2}"
binary_packages='assimp-testmodels libmujoco-samples minetest-mod-homedecor morse-simulator-data'
source_packages='dart ros-urdf'
formats='3d|3ds|3mf|ac|acc|amf|ase|b3d|blend|bvh|cob|csm|dae|dxf|fbx|glb|gltf|hmp|ifc|iqm|irr|irrmesh|jt|lwo|lws|lxo'
formats="$formats|m3d|max|md2|md5mesh|mdc|mdl|ms3d|nff|obj|off|ogex|ply|q3o|q3s|raw|sdf|sib|smd|ter|uc|urdf|wrl"
formats="$formats|world|x|x3d|xgl|xml|zae|zgl"

# --- One scene ---

# escape TEXT: print a pattern of sed for it.
escape()
{
    printf '%s' "$1" | sed 's/[][\\.*^$|]/\\&/g'
}

# short PATTERN: the reason of a line "espalier: FILE: reason", without paths, which differ from machine to machine.
short()
{
    sed -n "1s|^espalier: $1: ||p" | sed "s|$(escape "$SCENES")/||g" | cut -c 1-70 | tr '|' '/'
}

# judge FILE: print its result.
judge()
{
    scratch=$(mktemp -d) || exit 99
    pattern=$(escape "$1")
    timeout 300 "$espalier" check "$1" >"$scratch/out" 2>"$scratch/err"
    status=$?
    case $status in
        0)
            if ! timeout 300 "$espalier" play --quiet --copies 8 --frames 5 "$1" >"$scratch/played" 2>&1; then
                printf 'FAILS in play: %s\n' "$(short "$pattern" <"$scratch/played")"
            # Of these frames some are between two ticks, and some beyond.
            elif ! timeout 300 "$espalier" play --quiet --ticks 25 --ahead 0.5 --copies 2 --frames 5 "$1" \
                >"$scratch/played" 2>&1; then
                printf 'FAILS in ticks: %s\n' "$(short "$pattern" <"$scratch/played")"
            else
                sed -n 's/.*: \([0-9]*\) nodes, depth .*, \([0-9]*\) reads agree.*/\1 nodes, \2 reads/p' \
                    "$scratch/out" | tr -d '\n'
                sed -n 's/^    \([0-9]*\) of [0-9]* reads are not compared.*/, \1 not compared/p' "$scratch/out" |
                    tr -d '\n'
                sed -n 's/^    note: \([^:;,]*\).*/, note: \1/p' "$scratch/out" | tr '|' '/' | tr -d '\n'
                echo
            fi
            ;;
        1) printf 'DISAGREES: %s\n' "$(short "$pattern" <"$scratch/err")" ;;
        2) printf 'refused: %s\n' "$(short "$pattern" <"$scratch/err")" ;;
        *) printf 'ENDS with status %s\n' "$status" ;;
    esac
    rm -rf "$scratch"
}

# judge_line PACKAGE|PATH|FILE: print the line of the list.
judge_line()
{
    file=${1##*|}
    printf '%s|%s\n' "${1%|*}" "$(judge "$file")"
}

# --- All of them ---

# find_root PACKAGE: print the directory that its paths are relative to.
find_root()
{
    if [ -d "$SCENES/$1" ]; then
        printf '%s\n' "$SCENES/$1"
    elif dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; then
        printf '\n'
    else
        printf 'real_scenes: the package %s is not here, and is left out\n' "$1" >&2
        return 1
    fi
}

# list_files: a line PACKAGE|PATH|FILE for each file that may be a scene. Of XML only what has a root that the
# program knows.
list_files()
{
    for package in $binary_packages $source_packages; do
        root=$(find_root "$package") || continue
        if [ -n "$root" ]; then
            (cd "$root" && find . -name .pc -prune -o -type f -print | sed 's|^\./||')
        else
            dpkg -L "$package" | sed 's|^/||'
        fi | grep -iE "\.($formats)\$" | LC_ALL=C sort | while read -r path; do
            case $path in
                *.xml) grep -qE '^ *<(mujoco|robot|sdf)[ >]' "$root/$path" || continue ;;
                */test/* | */tests/* | usr/* | data/*) ;;
                *) continue ;;
            esac
            test -f "$root/$path" && printf '%s|%s|%s\n' "$package" "$path" "$root/$path"
        done
    done
}

# list_known: the same for the files of scenes.txt.
list_known()
{
    cut -d '|' -f 1 "$list" | sort -u | while read -r package; do
        root=$(find_root "$package") || continue
        grep "^$package|" "$list" | cut -d '|' -f 2 | while read -r path; do
            printf '%s|%s|%s\n' "$package" "$path" "$root/$path"
        done
    done
}

# judge_all: lines of files to lines of the list, in the same order.
judge_all()
{
    tr '\n' '\0' | xargs -0 -P "$JOBS" -n 1 "$0" --one | LC_ALL=C sort
}

# table: count by package and format, then the reasons of refusals. Formats with few files of a package share a row.
table()
{
    awk -F '|' '
    {
        n = split($2, words, ".")
        format[NR] = tolower(words[n])
        line[NR] = $0
        ++of_format[$1, format[NR]]
    }
    END {
        for (i = 1; i <= NR; ++i) {
            split(line[i], f, "|")
            row = f[1] " | " (of_format[f[1], format[i]] >= 8 ? format[i] : "~others")
            ++files[row]
            if (f[3] ~ /^refused: /) {
                ++refused[row]
            } else if (f[3] ~ /^[0-9]+ nodes, /) {
                ++agree[row]
                split(f[3], figures, /[^0-9]+/)
                reads[row] += figures[2]
                if (match(f[3], /[0-9]+ not compared/)) {
                    ++partly[row]
                    beyond[row] += substr(f[3], RSTART, RLENGTH) + 0
                }
            } else {
                ++wrong[row]
            }
        }
        print "| package | format | files | agree | of these in part | reads | not compared | refused | disagree |"
        print "|---|---|---|---|---|---|---|---|---|"
        for (row in files) {
            printf "| %s | %d | %d | %d | %d | %d | %d | %d |\n", row, files[row], agree[row], partly[row],
                   reads[row], beyond[row], refused[row], wrong[row] | "LC_ALL=C sort | tr -d \"~\""
            all += files[row]
            good += agree[row]
            part += partly[row]
            read += reads[row]
            left += beyond[row]
            bad += refused[row]
            worse += wrong[row]
        }
        close("LC_ALL=C sort | tr -d \"~\"")
        printf "| all | | %d | %d | %d | %d | %d | %d | %d |\n", all, good, part, read, left, bad, worse
    }' "$list"
    echo
    sed -n 's/^\([^|]*\)|[^|]*|refused: \(.*\)/\1: \2/p' "$list" | sort | uniq -c | sort -rn
}

case ${1-} in
    --one) judge_line "$2" ;;
    --table) table ;;
    --write) list_files | judge_all >"$list.new" && mv "$list.new" "$list" && table ;;
    *)
        test -x "$espalier" || {
            echo "real_scenes: the program is not built" >&2
            exit 1
        }
        seen=$(mktemp) && known=$(mktemp) || exit 99
        trap 'rm -f "$seen" "$known"' EXIT
        list_known | judge_all >"$seen"
        cut -d '|' -f 1 "$seen" | sort -u | while read -r package; do grep "^$package|" "$list"; done |
            LC_ALL=C sort >"$known"
        diff "$known" "$seen" || {
            echo "real_scenes: results differ from $list (<)" >&2
            exit 1
        }
        printf 'real_scenes: %d files gave the results of the list\n' "$(wc -l <"$seen")"
        ;;
esac
