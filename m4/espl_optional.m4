# SPDX-License-Identifier: MIT
# Optional parts. Each has --with-NAME and --without-NAME; left alone it is used where it is found.
# Asked for and missing, configure stops. Each sets VAR_CFLAGS, VAR_LIBS, the shell variable
# have_NAME, the define HAVE_VAR and the Automake conditional HAVE_VAR.

# ESPL_OPTIONAL_CHOICE(NAME, VAR, PURPOSE, SEARCH): SEARCH sets have_NAME to yes or no.
AC_DEFUN([ESPL_OPTIONAL_CHOICE], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1], [$3 @<:@where it is found@:>@])],
  [], [with_$1=check])
have_$1=no
AS_IF([test "x$with_$1" != xno], [$4])
AS_IF([test "x$with_$1" = xyes && test "x$have_$1" = xno],
  [AC_MSG_ERROR([--with-$1 was given, but $1 was not found])])
AS_IF([test "x$have_$1" = xyes],
  [AC_DEFINE([HAVE_$2], [1], [Define to 1 to build with $1.])],
  [$2_CFLAGS= $2_LIBS=])
AC_SUBST([$2_CFLAGS])
AC_SUBST([$2_LIBS])
AM_CONDITIONAL([HAVE_$2], [test "x$have_$1" = xyes])
])

# ESPL_OPTIONAL_PACKAGE(NAME, VAR, MODULE, PURPOSE): found by pkg-config.
AC_DEFUN([ESPL_OPTIONAL_PACKAGE], [
ESPL_OPTIONAL_CHOICE([$1], [$2], [$4],
  [PKG_CHECK_MODULES([$2], [$3], [have_$1=yes], [have_$1=no])])
])

# ESPL_OPTIONAL_LIBRARY(NAME, VAR, HEADER, LIBRARY, FUNCTION, PURPOSE): has no .pc file.
AC_DEFUN([ESPL_OPTIONAL_LIBRARY], [
ESPL_OPTIONAL_CHOICE([$1], [$2], [$6],
  [AC_CHECK_HEADER([$3],
    [AC_CHECK_LIB([$4], [$5], [have_$1=yes $2_LIBS="-l$4"], [], [$PTHREAD_LIBS])])])
])

# ESPL_OPTIONAL_CXX(NAME, VAR, MODULES, HEADER, PURPOSE): a library for C++, found by pkg-config, whose
# header the C++ compiler must be able to read. Its headers count as those of the system, so that our
# warnings leave them alone; directories that the compiler searches by itself must not be named, because
# naming them changes their order. Programs are linked as C, so its libraries include that of C++.
AC_DEFUN([ESPL_OPTIONAL_CXX], [
ESPL_OPTIONAL_CHOICE([$1], [$2], [$5],
  [PKG_CHECK_MODULES([$2], [$3], [have_$1=yes], [have_$1=no])
   espl_flags=
   for flag in $$2_CFLAGS; do
     AS_CASE([$flag], [-I*], [flag=`cd "${flag#-I}" 2>/dev/null && pwd -P`
       AS_CASE([$flag], [""|/usr/include|/usr/local/include], [], [espl_flags="$espl_flags -isystem $flag"])],
       [espl_flags="$espl_flags $flag"])
   done
   $2_CFLAGS=$espl_flags
   AS_IF([test "x$have_$1" = xyes], [
     AC_LANG_PUSH([C++])
     espl_save_CXXFLAGS=$CXXFLAGS
     CXXFLAGS="$CXXFLAGS $$2_CFLAGS"
     AC_MSG_CHECKING([whether $CXX reads $4])
     AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <$4>]])], [], [have_$1=no])
     AC_MSG_RESULT([$have_$1])
     CXXFLAGS=$espl_save_CXXFLAGS
     AC_LANG_POP([C++])
     $2_LIBS="$$2_LIBS $ESPL_CXX_LIBS"])])
])
