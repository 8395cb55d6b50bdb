// SPDX-License-Identifier: MIT
// What the library and the golden tape use of <stdlib.h>, because that of mingw is not for MSVC.
#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

void abort(void);
int atoi(const char *text);
void exit(int status);
void free(void *block);
char *getenv(const char *name);
void *malloc(size_t size);
void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
unsigned long long strtoull(const char *text, char **end, int base);

// xxHash swaps bytes by these.
unsigned long _byteswap_ulong(unsigned long number);
unsigned long long _byteswap_uint64(unsigned long long number);
