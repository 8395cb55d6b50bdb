// SPDX-License-Identifier: MIT
// Scopes of a file in SDF, and places in them computed from the file's own numbers: what the oracle
// multiplies. Names and what they are relative to come from libsdformat; of its arithmetic with poses
// nothing is used.
#ifndef ESPALIER_TOOLS_SDF_SCOPES_HPP
#define ESPALIER_TOOLS_SDF_SCOPES_HPP

extern "C" {
#include "tools/affine.h"
}

#include <sdf/sdf.hh>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// A name and the scope that it is in.
using sdf_name = std::pair<size_t, std::string>;

/// A world or a model, with what has a place in it.
struct sdf_scope {
    struct entry {
        tool_affine raw; // as the file says
        std::string relative;
        tool_affine place; // in the scope
        bool is_placed;
    };

    const sdf::Model *model; // NULL: the world
    const sdf::World *world; // NULL: a model, or a file that has one model alone
    size_t parent;
    bool is_static;
    std::map<std::string, entry> entries;
    std::map<std::string, size_t> inner; // scopes of models in this one
    tool_affine place;                   // in the scene
};

/// Invert a rotation with a translation.
tool_affine sdf_invert(const tool_affine &a);

class sdf_scopes
{
  public:
    /// Place everything, or throw what names the thing that has no place.
    explicit sdf_scopes(const sdf::Root &root);

    /// The first is the world; others come after the one that they are in.
    const std::vector<sdf_scope> &list() const
    {
        return scopes_;
    }

    /// Find where a name with "::" is: the scope, and the name in it. Throw where there is none.
    sdf_name find(size_t scope, const std::string &name) const;

    /// The place in the scene of what has a name in a scope.
    tool_affine place(size_t scope, const std::string &name) const;

  private:
    void add(size_t scope, const std::string &name, const sdf::ElementPtr &element,
             const std::string &relative, const std::string &otherwise);
    void add_model(size_t parent, const sdf::Model &model);
    template <class T> void fill(size_t scope, const T &owner);
    void fill_model(size_t scope);
    bool try_place(size_t scope, const std::string &name, tool_affine *out) const;
    bool place_one(size_t scope, const std::string &name, sdf_scope::entry *entry) const;
    void place_entries(size_t scope);

    std::vector<sdf_scope> scopes_;
};

#endif
