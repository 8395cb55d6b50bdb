// SPDX-License-Identifier: MIT
// Assertions in two rungs, and the trap for programmer's faults. ESPL_CHECK: O(1), on by default.
// ESPL_CHECK_FULL: walks a structure, on in tests. Neither evaluates its argument when off.
#ifndef ESPALIER_LIB_BASE_TRAP_H
#define ESPALIER_LIB_BASE_TRAP_H

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <espalier/base.h>

#ifdef __FAST_MATH__
#error "espalier promises the same bits everywhere; build it without -ffast-math"
#endif

#ifndef ESPL_CHECKS
#define ESPL_CHECKS 1
#endif

/// Report a broken assertion of the library itself to stderr and abort.
_Noreturn void espl__assertion_failed(const char *file, int line, const char *condition);

/// Report a programmer's fault through the hooks; without a trap hook, to stderr and abort.
void espl__trap(const espl_hooks *hooks, const char *file, int line, const char *condition);

#define ESPL_CHECK_IF(on, condition) \
    ((void)(!(on) || (condition) || (espl__assertion_failed(__FILE__, __LINE__, #condition), 0)))
#define ESPL_CHECK(condition) ESPL_CHECK_IF(ESPL_CHECKS >= 1, condition)
#define ESPL_CHECK_FULL(condition) ESPL_CHECK_IF(ESPL_CHECKS >= 2, condition)

/// A condition that only a programmer's fault can break: true when it holds. Broken, checked
/// builds trap; every build sees false and refuses the call.
#define ESPL_DEMAND(hooks, condition) \
    ((condition) ||                   \
     (ESPL_CHECKS >= 1 ? (espl__trap((hooks), __FILE__, __LINE__, #condition), false) : false))

#endif
