// SPDX-License-Identifier: MIT
// The driver of a target by libFuzzer. FUZZ_TARGET names the target.
#include "tests/asserts.h"
#include "tests/fuzz/target.h"
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FUZZ_TARGET
#define FUZZ_TARGET fuzz_operations
#endif

// What libFuzzer calls, and what it offers.
int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(unsigned char *bytes, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const unsigned char *one, size_t one_size,
                                 const unsigned char *other, size_t other_size, unsigned char *out,
                                 size_t room, unsigned seed);
size_t LLVMFuzzerMutate(unsigned char *bytes, size_t size, size_t room);

static const fuzz_target *const target = &FUZZ_TARGET;

// libFuzzer writes the input of a run that aborts to a file.
static void hear(const char *file, int line, const char *text)
{
    fprintf(stderr, "%s:%d: %s\nagain: tests/fuzz/%s FILE; smaller: tests/fuzz/%s --shrink FILE\n",
            file, line, text, target->name, target->name);
    abort();
}

int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)count;
    (void)words;
    test_listen(hear);
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    target->run(bytes, size);
    return 0;
}

// Whole records, but for some inputs in which any bytes change.
size_t LLVMFuzzerCustomMutator(unsigned char *bytes, size_t size, size_t room, unsigned seed)
{
    uint64_t random = seed;

    return test_one_in(&random, 16) ? LLVMFuzzerMutate(bytes, size, room)
                                    : target->mutate(bytes, size, room, &random);
}

// Where a part drawn at random begins; or the end.
static size_t cut(const unsigned char *bytes, size_t size, uint64_t *random)
{
    size_t at = 0, found = size, met = 0;

    while (at < size) {
        at += target->part(bytes, size, at);
        met += 1;
        if (test_below(random, (uint32_t)met) == 0) {
            found = at;
        }
    }
    return found;
}

// The beginning of one, and the end of the other.
size_t LLVMFuzzerCustomCrossOver(const unsigned char *one, size_t one_size,
                                 const unsigned char *other, size_t other_size, unsigned char *out,
                                 size_t room, unsigned seed)
{
    uint64_t random = seed;
    const size_t end = cut(one, one_size, &random), begin = cut(other, other_size, &random);
    const size_t size = end < room ? end : room;
    const size_t rest = other_size - begin < room - size ? other_size - begin : room - size;

    memcpy(out, one, size);
    memcpy(out + size, other + begin, rest);
    return size + rest;
}
