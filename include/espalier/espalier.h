// SPDX-License-Identifier: MIT
/// @file
/// Everything: transform hierarchies that are always current, over an archetype-chunk store.
#ifndef ESPALIER_ESPALIER_H
#define ESPALIER_ESPALIER_H

#include <espalier/archive.h>
#include <espalier/base.h>
#include <espalier/commands.h>
#include <espalier/counterpart.h>
#include <espalier/far.h>
#include <espalier/id.h>
#include <espalier/history.h>
#include <espalier/image.h>
#include <espalier/jobs.h>
#include <espalier/motion.h>
#include <espalier/names.h>
#include <espalier/quat.h>
#include <espalier/read.h>
#include <espalier/renderables.h>
#include <espalier/store.h>
#include <espalier/tape.h>
#include <espalier/transform.h>
#include <espalier/tree.h>
#include <espalier/watch.h>
#include <espalier/world.h>
#include <espalier/write.h>
#include <espalier/writers.h>

#endif
