// SPDX-License-Identifier: MIT
// The version of the library, told at run time.
#include <espalier/base.h>

uint32_t espl_version(void)
{
    return ESPL_VERSION(ESPL_VERSION_MAJOR, ESPL_VERSION_MINOR, ESPL_VERSION_PATCH);
}
