// SPDX-License-Identifier: MIT
// Included before all else where clang compiles as MSVC does with the headers of mingw. These drop
// attributes for MSVC, and put one where only a C++ compiler takes it.
#include <_mingw.h>

#undef __attribute__
#undef __MINGW_ATTRIB_NORETURN
#define __MINGW_ATTRIB_NORETURN
