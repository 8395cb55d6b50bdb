// SPDX-License-Identifier: MIT
// The modes in which a thread computes with floats: how it rounds, and whether it flushes denormals to
// zero. A thread inherits the modes of the thread that started it, and any code of the program may set
// others. The jobs of a loop must have the same, because any thread may run any job.
#ifndef ESPALIER_LIB_BASE_FLOAT_MODES_H
#define ESPALIER_LIB_BASE_FLOAT_MODES_H

#include "lib/base/compiler.h"

#include <stdint.h>

#if defined(__SSE__) || defined(_M_X64) || (defined(_M_IX86_FP) && _M_IX86_FP >= 1)
#include <xmmintrin.h>
// MXCSR: rounding control, flush to zero, denormals are zero.
#define ESPL__FLOAT_MODES UINT32_C(0xe040)
#elif defined(__aarch64__) && defined(__GNUC__)
// FPCR: flush to zero of 32 and of 16 bits, rounding mode; and of newer processors NEP, AH and FIZ.
#define ESPL__FLOAT_MODES UINT32_C(0x01c80007)
#elif defined(_M_ARM64)
#include <intrin.h>
#define ESPL__FLOAT_MODES UINT32_C(0x01c80007)
#else
// A target without such modes, WebAssembly, or one whose modes are not known here.
#define ESPL__FLOAT_MODES UINT32_C(0)
#endif

/// Return the register that has the modes, among other bits.
static inline uint32_t espl__float_modes_read(void)
{
#if defined(_M_ARM64)
    return (uint32_t)_ReadStatusReg(ARM64_FPCR);
#elif defined(__aarch64__) && defined(__GNUC__)
    uint64_t modes;

    __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
    return (uint32_t)modes;
#elif ESPL__FLOAT_MODES != 0
    return _mm_getcsr();
#else
    return 0;
#endif
}

static inline void espl__float_modes_write(uint32_t modes)
{
#if defined(_M_ARM64)
    _WriteStatusReg(ARM64_FPCR, modes);
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)modes) : "memory");
#elif ESPL__FLOAT_MODES != 0
    _mm_setcsr(modes);
#else
    (void)modes;
#endif
}

/// Set the modes in which a program starts: round to nearest, keep denormals.
/// @return what espl__float_modes_end() takes.
static inline uint32_t espl__float_modes_begin(void)
{
    const uint32_t before = espl__float_modes_read();

    if ((before & ESPL__FLOAT_MODES) != 0) {
        espl__float_modes_write(before & ~ESPL__FLOAT_MODES);
    }
    return before;
}

/// Set the modes of before. Flags of exceptions that were raised since stay raised.
static inline void espl__float_modes_end(uint32_t before)
{
    if ((before & ESPL__FLOAT_MODES) != 0) {
        espl__float_modes_write((espl__float_modes_read() & ~ESPL__FLOAT_MODES) |
                                (before & ESPL__FLOAT_MODES));
    }
}

#endif
