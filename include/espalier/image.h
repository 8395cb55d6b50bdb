// SPDX-License-Identifier: MIT
/// @file
/// Images: a whole world as bytes, to be loaded again exactly.
///
/// A world that loads an image is the world that was saved: the same calls come to the same bits, the same
/// handles and the same order of queries on both. Handles that lived when the image was saved live again.
/// Builds of the library with the same layout read each other's images (espl_image_layout()).
///
/// What is in an image, and what is not:
///
/// - Entities with their generations and the free indices in their order, rows with the values of their
///   components, names, hierarchies with locals and worlds, the parts that inherit flags keep, and with motion
///   (espalier/motion.h) the previous locals and whether a tick is under way.
/// - The definitions of components only to compare them: a world that loads must have registered the same
///   components first, in the same order. It may have more.
/// - Not the values of components with ESPL_COMPONENT_TRANSIENT, which are zeros after a load.
/// - Not the definition of the world (espl_world_def: allocator, hooks, executor, tape, kernels), command
///   buffers, watches, views, custom commands, statistics, versions of columns, and memory that is reserved,
///   but for side arrays (espl_reserve_def.side_of).
///   These stay as they are in the world that loads.
///
/// After a load each column counts as written, a watch finds the difference between the two worlds, a history
/// (espalier/history.h) has no frame, and with motion each entity is shown at its world transform until the
/// next present. Views and addresses of values end with a load, as with any structural call.
///
/// Thread rule: saving is reading. Loading is a change of the world, and structural.
#ifndef ESPALIER_IMAGE_H
#define ESPALIER_IMAGE_H

#include <espalier/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espl_world espl_world;

/// Count the bytes of an image of a world.
/// @return 0 where the world is NULL. O(hierarchies + chunks + names).
ESPL_API size_t espl_image_size(const espl_world *world);

/// Save a world. Worlds on which the same calls were made have the same image byte for byte, whatever the
/// number of their workers. Takes no memory. Any number of threads may call it while none changes the
/// world.
///
/// @param bytes  [size]
/// @param size   espl_image_size().
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL, or another size); ESPL_ERR_BUSY while commands are applied, and
///         in a parallel write. O(size).
ESPL_API ESPL_NODISCARD espl_status espl_image_save(const espl_world *world, void *bytes,
                                                    size_t size);

/// How an image is loaded.
enum {
    /// The bytes are those of espl_image_save(), unchanged: nothing but the layout and the size is checked.
    /// With other bytes the behaviour is undefined.
    ESPL_IMAGE_TRUSTED = 1,
    /// The image is of a world with another tag: each handle that it has, also in component fields that are
    /// declared as references, gets the tag of this world. Other copies of handles name nothing here.
    ESPL_IMAGE_RETAG = 2,
};

/// Load an image: the world becomes the one that was saved. All or nothing. Structural.
///
/// Without ESPL_IMAGE_TRUSTED the bytes may come from anywhere: an image that is damaged, or that no world
/// could have, is refused.
///
/// @param bytes  [size], at any address.
/// @param flags  ESPL_IMAGE_ bits.
/// @param fault  out: why the bytes are refused, or no sentence; may be NULL.
/// @return ESPL_OK; refused, and the world is as it was: ESPL_ERR_ARGUMENT (NULL, or unknown flags);
///         ESPL_ERR_FORMAT (no image, damaged, or not possible); ESPL_ERR_VERSION (another layout, or other
///         components); ESPL_ERR_FOREIGN (another tag without ESPL_IMAGE_RETAG); ESPL_ERR_LIMIT (more
///         entities than a world can have); ESPL_ERR_NO_MEMORY: until it ends a load has the memory of both
///         worlds, but with ESPL_IMAGE_TRUSTED that of the world may serve again; ESPL_ERR_BUSY. O(size).
ESPL_API ESPL_NODISCARD espl_status espl_image_load(espl_world *world, const void *bytes,
                                                    size_t size, uint32_t flags,
                                                    espl_format_fault *fault);

/// Return a number for the layout of images: equal in two builds that read each other's images.
ESPL_API uint64_t espl_image_layout(void);

/// Count the loads (espl_image_load()) and rewinds (espl_history_rewind()) of a world. A handle that was
/// obtained before one may name another entity afterwards. A read of the world. 0 for NULL. O(1).
ESPL_API uint64_t espl_world_timeline(const espl_world *world);

#ifdef __cplusplus
}
#endif

#endif
