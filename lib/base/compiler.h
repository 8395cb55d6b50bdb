// SPDX-License-Identifier: MIT
// What C11 lacks or a compiler names in its own way: by gcc and clang, by MSVC, and in plain C. All
// attributes and builtins of compilers are here, in bits.h and in prefetch.h, but the vector
// extensions of lib/math, which stand in whole blocks that MSVC skips.
#ifndef ESPALIER_LIB_BASE_COMPILER_H
#define ESPALIER_LIB_BASE_COMPILER_H

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stddef.h>

// The same bits everywhere need the arithmetic of IEEE 754. gcc has a macro for each flag that changes
// it; what has none is found by lib/math/arithmetic.c when a world is created.
#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "Espalier promises the same bits everywhere: compile it without -ffast-math or /fp:fast."
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "Espalier promises the same bits everywhere: compile it without -ffinite-math-only."
#elif defined(__ASSOCIATIVE_MATH__)
#error "Espalier promises the same bits everywhere: compile it without -fassociative-math."
#elif defined(__RECIPROCAL_MATH__)
#error "Espalier promises the same bits everywhere: compile it without -freciprocal-math."
#elif defined(__NO_SIGNED_ZEROS__)
#error "Espalier promises the same bits everywhere: compile it without -fno-signed-zeros."
#endif

// Products and sums are apart: gcc and clang are told by a flag.
#ifdef _MSC_VER
#pragma fp_contract(off)
#endif

// ESPL__INLINE: the kernels are slow where a formula is a call. ESPL__APART: a slow path must not
// be inlined, because its callers would save registers for it on the fast path. A coverage build
// has one copy of each function, because copies for constant arguments have branches that no test
// can take.
#if defined(ESPL_COVERAGE)
#define ESPL__INLINE static inline
#define ESPL__APART
#elif defined(__GNUC__)
#define ESPL__INLINE static inline __attribute__((always_inline))
#define ESPL__APART __attribute__((noinline))
#elif defined(_MSC_VER)
#define ESPL__INLINE static __forceinline
#define ESPL__APART __declspec(noinline)
#else
#define ESPL__INLINE static inline
#define ESPL__APART
#endif

// ESPL__HAS_SSE2: the compiler has the intrinsics of SSE2, and may generate it. MSVC has no macro of its own for
// that on x86-64, where every processor has it.
#if defined(__SSE2__) || defined(_M_X64)
#define ESPL__HAS_SSE2 1
#else
#define ESPL__HAS_SSE2 0
#endif

// MSVC knows _Thread_local in its newest versions alone.
#ifdef _MSC_VER
#define ESPL__THREAD_LOCAL __declspec(thread)
#else
#define ESPL__THREAD_LOCAL _Thread_local
#endif

/// A parameter `float v[ESPL__LEAST 3]` points to at least 3 floats. MSVC has no such parameters.
#ifdef _MSC_VER
#define ESPL__LEAST
#else
#define ESPL__LEAST static
#endif

/// A type of the largest alignment that malloc() serves. In C, MSVC has no max_align_t.
#ifdef _MSC_VER
typedef struct espl__max_align {
    _Alignas(16) unsigned char bytes[16];
} espl__max_align;
#else
typedef max_align_t espl__max_align;
#endif

#endif
