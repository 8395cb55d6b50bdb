// SPDX-License-Identifier: MIT
// What the program does, one function a command.
#ifndef ESPALIER_TOOLS_COMMANDS_H
#define ESPALIER_TOOLS_COMMANDS_H

#include "tools/options.h"
#include "tools/scene.h"

/// Carry a command out on scenes that are loaded.
/// @param scenes  [options->scene_count]; simulations move on.
/// @return an exit status.
int run_play(const tool_options *options, tool_scene *scenes);
int run_check(const tool_options *options, tool_scene *scenes);
int run_tree(const tool_options *options, tool_scene *scenes);
int run_export(const tool_options *options, tool_scene *scenes);

/// Carry a command out on files: the function reads them, and they need not be scenes.
int run_replay(const tool_options *options);
int run_pack(const tool_options *options);
int run_unpack(const tool_options *options);
int run_info(const tool_options *options);
int run_diff(const tool_options *options);

/// Write a page that shows scenes and tapes, which it loads itself.
int run_view(const tool_options *options);

#endif
