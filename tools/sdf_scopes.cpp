// SPDX-License-Identifier: MIT
#include "tools/sdf_scopes.hpp"

extern "C" {
#include "tools/robot.h"
}

#include <cmath>
#include <locale>
#include <sstream>
#include <stdexcept>

namespace
{

/// What a scope calls itself.
bool is_origin(const std::string &name)
{
    return name.empty() || name == "__model__" || name == "world" || name == "__root__";
}

tool_affine matrix_of_quaternion(const std::vector<double> &numbers)
{
    tool_placement place = placement_identity();

    for (size_t i = 0; i < 3; ++i) {
        place.position[i] = numbers[i];
    }
    for (size_t i = 0; i < 4; ++i) {
        place.rotation[i] = numbers[3 + i];
    }
    quaternion_normalize(place.rotation);
    return affine_of_placement(&place);
}

/// Read the pose of an element from its text; the identity where it has none.
tool_affine read_pose(const sdf::ElementPtr &element)
{
    const sdf::ElementPtr pose = element != nullptr ? element->FindElement("pose") : nullptr;

    if (pose == nullptr || pose->GetValue() == nullptr) {
        return affine_identity();
    }
    std::istringstream words(pose->GetValue()->GetAsString());
    std::vector<double> numbers;

    words.imbue(std::locale::classic());
    for (double number = 0; words >> number;) {
        numbers.push_back(number);
    }
    if (pose->HasAttribute("rotation_format") &&
        pose->Get<std::string>("rotation_format") == "quat_xyzw") {
        numbers.resize(7, 0);
        return matrix_of_quaternion(numbers);
    }
    numbers.resize(6, 0);
    const bool is_degrees = pose->HasAttribute("degrees") && pose->Get<bool>("degrees");
    for (size_t i = 3; is_degrees && i < 6; ++i) {
        numbers[i] *= 3.141592653589793 / 180;
    }
    return robot_matrix_of_pose(&numbers[0], &numbers[3]);
}

} // namespace

tool_affine sdf_invert(const tool_affine &a)
{
    tool_affine out = affine_identity();

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out.m[i][j] = a.m[j][i];
            out.m[i][3] -= a.m[j][i] * a.m[j][3];
        }
    }
    return out;
}

void sdf_scopes::add(size_t scope, const std::string &name, const sdf::ElementPtr &element,
                     const std::string &relative, const std::string &otherwise)
{
    scopes_[scope].entries[name] = {read_pose(element), relative.empty() ? otherwise : relative,
                                    affine_identity(), false};
}

void sdf_scopes::add_model(size_t parent, const sdf::Model &model)
{
    add(parent, model.Name(), model.Element(), model.PoseRelativeTo(), "");
    scopes_[parent].inner[model.Name()] = scopes_.size();
    scopes_.push_back({&model,
                       nullptr,
                       parent,
                       model.Static() || scopes_[parent].is_static,
                       {},
                       {},
                       affine_identity()});
}

/// What worlds and models have in common: frames and models.
template <class T> void sdf_scopes::fill(size_t scope, const T &owner)
{
    for (uint64_t i = 0; i < owner.FrameCount(); ++i) {
        const sdf::Frame &frame = *owner.FrameByIndex(i);
        add(scope, frame.Name(), frame.Element(), frame.PoseRelativeTo(), frame.AttachedTo());
    }
    for (uint64_t i = 0; i < owner.ModelCount(); ++i) {
        add_model(scope, *owner.ModelByIndex(i));
    }
}

void sdf_scopes::fill_model(size_t scope)
{
    const sdf::Model &model = *scopes_[scope].model;

    for (uint64_t i = 0; i < model.LinkCount(); ++i) {
        const sdf::Link &link = *model.LinkByIndex(i);
        add(scope, link.Name(), link.Element(), link.PoseRelativeTo(), "");
    }
    for (uint64_t i = 0; i < model.JointCount(); ++i) {
        const sdf::Joint &joint = *model.JointByIndex(i);
        add(scope, joint.Name(), joint.Element(), joint.PoseRelativeTo(), joint.ChildLinkName());
    }
    fill(scope, model);
}

