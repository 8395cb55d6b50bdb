// SPDX-License-Identifier: MIT
// ESPL_CHECKS, the assertions of the build: 0 none, 1 those of constant cost, 2 all. Faults of the
// program trap where it is at least 1.
#ifndef ESPALIER_TESTS_CHECKS_H
#define ESPALIER_TESTS_CHECKS_H

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#ifndef ESPL_CHECKS
#define ESPL_CHECKS 1
#endif

#endif
