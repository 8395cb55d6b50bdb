// SPDX-License-Identifier: MIT
// What the library uses of <windows.h>, because that of mingw is not for MSVC.
typedef union LARGE_INTEGER {
    long long QuadPart;
} LARGE_INTEGER;

int __stdcall QueryPerformanceCounter(LARGE_INTEGER *count);
int __stdcall QueryPerformanceFrequency(LARGE_INTEGER *frequency);
int __stdcall SwitchToThread(void);
