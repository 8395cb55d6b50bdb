#!/bin/sh
# SPDX-License-Identifier: MIT
# espalier/espalier.hpp compiles without a warning as C++17 and C++20, with exceptions and without, and the
# checks of tests/cxx.cpp and of the other tests/cxx_*.cpp pass.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
: "${CC=cc}" "${CXX=c++}" "${LIBTOOL=./libtool}"
flags="-Wall -Wextra -pedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wextra-semi
    -Wzero-as-null-pointer-constant -Wcast-qual -Wundef -Werror -I$top/include"

# The compiler and the flags are lists of words.
# shellcheck disable=SC2086
echo 'int main() { return 0; }' | $CXX -std=c++17 -fsyntax-only -x c++ - 2>/dev/null ||
    skip_all "no compiler of C++17"
room=$(mktemp -d ./cxx.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

# links: tells whether CXX links a program of C++ with what CC compiles. It does not where CC is a cross
# compiler and CXX is not.
# shellcheck disable=SC2086
links()
{
    echo 'int answer(void) { return 0; }' | $CC $CFLAGS -c -o "$room/c.o" -x c - 2>/dev/null &&
        printf '%s\n' '#include <string>' 'extern "C" int answer(void);' \
            'int main(int count, char **) { return int(std::string(count, 0).size()) * answer(); }' |
        $CXX -std=c++17 $CFLAGS -o "$room/linked" -x c++ - -x none "$room/c.o" 2>/dev/null
}

# shellcheck disable=SC2086
{
    for standard in c++17 c++20; do
        for part in cxx cxx_far cxx_renderables cxx_values; do
            $CXX -std=$standard $flags -fsyntax-only "$top/tests/$part.cpp" >&2
            ok "tests/$part.cpp as $standard"
        done
    done
    for header in "$top"/include/espalier/*.hpp; do
        name=${header##*/}
        echo "#include <espalier/$name>" |
            $CXX -std=c++17 $flags -fno-exceptions -fsyntax-only -x c++ - >&2
        ok "$name alone, without exceptions"
        grep -q '^/// Thread rule: ' "$header"
        ok "$name states its thread rule"
    done
    # The compiler warns where a program ignores a status, or the value of a call that only reads.
    for call in 'w.clear()' 'w.create()' 'w.is_alive({})' 'w.subtree({})' 'w.path({})' 'w.begin_tick()' \
        'w.begin_tick().value()' 'w.present(0)' 'w.recenter()' 'w.create_watch().value()' \
        'w.create_watch().value().collect()' 'w.create_command_buffer().value()' \
        'w.create_history().value()' 'w.create_renderables().value()' 'w.save_image()' 'w.load_image(espalier::byte_view())' \
        'w.write_archive().value()' \
        'espalier::world::make().value()'; do
        printf '#include <espalier/espalier.hpp>\nvoid f(espalier::world &w)\n{\n    %s;\n}\n' "$call" |
            $CXX -std=c++17 $flags -fsyntax-only -x c++ - 2>"$room/noticed"
        test $? -ne 0 && grep -qi 'nodiscard\|unused' "$room/noticed"
        ok "ignoring its result gives a warning: $call"
    done
    if has_shrunken_limits; then
        skip "the program runs" "a world of this build holds too few entities"
        done_testing
    fi
    if ! links; then
        skip "the program runs" "CXX does not link what CC compiles"
        done_testing
    fi
    for part in cxx cxx_far cxx_renderables cxx_values; do
        $CXX -std=c++17 $flags $CFLAGS -c -o "$room/$part.o" "$top/tests/$part.cpp" >&2
        ok "tests/$part.cpp is compiled"
    done
    $LIBTOOL --silent --tag=CXX --mode=link $CXX $CFLAGS $ESPL_LDFLAGS -o "$room/program" \
        "$room/cxx.o" "$room/cxx_far.o" "$room/cxx_renderables.o" "$room/cxx_values.o" libespalier.la >&2
    ok "the program is linked with the library"
}
"$room/program" >"$room/printed"
ok "the program runs to its end"
while read -r verdict _ name; do
    case $verdict in
        ok | not)
            test "$verdict" = ok
            ok "$name"
            ;;
    esac
done <"$room/printed"
done_testing
