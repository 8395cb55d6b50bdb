// SPDX-License-Identifier: MIT
// What the module of the page exports, and what its parts share. Arrays and texts are valid until the next
// call that names them.
#ifndef ESPALIER_TOOLS_VIEW_MODULE_H
#define ESPALIER_TOOLS_VIEW_MODULE_H

#include "tools/replay.h"
#include "tools/tape_text.h"

/// A record in the index. 8 bytes, which JavaScript reads.
typedef struct view_record {
    uint32_t begin; // on the tape
    uint8_t op, marks;
    int8_t status;
    uint8_t is_cut;
} view_record;
_Static_assert(sizeof(view_record) == 8, "JavaScript has another size");

/// What an entity is, in a byte.
enum {
    VIEW_ALIVE = 1,
    VIEW_PLACED = 2, // it has a transform
    VIEW_PREFAB = 4,
    VIEW_DISABLED = 8,
    VIEW_MOVED = 16, // its world is another one than before
    VIEW_NEW = 32,
    VIEW_MEMBER = 64, // it has a parent
    VIEW_OPEN = 128,  // its children are rows of the tree
};

/// No entity.
#define VIEW_NONE UINT32_MAX

/// Return the world of the tape, or NULL.
espl_world *view_world(void);
/// Make room for `count` items of `size` bytes in a pointer at `array`. @return false: no memory.
bool view_grow(void *array, size_t *capacity, size_t count, size_t size);

// --- Of module.c ---

void *view_allocate(size_t size);
void view_free(void *block);

/// Begin a tape and own its bytes.
/// @param is_checked  compare checksums and answers, and end at the first difference.
/// @return whether its head is good; else see view_fault().
int view_open(unsigned char *bytes, size_t size, bool is_checked);
/// Begin the tape anew.
bool view_restart(void);
void view_close(void);
/// Find all records without carrying them out. @return their number.
size_t view_index(void);
const view_record *view_records(void);
size_t view_frame_count(void);
const uint32_t *view_frames(void);
const char *view_index_fault(void);

/// Carry records out until so many are. @return how many are: fewer where the tape is bad.
size_t view_run(size_t record);
size_t view_position(void);
int view_state(void);
const char *view_fault(void);
/// Compute a hash of the world now, of an espl_hash_kind; NULL where there is none.
const uint64_t *view_hash(int kind);
bool view_is_valid(void);
/// Return the lines of the log since the last call.
const char *view_messages(void);
/// Return the call of a record as a line.
const char *view_text(size_t record);
/// Return the first entity that a record names, if it lives; else VIEW_NONE.
uint32_t view_entity(size_t record);
const char *view_status(int status);

/// Save the world; NULL without memory.
const unsigned char *view_save(void);
size_t view_image_size(void);
/// Go back, or on, to where an image was saved.
bool view_load(unsigned char *image, size_t size, size_t record, size_t frame);

// --- Of scene.c: the world as arrays, by entity index ---

void scene_close(void);
/// Read the world. @param structure  whether links may have changed since the last call.
/// @param compare  mark what differs from the last call. @return entities alive.
size_t scene_read(bool structure, bool compare);
size_t scene_capacity(void);
size_t scene_root_count(void);
size_t scene_moved_count(void);
const uint32_t *scene_moved(void);
const uint32_t *scene_generations(void);
const uint32_t *scene_parents(void);
uint32_t scene_child(uint32_t index);
unsigned char *scene_flags(void);
const float *scene_worlds(void);

/// Lay out the rows of the tree. @return how many.
size_t scene_rows(void);
const uint32_t *scene_row_entities(void);
const uint32_t *scene_row_depths(void);
/// Open or fold one node; all: VIEW_NONE.
void scene_open(uint32_t index, bool is_open);
/// Open what is above a node. @return its row after scene_rows(), or VIEW_NONE.
uint32_t scene_reveal(uint32_t index);
/// Find entities by name or path, without regard to case. @return how many, at most `limit`.
size_t scene_find(const char *text, size_t limit);
const uint32_t *scene_found(void);

/// Compute matrices of bones. @param palette  [8][3]; @return how many.
size_t scene_bones(bool only_moved_bright, uint32_t selected, const float *palette);
/// Return of how many bones one is drawn.
size_t scene_stride(void);
const float *scene_matrices(void);
float *scene_colors(void);
const uint32_t *scene_owners(void);
/// Return the box around all bones: 6 floats.
const float *scene_box(void);

// --- Of culling.c: what a second camera sees ---

/// Return whether the world has the components of renderables.
bool culling_has_boxes(void);
/// Cull with a matrix from world to clip space, whose depths are from -1 to 1, after scene_read().
/// @return how many boxes are seen; VIEW_NONE: none can be, or there is no memory.
uint32_t culling_cull(const float *matrix);
/// Return the number of all boxes.
size_t culling_count(void);
/// Return what is known of each entity, by index: 0 no box, 1 culled, 2 seen.
const unsigned char *culling_states(void);
/// Make the bones grey whose boxes are culled, after scene_bones(). @param gray  [3]
void culling_shade(size_t bone_count, uint32_t selected, const float *gray);
/// Compute the edges of boxes: 12 lines each. @param palette  [2][3] of what is seen and of what is culled.
/// @return of how many boxes.
size_t culling_boxes(const float *palette);
const float *culling_edges(void);
const float *culling_colors(void);
/// Forget the world, before it ends or is loaded.
void culling_leave(void);
void culling_close(void);

// --- Of details.c: one entity, and lists, as text ---

const char *details_name(uint32_t index);
const char *details_path(uint32_t index);
/// Return local and world transform, 12 words each, then inherit flags, link, role, depth and children.
const uint32_t *details_values(uint32_t index);
/// Return lines of components: name, size, hexadecimal, fields.
const char *details_components(uint32_t index);
/// The cell of its hierarchy and its absolute position, in a world with cells, and its original, where it has one:
/// lines of a name, a tab and a text.
const char *details_places(uint32_t index);
/// Return lines from the root to the entity: index, inherit flags, whether composing gives the same bits.
size_t details_chain(uint32_t index);
const uint32_t *details_chain_entities(void);
const float *details_chain_locals(void);
const uint32_t *details_chain_facts(void);
const char *details_stats(void);
const char *details_chunks(void);

#endif
