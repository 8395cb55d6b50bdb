// SPDX-License-Identifier: MIT
// The same bits everywhere need the arithmetic of IEEE 754. Flags of a compiler that change it are
// refused by lib/base/compiler.h where a macro tells of them. clang defines macros for a few only, and
// modes of a thread have none: these change the results that this file looks at.
#ifndef ESPALIER_LIB_MATH_ARITHMETIC_H
#define ESPALIER_LIB_MATH_ARITHMETIC_H

#include "lib/math/kernels.h"

/// Find what keeps the arithmetic of this thread or of this build from that of IEEE 754: a rounding
/// mode, denormals that are flushed to zero, or a flag of the compiler. Computes some hundred numbers.
/// @return a sentence with the cause and what to do, of static storage; NULL: nothing was found.
const char *espl__arithmetic_fault(const espl__kernels *kernels);

#endif
