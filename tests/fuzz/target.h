// SPDX-License-Identifier: MIT
// Fuzz targets: kinds of input, each with functions that make, run, change and cut it, for drivers
// that do not depend on the kind: a plain program, libFuzzer, a shrinker, a regression test.
#ifndef ESPALIER_TESTS_FUZZ_TARGET_H
#define ESPALIER_TESTS_FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Some input, in memory of its own.
typedef struct fuzz_input {
    unsigned char *bytes; // [size]
    size_t size;
} fuzz_input;

/// What an input is made from. What is 0 follows from the seed.
typedef struct fuzz_order {
    uint64_t seed;
    uint32_t population; // living entities it strives for
    uint32_t limit;      // commands of a playback
    size_t length;       // records
    bool is_structural;  // little but operations that change structure or components
} fuzz_order;

typedef struct fuzz_target {
    const char *name;
    const char *what; // holds, in a few words
    uint32_t usual;   // inputs of a short run
    /// Make an input, the same from the same order. The caller frees its bytes.
    fuzz_input (*make)(const fuzz_order *order);
    /// Run any bytes. Returns where nothing is wrong; fails as an assertion of a test does.
    void (*run)(const unsigned char *bytes, size_t size);
    /// Change an input in a few places. @param bytes  [room] @return the new size, at most `room`.
    size_t (*mutate)(unsigned char *bytes, size_t size, size_t room, uint64_t *random);
    /// Bytes of the part that begins at `at`, which can be dropped from the rest; those of the head,
    /// which cannot, at 0. Never 0, nor past the end.
    size_t (*part)(const unsigned char *bytes, size_t size, size_t at);
} fuzz_target;

/// Calls at once, against the model.
extern const fuzz_target fuzz_operations;
/// Commands over lanes and keys, played by one worker and by three, against calls at once and the
/// model.
extern const fuzz_target fuzz_recorded;
/// Bytes of a tape file (espalier/tape.h), played by the replay of espalier(1).
extern const fuzz_target fuzz_replay;
/// Bytes of an archive (espalier/archive.h), read and written again.
extern const fuzz_target fuzz_archive;
/// An archive, and a delta of it or another archive.
extern const fuzz_target fuzz_delta;
/// Bytes of an image (espalier/image.h), loaded and saved again.
extern const fuzz_target fuzz_image;

/// Have runs print each operation and what it answered.
extern bool fuzz_tells_steps;

#endif
