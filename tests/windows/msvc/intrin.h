// SPDX-License-Identifier: MIT
// What the library and xxHash use of <intrin.h>.
#include <xmmintrin.h>

unsigned char _BitScanForward64(unsigned long *bit, unsigned long long word);
unsigned char _BitScanReverse(unsigned long *bit, unsigned long word);
unsigned long long _umul128(unsigned long long a, unsigned long long b, unsigned long long *high);
