// SPDX-License-Identifier: MIT
// Memory that runs out at every point of every call. A scenario is a scene, which makes a world and
// names some of its entities, and a call on it. The call is carried out once with all memory that
// it requests, then with its n-th allocation refused, for every n, and with that and all later
// ones.
#ifndef ESPALIER_TESTS_SWEEP_H
#define ESPALIER_TESTS_SWEEP_H

#include "tests/support.h"

/// Watches: of SCENE_TICKING, of a call that collects, and of one that creates.
enum { WATCH_OF_SCENE, WATCH_OF_CALL, WATCH_MADE, SWEEP_WATCHES };
enum { SWEEP_MADE = 16, SWEEP_LANES = 3, SWEEP_MEMBERS = 7, SWEEP_ALL = 256 };

/// Entities that calls name. A scene need not have all.
typedef enum sweep_part {
    PART_SOLO,   // stands alone
    PART_ROOT,   // of the largest hierarchy
    PART_MEMBER, // a child of the root, with children where the scene is deep
    PART_LEAF,   // the last to be made below the root
    PART_OTHER,  // the root of another hierarchy
    PART_BARE,   // a member without placement, with a child
    PART_PREFAB, // a root whose members name each other
    PART_COUNT
} sweep_part;

#define PART_BIT(part) (1u << (part))
/// What a solo and a hierarchy have.
#define PARTS_OF_TREE \
    (PART_BIT(PART_SOLO) | PART_BIT(PART_ROOT) | PART_BIT(PART_MEMBER) | PART_BIT(PART_LEAF))

/// What a scene has beside its shape.
enum {
    SCENE_SHUFFLED = 1,   // four workers, in any order, even for what is small
    SCENE_TAPED = 2,      // the world records itself
    SCENE_PREPAID = 4,    // room was made for more of everything
    SCENE_SIDES = 8,      // stretch, context and inherit flags
    SCENE_AGED = 16,      // entities went and came
    SCENE_TRIMMED = 32,   // and it was trimmed
    SCENE_UNSETTLED = 64, // entities died while nothing could be allocated
    SCENE_RECORDED = 128, // other commands are recorded
    SCENE_DIVERSE = 256,  // several archetypes, references, and some are disabled
    SCENE_INDEBTED = 512, // a hierarchy owes a layout, which the next structural call would do
    SCENE_TICKING = 1024  // a tick is under way in which some moved, and a watch knows those before
};

/// How the entities of a scene hang together.
typedef enum sweep_shape {
    SWEEP_EMPTY,
    SWEEP_ONE, // a solo
    SWEEP_PAIR,
    SWEEP_CHAIN,
    SWEEP_STAR,
    SWEEP_FOREST,    // several hierarchies
    SWEEP_FULL_RUN,  // a hierarchy that fills all the room it has
    SWEEP_FULL_CHUNK // as many solos as one chunk holds, beside a pair
} sweep_shape;

typedef struct sweep_scene {
    const char *name;
    sweep_shape shape;
    unsigned has; // SCENE_ bits
} sweep_scene;

/// A world under sweep, with what its calls need and what came of them.
typedef struct sweep_world {
    test_world test;
    espl_world *world; // of the test
    test_executor executor;
    uint64_t taped; // hash of the tape
    espl_entity part[PART_COUNT];
    espl_entity all[SWEEP_ALL]; // [count] what the scene made
    uint32_t count;
    espl_component word, link, tag;
    espl_custom_command callback;
    espl_command_buffer *waiting;     // of SCENE_RECORDED
    espl_command_buffer *commands[2]; // of the call; or NULL
    espl_watch *watches[SWEEP_WATCHES]; // or NULL
    uint64_t since;                   // of the call's watch: a moment that it looks back to
    espl_entity pending[SWEEP_MADE];
    espl_entity made[SWEEP_MADE];
    uint32_t made_count;
    uint64_t answer; // hash of what the call told
    uint64_t heard;  // hash of the payloads that were handed over
} sweep_world;

/// Start motion where it does not run, and take two ticks in which some entities move. The second is under
/// way, and in the midst of it the world was presented.
void sweep_take_ticks(sweep_world *w);
void sweep_world_begin(sweep_world *w, const sweep_scene *scene, test_blocks kind);
/// Give all back, and demand that the allocator has nothing left.
void sweep_world_end(sweep_world *w);

extern const sweep_scene sweep_scenes[];
extern const size_t sweep_scene_count;
/// The executor of all worlds that are made from now on, but for SCENE_SHUFFLED; NULL: serial.
void sweep_use(const espl_executor *executor);

/// What a call may do that others may not.
enum {
    CALL_IS_SAVED = 1,   // carried out without memory as well; what can wait is put off
    CALL_IS_PARTIAL = 2, // for want of memory it does a part, of what nobody can read, and says so
    CALL_IS_STEPWISE = 4 // what was done before the refusal stays done
};

typedef struct sweep_call {
    const char *name;
    unsigned parts;                                   // PART_BIT of what it names
    unsigned traits;                                  // CALL_ bits
    unsigned number;                                  // for calls that share their functions
    void (*prepare)(sweep_world *w, unsigned number); // or NULL
    espl_status (*run)(sweep_world *w, unsigned number);
    void (*finish)(sweep_world *w, unsigned number); // or NULL: when it was done, with memory
} sweep_call;

// --- Calls at once ---

/// Calls that differ by a number only, and what the first ones of them name.
typedef struct sweep_group {
    const char *name;
    espl_status (*run)(sweep_world *w, unsigned number);
    void (*prepare)(sweep_world *w, unsigned number);
    unsigned traits;
    unsigned count;
    unsigned parts[4];  // of those up to the limits
    unsigned limits[4]; // 0: no more
} sweep_group;

/// Those of motion, watches, and the writes that motion blends.
extern const sweep_group sweep_motion_groups[];
extern const size_t sweep_motion_group_count;

size_t sweep_call_count(void);
sweep_call sweep_call_at(size_t at);

// --- Commands, recorded and played ---

extern const unsigned sweep_command_count; // kinds of them
/// Forms in which commands are met.
typedef enum sweep_form {
    SWEEP_RECORDS, // memory runs out while one is recorded
    SWEEP_PLAYS,   // while one is played
    SWEEP_MIXES,   // while many kinds are, of several lanes
    SWEEP_SYNCS,   // while two objects are
    SWEEP_FORMS
} sweep_form;

sweep_call sweep_command_call(sweep_form form, unsigned kind);

/// Add to what the call told.
void sweep_tell(sweep_world *w, const void *bytes, size_t size);

// --- The sweep ---

/// What was met.
typedef struct sweep_count {
    size_t scenarios; // calls that come to something, each in a scene
    size_t points;    // allocations that failed
    size_t refusals;  // of these: the call said so; it did without the others
} sweep_count;

/// Tell whether a scene has what a call names.
bool sweep_fits(const sweep_scene *scene, const sweep_call *call);
/// Sweep one scenario, and add to the count.
void sweep_run(const sweep_scene *scene, const sweep_call *call, sweep_count *count);
/// Let each point be followed by another call, and that by the one that failed: both come to what
/// they come to in a world in which nothing failed.
void sweep_run_aside(const sweep_scene *scene, const sweep_call *call, sweep_count *count);

#endif
