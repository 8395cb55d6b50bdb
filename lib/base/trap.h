// SPDX-License-Identifier: MIT
// Assertions of the library, and the trap for faults of its caller. The option --enable-checks of
// configure selects how many assertions are compiled in: none, cheap (the default) or full. An
// assertion that is left out does not evaluate its condition and costs no instruction.
#ifndef ESPALIER_LIB_BASE_TRAP_H
#define ESPALIER_LIB_BASE_TRAP_H

#include "lib/base/compiler.h"

#include <espalier/base.h>

#ifndef ESPL_CHECKS
#define ESPL_CHECKS 1
#endif

/// Report an assertion of the library that does not hold to stderr and abort.
_Noreturn void espl__assertion_failed(const char *file, int line, const char *condition);

/// Report a fault of the caller to the trap hook; without a trap hook to stderr, and abort.
/// @param sentence  says what is wrong, and what to do.
void espl__trap(const espl_hooks *hooks, const char *file, int line, const char *sentence);

/// Assert a condition where `on` is true. The two macros below say where that is.
#define ESPL_CHECK_IF(on, condition) \
    ((void)(!(on) || (condition) || (espl__assertion_failed(__FILE__, __LINE__, #condition), 0)))
/// Assert a condition that takes constant time, once per call: compiled in by cheap and by full.
#define ESPL_CHECK(condition) ESPL_CHECK_IF(ESPL_CHECKS >= 1, condition)
/// Assert a condition that walks a structure, or one in the innermost loop over nodes, rows or
/// commands: compiled in by full alone, because users keep the cheap assertions.
#define ESPL_CHECK_FULL(condition) ESPL_CHECK_IF(ESPL_CHECKS >= 2, condition)

/// Tell whether a precondition holds that only a fault of the caller can break. Where it does not,
/// every build yields false, so that the call is refused; builds with assertions trap before that,
/// with the sentence. Not for required pointers: these are answered with ESPL_ERR_ARGUMENT.
#define ESPL_DEMAND(hooks, condition, sentence) \
    ((condition) ||                             \
     (ESPL_CHECKS >= 1 ? (espl__trap((hooks), __FILE__, __LINE__, (sentence)), false) : false))

#endif
