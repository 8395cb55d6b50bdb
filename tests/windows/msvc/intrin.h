// SPDX-License-Identifier: MIT
// What the library uses of <intrin.h>.
#include <xmmintrin.h>

unsigned char _BitScanForward64(unsigned long *bit, unsigned long long word);
unsigned char _BitScanReverse(unsigned long *bit, unsigned long word);