sdf_name sdf_scopes::find(size_t scope, const std::string &name) const
{
    sdf_name at{scope, name};

    for (;;) {
        const sdf_scope &here = scopes_[at.first];
        const size_t end = at.second.find("::");

        // A name of a file before SDF 1.8 may have the colons itself.
        if (here.entries.count(at.second) > 0 || is_origin(at.second)) {
            return at;
        }
        const auto next = here.inner.find(at.second.substr(0, end));
        if (end == std::string::npos || next == here.inner.end()) {
            throw std::runtime_error("'" + name + "' does not exist");
        }
        at = {next->second, at.second.substr(end + 2)};
    }
}

/// Find a place in a scope of what may be in a scope within it; false while it is not known.
bool sdf_scopes::try_place(size_t scope, const std::string &name, tool_affine *out) const
{
    const sdf_name at = find(scope, name);

    *out = affine_identity();
    if (!is_origin(at.second)) {
        const sdf_scope::entry &entry = scopes_[at.first].entries.at(at.second);
        if (!entry.is_placed) {
            return false;
        }
        *out = entry.place;
    }
    for (size_t inner = at.first; inner != scope; inner = scopes_[inner].parent) {
        const sdf_scope &outer = scopes_[scopes_[inner].parent];
        const sdf_scope::entry &entry = outer.entries.at(scopes_[inner].model->Name());
        if (!entry.is_placed) {
            return false;
        }
        *out = affine_multiply(&entry.place, out);
    }
    return true;
}

/// Place one entry if what it is relative to has a place. A model may be placed by one of its frames.
bool sdf_scopes::place_one(size_t scope, const std::string &name, sdf_scope::entry *entry) const
{
    tool_affine base, anchor;

    if (!try_place(scope, entry->relative, &base)) {
        return false;
    }
    entry->place = affine_multiply(&base, &entry->raw);
    const auto inner = scopes_[scope].inner.find(name);
    if (inner != scopes_[scope].inner.end()) {
        const std::string &frame = scopes_[inner->second].model->PlacementFrameName();
        if (!try_place(inner->second, frame, &anchor)) {
            return false;
        }
        const tool_affine back = sdf_invert(anchor);
        entry->place = affine_multiply(&entry->place, &back);
    }
    entry->is_placed = true;
    return true;
}

/// Place the entries of a scope in rounds: each round places what is relative to placed ones.
void sdf_scopes::place_entries(size_t scope)
{
    std::string waiting;
    bool has_changed = true;

    while (has_changed) {
        has_changed = false;
        waiting.clear();
        for (auto &entry : scopes_[scope].entries) {
            if (entry.second.is_placed) {
                continue;
            }
            if (place_one(scope, entry.first, &entry.second)) {
                has_changed = true;
            } else {
                waiting = entry.first;
            }
        }
    }
    if (!waiting.empty()) {
        throw std::runtime_error("'" + waiting + "' is placed relative to itself");
    }
}

sdf_scopes::sdf_scopes(const sdf::Root &root)
{
    const sdf::World *const world = root.WorldCount() > 0 ? root.WorldByIndex(0) : nullptr;

    scopes_.push_back({nullptr, world, 0, false, {}, {}, affine_identity()});
    if (world != nullptr) {
        fill(0, *world);
    } else if (root.Model() != nullptr) {
        add_model(0, *root.Model());
    }
    for (size_t i = 1; i < scopes_.size(); ++i) {
        fill_model(i);
    }
    for (size_t i = scopes_.size(); i-- > 0;) {
        place_entries(i);
    }
    for (size_t i = 1; i < scopes_.size(); ++i) {
        scopes_[i].place = place(scopes_[i].parent, scopes_[i].model->Name());
    }
}

tool_affine sdf_scopes::place(size_t scope, const std::string &name) const
{
    tool_affine inside;

    if (!try_place(scope, name, &inside)) {
        throw std::runtime_error("'" + name + "' has no place");
    }
    return affine_multiply(&scopes_[scope].place, &inside);
}
