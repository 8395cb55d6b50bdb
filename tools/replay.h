// SPDX-License-Identifier: MIT
// Tapes (espalier/tape.h) played again, and compared with what they say, frame by frame.
#ifndef ESPALIER_TOOLS_REPLAY_H
#define ESPALIER_TOOLS_REPLAY_H

#include "tools/reel.h"
#include "tools/rollback.h"

typedef struct replay_def {
    const espl_executor *executor; // NULL: serial
    uint64_t frames;               // to play at most; 0: all
    size_t memory;                 // bytes that the world may take; 0: any
    bool goes_on;                  // continue after a difference
    uint32_t rollback;             // frames that are played again after each frame; 0: none
    bool skips_hashes;             // frames are counted and not compared
    void *user;                    // passed to the functions
    // Hear each message of the world's log, which a refused call leaves; may be NULL.
    void (*log)(void *user, const char *message);
    // Hear the two hashes of a frame, the logical one first; may be NULL.
    void (*frame)(void *user, const uint64_t hashes[2]);
    // Hear each write before its record is carried out; may be NULL.
    void (*write)(void *user, const espl_write *write);
} replay_def;

typedef enum replay_verdict {
    REPLAY_AGREED,
    REPLAY_DISAGREED, // an answer or a hash is another one: the fault says where
    REPLAY_BAD,       // the bytes are no valid tape: the fault says where
} replay_verdict;

typedef struct replay_result {
    uint64_t calls;  // carried out
    uint64_t frames; // compared
    uint64_t rollbacks;
    bool is_cut;    // the tape ends within a record
    bool is_broken; // the library found a fault of its own
    tool_fault fault;
} replay_result;

/// Play a tape: replay_begin(), replay_step() as long as it is true, and replay_end(). Whatever the bytes are,
/// they are refused or played within the memory allowed.
replay_verdict replay_run(const replay_def *def, const unsigned char *bytes, size_t size,
                          replay_result *result);

/// The first version of tapes with version, flags and fields of components, the first one whose writes are
/// differences from the values before, and the first one whose frames have a checksum. Frames of earlier versions
/// have both hashes, and a replay compares the logical one.
enum { REPLAY_FIELDS_VERSION = 6, REPLAY_WRITES_VERSION = 7, REPLAY_FRAMES_VERSION = 8 };

/// A replay under way.
struct replay {
    reel reel;
    const replay_def *def;
    replay_result *result;
    espl_world *world;
    espl_history *history; // of the world, or NULL
    size_t taken;          // bytes of the world
    espl_status expected;  // of the call at hand
    bool is_cut;           // the call at hand never answered
    bool is_disagreed;
    bool is_dry;      // calls are read and not carried out
    uint32_t version; // of the tape
    uint32_t tag;     // of its world
    uint32_t op;      // of the record at hand
    tool_rollback rollback;
    bool listens;            // to the tape of its own world
    unsigned char heard[32]; // [heard_size]
    size_t heard_size;
};

/// Read the head of a tape, and make the world that it asks for. The replay must stay where it is.
/// replay_end() follows in any case.
void replay_begin(replay *p, const replay_def *def, const unsigned char *bytes, size_t size,
                  replay_result *result);
/// Read the next record and carry it out. @return false: there was none to read.
bool replay_step(replay *p);
/// Read the next record as replay_step(), and carry nothing out. replay_back() goes back to its begin.
bool replay_peek(replay *p);
void replay_back(replay *p);
/// Validate the world, say what the replay found, and destroy the world.
replay_verdict replay_end(replay *p);

/// Take the answer behind a record. @return whether the call is to be carried out: it was read
/// whole, and was not refused for want of memory or for what was going on.
bool replay_wants(replay *p);
/// Compare what a call answered.
void replay_compare(replay *p, const char *call, espl_status status);
/// Read the record of an op and carry it out (replay_calls.c). @return false: there is no such op.
bool replay_call(replay *p, uint32_t op);
/// Read a playback and carry it out (replay_play.c).
void replay_playback(replay *p);
/// Read a command that is carried out at once, and carry it out (replay_play.c).
void replay_make(replay *p);

// The same of writes (replay_writes.c).

void replay_writes(replay *p);
void replay_write(replay *p);
void replay_look_at(replay *p);
void replay_rotate_about(replay *p);
void replay_inherit(replay *p);
/// Words in the value of a kind of write; 0 for no kind.
size_t replay_value_words(uint32_t kind);

#endif
