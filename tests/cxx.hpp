// SPDX-License-Identifier: MIT
/// @file
/// What the parts of the program of tests/cxx.sh share.
#ifndef ESPALIER_TESTS_CXX_HPP
#define ESPALIER_TESTS_CXX_HPP

/// Print a line of TAP.
void demand(bool condition, const char *what);
/// Large worlds, and one entity in several worlds: tests/cxx_far.cpp.
void far_and_counterparts();
/// Renderables, mirrors and what cameras see: tests/cxx_renderables.cpp.
void renderables();
/// Images, archives, and what is said of components: tests/cxx_values.cpp.
void values();

#endif
