// SPDX-License-Identifier: MIT
// The camera of a culling in a picture: what it sees as edges, and the picture that it takes itself. Only in
// builds with Cairo.
#ifndef ESPALIER_TOOLS_INSET_H
#define ESPALIER_TOOLS_INSET_H

#include "tools/frustum.h"

/// Draw what a camera sees: its sides as glass, and their edges.
void frustum_draw(const picture_view *view, const tool_frustum *frustum, double line_width);

/// Choose the area of a frustum's picture in the upper right corner of another one.
picture_area inset_place(const tool_frustum *frustum, double width, double height, double share);

/// Begin to draw through a frustum's camera into an area, whose upper left corner is the origin until
/// inset_end().
/// @param view  the view around it, whose cairo, up axis, ground and air the new view has.
picture_view inset_begin(const picture_view *view, const tool_frustum *frustum,
                         const picture_area *area);
/// End it, and draw its border.
void inset_end(const picture_view *inset, const picture_area *area, double line_width);

/// Leave the bones out that are grey. @return how many are left, in their order.
size_t inset_choose(drawn_bone *bones, size_t count);

#endif
