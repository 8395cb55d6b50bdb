// SPDX-License-Identifier: MIT
// The root element of an XML file, by which the formats that are XML are told apart.
#ifndef ESPALIER_TOOLS_XML_ROOT_H
#define ESPALIER_TOOLS_XML_ROOT_H

#include <stdbool.h>

/// Size of a name with its zero at the end; a longer name is cut.
#define XML_NAME_SIZE 64

/// Read the name of the root element. A byte order mark, the XML declaration, comments, processing
/// instructions and a document type may stand before it, at any length.
///
/// @return false where the file cannot be read or does not begin as XML in UTF-8 does.
bool xml_read_root(char out[XML_NAME_SIZE], const char *path);

#endif
