// SPDX-License-Identifier: MIT
// Variadic arguments by clang. The macros of mingw for MSVC are those of 32 bits.
#include <vadefs.h>

#undef va_start
#undef va_end
#undef va_arg
#undef va_copy
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_copy(to, from) __builtin_va_copy(to, from)
