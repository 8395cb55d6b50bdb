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
