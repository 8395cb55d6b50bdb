// SPDX-License-Identifier: MIT
// What the library and the golden tape use of <math.h>. The macros of mingw for MSVC tell NaN and
// infinity wrongly.
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define HUGE_VAL __builtin_inf()
#define isnan(x) __builtin_isnan(x)
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)
#define signbit(x) __builtin_signbit(x)

double fabs(double x);
float fabsf(float x);
double sqrt(double x);
float sqrtf(float x);
double floor(double x);
double fmax(double x, double y);
double fmin(double x, double y);
