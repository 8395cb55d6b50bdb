#!/bin/sh
# SPDX-License-Identifier: MIT
# Debian packages of Espalier, from a tarball that "make dist" writes, built in a clean directory:
#
#     packaging/debian.sh SOURCE BUILD OUTPUT
#
# BUILD is a configured build directory; the packages go to OUTPUT. "make debian-packages" calls this. The
# tarball has no directory debian, because a distribution puts its own there; so packaging/debian is copied
# to that place here. The packages are checked by lintian and by their lists of files; the library is stripped.
# DEB_BUILD_OPTIONS=nocheck leaves out the tests.
set -eu

die()
{
    echo "packaging/debian.sh: $*" >&2
    exit 1
}

for tool in dh dpkg-buildpackage lintian; do
    command -v $tool >/dev/null || die "$tool is not installed (Debian: debhelper dpkg-dev lintian)"
done
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
mkdir -p "$3"
output=$(cd "$3" && pwd)
room=$output/build
rm -rf "$room" "$output"/espalier*_* "$output"/libespalier*_*
mkdir "$room"
unset MAKEFLAGS MAKELEVEL MFLAGS || :

# list_patterns: each package with the paths of its files, as patterns of the shell. Each pattern matches at
# least one file, and each file matches a pattern.
list_patterns()
{
    cat <<'LIST'
libespalier0 ./usr/lib/*/libespalier.so.0
libespalier0 ./usr/lib/*/libespalier.so.0.*.*
libespalier0 ./usr/share/doc/libespalier0/changelog.Debian.gz
libespalier0 ./usr/share/doc/libespalier0/changelog.gz
libespalier0 ./usr/share/doc/libespalier0/copyright
libespalier-dev ./usr/include/espalier/*.h
libespalier-dev ./usr/include/espalier/*.hpp
libespalier-dev ./usr/lib/*/libespalier.a
libespalier-dev ./usr/lib/*/libespalier.so
libespalier-dev ./usr/lib/*/pkgconfig/espalier.pc
libespalier-dev ./usr/lib/*/cmake/espalier/*.cmake
libespalier-dev ./usr/share/doc/libespalier-dev/changelog.Debian.gz
libespalier-dev ./usr/share/doc/libespalier-dev/changelog.gz
libespalier-dev ./usr/share/doc/libespalier-dev/copyright
espalier ./usr/bin/espalier
espalier ./usr/share/doc/espalier/changelog.Debian.gz
espalier ./usr/share/doc/espalier/changelog.gz
espalier ./usr/share/doc/espalier/copyright
espalier ./usr/share/man/man1/espalier.1.gz
espalier-doc ./usr/share/doc-base/espalier-doc.espalier
espalier-doc ./usr/share/doc/espalier-doc/README.md
espalier-doc ./usr/share/doc/espalier-doc/changelog.Debian.gz
espalier-doc ./usr/share/doc/espalier-doc/changelog.gz
espalier-doc ./usr/share/doc/espalier-doc/copyright
espalier-doc ./usr/share/doc/espalier-doc/examples/*
espalier-doc ./usr/share/doc/espalier-doc/guides/*.md
espalier-doc ./usr/share/doc/espalier-doc/html/index.html
espalier-doc ./usr/share/doc/espalier-doc/html/*
espalier-doc ./usr/share/man/man3/espl_attach.3.gz
espalier-doc ./usr/share/man/man3/*.3.gz
espalier-doc ./usr/share/man/man5/*.5.gz
espalier-doc ./usr/share/man/man7/*.7.gz
LIST
    test ! -f "$room/espalier-$version/viewer.html" || cat <<'LIST'
espalier ./usr/share/espalier/viewer.html
espalier ./usr/share/lintian/overrides/espalier
LIST
}

# check_files PACKAGE FILE: the package in FILE has the files that it should have.
check_files()
{
    package=$1
    dpkg-deb -c "$2" | awk '$1 !~ /^d/ { print $6 }' >"$room/files"
    list_patterns | sed -n "s/^$package //p" >"$room/patterns"
    while read -r pattern; do
        grep -qxE "$(as_expression "$pattern")" "$room/files" || die "$package has no file $pattern"
    done <"$room/patterns"
    while read -r pattern; do
        as_expression "$pattern"
    done <"$room/patterns" >"$room/expressions"
    if grep -vxE -f "$room/expressions" "$room/files"; then
        die "$package has files that match none of its patterns"
    fi
    printf '%-16s %4d files, %s KiB installed\n' "$package" "$(wc -l <"$room/files")" \
        "$(dpkg-deb -f "$2" Installed-Size)"
}

# as_expression PATTERN: the pattern as an extended regular expression.
as_expression()
{
    printf '%s\n' "$1" | sed 's/[.+]/\\&/g; s/\*/.*/g'
}

make -s -C "$build" dist-xz >"$room/log" 2>&1 || { cat "$room/log" >&2 && die "there is no tarball"; }
tarball=$(find "$build" -maxdepth 1 -name 'espalier-*.tar.xz' | sort | tail -n 1)
version=${tarball##*/espalier-}
version=${version%.tar.xz}
cp "$tarball" "$room/espalier_$version.orig.tar.xz"
tar -xf "$tarball" -C "$room"
cp -r "$source/packaging/debian" "$room/espalier-$version/debian"
cd "$room/espalier-$version"
# The page is made of sources that are in tools/view, by npm, which a package may not call.
test ! -f viewer.html || cat >>debian/source/lintian-overrides <<'OVERRIDES'
espalier source: source-is-missing [viewer.html]
espalier source: very-long-line-length-in-source-file * [viewer.html*]
OVERRIDES
test ! -f viewer.html ||
    echo 'espalier: package-contains-documentation-outside-usr-share-doc [usr/share/espalier/viewer.html]' \
        >debian/espalier.lintian-overrides
dpkg-parsechangelog -S Version | grep -q "^$version-" ||
    die "the first entry of packaging/debian/changelog is not of version $version"
if ! dpkg-source -b . >>"$room/log" 2>&1 ||
    ! dpkg-buildpackage -us -uc -b -j"$(nproc)" >>"$room/log" 2>&1; then
    tail -n 60 "$room/log" >&2
    die "dpkg-buildpackage failed; all of its output is in $room/log"
fi
cd "$room"
lintian --no-cfg --fail-on error,warning,info,pedantic -EviIL +pedantic ./*.changes ./*.dsc ||
    die "lintian has found something"
for file in ./*.deb; do
    package=${file#./}
    package=${package%%_*}
    case $package in
        *-dbgsym) ;;
        *) check_files "$package" "$file" ;;
    esac
done
test "$(find . -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*' | wc -l)" -eq 4 || die "there are not four packages"
path=$(dpkg-deb -c ./libespalier0_*.deb | awk '/libespalier[.]so[.]/ && $1 ~ /^-/ { print $6 }')
dpkg-deb --fsys-tarfile ./libespalier0_*.deb | tar -xO "$path" >"$room/library"
echo "the shared library has $(wc -c <"$room/library") bytes"
readelf -S "$room/library" >"$room/sections"
! grep -qF .symtab "$room/sections" || die "the shared library is not stripped"
mv ./*.deb ./*.dsc ./*.changes ./*.buildinfo ./*.tar.xz "$output"
cd "$output"
rm -rf "$room"
