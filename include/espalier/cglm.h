// SPDX-License-Identifier: MIT
/// @file
/// For programs with cglm: rotations, positions, transforms and matrices to and from its types.
///
/// This header alone includes cglm, and espalier/espalier.h does not include this header: the library
/// needs no cglm. Everything here is inline.
///
/// A versor has its numbers in the order x, y, z, w, as rotations have them. A mat4 has 4 columns of 4, as
/// ESPL_MATRIX_4X4. So numbers are copied as they are, bit for bit. They are copied and never cast,
/// because cglm aligns versor and mat4 to 16 bytes, and mat4 to 32 with -mavx, and the library aligns
/// floats to 4. Of cglm's arguments a `const versor` and a `const vec3` are taken too; a mat4 is not
/// const, as in cglm itself.
///
/// Thread rule: as for the functions that are called: any thread for those without a world; those with
/// one read it.
#ifndef ESPALIER_CGLM_H
#define ESPALIER_CGLM_H

#include <espalier/read.h>
#include <espalier/transform.h>

#include <cglm/cglm.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Copy a rotation to a versor. @param rotation  [4] x, y, z, w.
static inline void espl_to_versor(const float rotation[4], versor out)
{
    memcpy(out, rotation, 4 * sizeof(float));
}

/// Copy a versor to a rotation. @param out  [4] x, y, z, w.
static inline void espl_from_versor(const versor rotation, float out[4])
{
    memcpy(out, rotation, 4 * sizeof(float));
}

/// Copy a position, an offset, a direction or a stretch to a vec3.
static inline void espl_to_vec3(const float vector[3], vec3 out)
{
    memcpy(out, vector, 3 * sizeof(float));
}

/// Copy a vec3 to a position, an offset, a direction or a stretch.
static inline void espl_from_vec3(const vec3 vector, float out[3])
{
    memcpy(out, vector, 3 * sizeof(float));
}

/// Write a transform as a matrix: espl_transform_to_matrix() with ESPL_MATRIX_4X4.
static inline void espl_to_mat4(const espl_transform *transform, mat4 out)
{
    float columns[16];

    espl_transform_to_matrix(transform, ESPL_MATRIX_4X4, columns);
    memcpy(out, columns, sizeof columns);
}

/// Find the transform of a matrix: espl_transform_from_matrix(), whose statuses it has.
/// @param out  unchanged when refused.
static inline espl_status espl_from_mat4(mat4 matrix, espl_transform *out)
{
    float columns[16];

    memcpy(columns, matrix, sizeof columns);
    return espl_transform_from_matrix(columns, out, ESPL_NULL_);
}

/// Read the world transform of an entity as a matrix: espl_get_matrix() with ESPL_MATRIX_4X4, whose
/// statuses it has.
/// @param out  unchanged when refused.
static inline espl_status espl_get_mat4(const espl_world *world, espl_entity entity, mat4 out)
{
    float columns[16];
    const espl_status status = espl_get_matrix(world, entity, ESPL_MATRIX_4X4, columns);

    if (!espl_failed(status)) {
        memcpy(out, columns, sizeof columns);
    }
    return status;
}

/// Read the view matrix of a camera: the inverse of the world transform of an entity, of which the scale
/// and the stretch do not count. It takes points of the world to the camera's axes. A camera of cglm,
/// OpenGL and glTF looks along ESPL_AXIS_BACK (-Z), with +Y up: turn it by
/// espl_look_at(world, camera, target, NULL, ESPL_AXIS_BACK).
/// @param out  unchanged when refused.
/// Statuses as espl_get_world_transform().
static inline espl_status espl_get_view_mat4(const espl_world *world, espl_entity camera, mat4 out)
{
    espl_transform placed = espl_transform_identity(), seen;
    const espl_status status = espl_get_world_transform(world, camera, &seen);
    float columns[16];

    if (!espl_failed(status)) {
        memcpy(placed.rotation, seen.rotation, sizeof placed.rotation);
        memcpy(placed.position, seen.position, sizeof placed.position);
        espl_transform_to_matrix(&placed, ESPL_MATRIX_4X4_INVERSE, columns);
        memcpy(out, columns, sizeof columns);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
