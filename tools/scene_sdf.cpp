// SPDX-License-Identifier: MIT
// Scenes by libsdformat: models, links and frames as nodes, moved by joints. libsdformat resolves
// poses for the library under test; for the oracle the poses of the file are multiplied once more.
extern "C" {
#include "tools/robot.h"
}
#include "tools/sdf_scopes.hpp"

#include <sdf/sdf.hh>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace
{

namespace fs = std::filesystem;
using ignition::math::Pose3d;

/// libsdformat writes a log into the home directory, and complains where it does not know one. It
/// decides on both when it is first used.
void silence()
{
    const char *const home = std::getenv("HOME");
    const std::string kept = home != nullptr ? home : "";
    std::streambuf *const terminal = std::cerr.rdbuf(nullptr);

    (void)unsetenv("HOME");
    sdf::Console::Instance()->SetQuiet(true);
    if (home != nullptr) {
        (void)setenv("HOME", kept.c_str(), 1);
    }
    std::cerr.rdbuf(terminal);
    std::cerr.clear();
}

/// Find what an include names: beside the file, beside its directory, and in the directories that
/// environment variables list.
class finder
{
  public:
    explicit finder(const std::string &path)
    {
        const fs::path folder = fs::absolute(path).parent_path();

        folders_.push_back(folder);
        folders_.push_back(folder.parent_path());
        for (const char *name : {"SDF_PATH", "GAZEBO_MODEL_PATH", "IGN_GAZEBO_RESOURCE_PATH"}) {
            add_list(std::getenv(name));
        }
    }

    std::string operator()(const std::string &uri) const
    {
        const size_t scheme = uri.find("://");
        const std::string rest = scheme == std::string::npos ? uri : uri.substr(scheme + 3);
        std::error_code ignored;

        for (const fs::path &folder : folders_) {
            if (!rest.empty() && fs::exists(folder / rest, ignored)) {
                return (folder / rest).string();
            }
        }
        return "";
    }

  private:
    void add_list(const char *list)
    {
        std::string folder;

        for (const char *c = list; c != nullptr; c = *c != '\0' ? c + 1 : nullptr) {
            if (*c != ':' && *c != '\0') {
                folder += *c;
            } else if (!folder.empty()) {
                folders_.push_back(std::exchange(folder, ""));
            }
        }
    }

    std::vector<fs::path> folders_;
};

robot_pose make_pose(const Pose3d &pose, const tool_affine &matrix)
{
    robot_pose out = {placement_identity(), matrix};

    out.place.position[0] = pose.Pos().X();
    out.place.position[1] = pose.Pos().Y();
    out.place.position[2] = pose.Pos().Z();
    out.place.rotation[0] = pose.Rot().X();
    out.place.rotation[1] = pose.Rot().Y();
    out.place.rotation[2] = pose.Rot().Z();
    out.place.rotation[3] = pose.Rot().W();
    quaternion_normalize(out.place.rotation);
    return out;
}

/// Read a number of an element that libsdformat does not know, and so keeps as text.
double read_number(const sdf::ElementPtr &element, const char *name, double otherwise)
{
    const sdf::ElementPtr found = element->FindElement(name);

    return found != nullptr && found->GetValue() != nullptr
               ? std::strtod(found->GetValue()->GetAsString().c_str(), nullptr)
               : otherwise;
}

[[noreturn]] void refuse(const std::string &what, const sdf::Errors &errors)
{
    throw std::runtime_error(what + (errors.empty() ? "" : ": " + errors.front().Message()));
}

/// Where something is in its scope, by libsdformat, which has its own default for joints.
template <class T> Pose3d resolve(const T &thing, const std::string &scope = "")
{
    Pose3d pose;
    const sdf::Errors errors = thing.SemanticPose().Resolve(pose, scope);

    if (!errors.empty()) {
        refuse("'" + thing.Name() + "' has no place", errors);
    }
    return pose;
}

/// A node while it is made, with its place in the whole scene by both ways.
struct node {
    std::string name;
    uint32_t parent;
    Pose3d world;
    tool_affine matrix;
};

class builder
{
  public:
    explicit builder(const sdf_scopes &scopes);
    bool take(tool_scene *out, tool_fault *fault) const;

  private:
    uint32_t add_node(const sdf_name &name, uint32_t parent, const Pose3d &local);
    void add_model(size_t scope);
    template <class T> void add_frames(size_t scope, const T &owner);
    void add_joint(size_t scope, const sdf::Joint &joint);
    void add_mimics(size_t scope, const sdf::Joint &joint);
    std::vector<robot_axis> list_axes(size_t scope, const sdf::Joint &joint) const;
    robot_axis make_axis(size_t scope, const sdf::Joint &joint, unsigned index) const;
    uint32_t find_body(size_t scope, const std::string &name) const;
    bool hangs_below(uint32_t at, uint32_t ancestor) const;
    robot_pose pose_in(const node &parent, const Pose3d &world, const tool_affine &matrix) const;

    const sdf_scopes &scopes_;
    std::vector<node> nodes_;
    std::vector<Pose3d> world_of_scope_;
    std::vector<uint32_t> node_of_scope_; // SCENE_NO_PARENT of the world
    std::map<sdf_name, uint32_t> body_of_link_;
    std::vector<bool> has_joint_; // [nodes]
    std::vector<robot_joint> joints_;
    std::vector<robot_axis> axes_;
    std::map<sdf_name, size_t> axis_of_joint_; // the first one
    std::map<sdf_name, size_t> axis_count_;
    size_t loop_count_ = 0; // joints that close a loop of links
};

uint32_t builder::add_node(const sdf_name &name, uint32_t parent, const Pose3d &local)
{
    const auto index = static_cast<uint32_t>(nodes_.size());

    nodes_.push_back({name.second, parent, world_of_scope_[name.first] * local,
                      scopes_.place(name.first, name.second)});
    has_joint_.push_back(false);
    return index;
}

/// Add a model and its links, which hang on the model until a joint is found.
void builder::add_model(size_t scope)
{
    const sdf_scope &here = scopes_.list()[scope];
    const Pose3d local = resolve(*here.model);

    node_of_scope_.push_back(
        add_node({here.parent, here.model->Name()}, node_of_scope_[here.parent], local));
    world_of_scope_.push_back(world_of_scope_[here.parent] * local);
    for (uint64_t i = 0; i < here.model->LinkCount(); ++i) {
        const sdf::Link &link = *here.model->LinkByIndex(i);
        const sdf_name name{scope, link.Name()};
        body_of_link_[name] = add_node(name, node_of_scope_[scope], resolve(link));
    }
}

/// Find the node of a link, or of a model by its own name; of the world there is none.
uint32_t builder::find_body(size_t scope, const std::string &name) const
{
    const sdf_name at = scopes_.find(scope, name);
    const auto link = body_of_link_.find(at);

    if (link != body_of_link_.end()) {
        return link->second;
    }
    const auto inner = scopes_.list()[at.first].inner.find(at.second);
    return node_of_scope_[inner != scopes_.list()[at.first].inner.end() ? inner->second : at.first];
}

/// Add frames, each on the body that it is attached to.
template <class T> void builder::add_frames(size_t scope, const T &owner)
{
    for (uint64_t i = 0; i < owner.FrameCount(); ++i) {
        const sdf::Frame &frame = *owner.FrameByIndex(i);
        std::string body;
        const sdf::Errors errors = frame.ResolveAttachedToBody(body);

        if (!errors.empty()) {
            refuse("frame '" + frame.Name() + "' is attached to nothing", errors);
        }
        (void)add_node({scope, frame.Name()}, find_body(scope, body), resolve(frame));
    }
}

bool builder::hangs_below(uint32_t at, uint32_t ancestor) const
{
    while (at != SCENE_NO_PARENT && at != ancestor) {
        at = nodes_[at].parent;
    }
    return at == ancestor;
}

robot_pose builder::pose_in(const node &parent, const Pose3d &world,
                            const tool_affine &matrix) const
{
    const tool_affine back = sdf_invert(parent.matrix);

    return make_pose(parent.world.Inverse() * world, affine_multiply(&back, &matrix));
}

/// Turn a direction of one frame into the axes of another, by the file's own numbers.
void turn_into(double out[3], const double direction[3], const tool_affine &from,
               const tool_affine &to)
{
    const tool_affine back = sdf_invert(to);
    const tool_affine turn = affine_multiply(&back, &from);

    for (int i = 0; i < 3; ++i) {
        out[i] =
            turn.m[i][0] * direction[0] + turn.m[i][1] * direction[1] + turn.m[i][2] * direction[2];
    }
}

robot_axis free_axis(const double direction[3])
{
    robot_axis axis = {};

    for (int i = 0; i < 3; ++i) {
        axis.direction[i] = axis.file_direction[i] = direction[i];
    }
    axis.lower = -HUGE_VAL;
    axis.upper = HUGE_VAL;
    axis.leader = ROBOT_NO_LEADER;
    return axis;
}

robot_axis builder::make_axis(size_t scope, const sdf::Joint &joint, unsigned index) const
{
    const double none[3] = {0, 0, 0};
    const sdf::JointAxis *const from = joint.Axis(index);
    ignition::math::Vector3d direction;
    robot_axis axis = free_axis(none);

    if (from == nullptr) {
        throw std::runtime_error("joint '" + joint.Name() + "' lacks an axis");
    }
    const sdf::Errors errors = from->ResolveXyz(direction);
    if (!errors.empty()) {
        refuse("the axis of joint '" + joint.Name() + "' has no direction", errors);
    }
    const double raw[3] = {from->Xyz().X(), from->Xyz().Y(), from->Xyz().Z()};
    const std::string &frame = from->XyzExpressedIn();
    const tool_affine own = scopes_.place(scope, joint.Name());
    turn_into(axis.file_direction, raw, frame.empty() ? own : scopes_.place(scope, frame), own);
    axis.direction[0] = direction.X();
    axis.direction[1] = direction.Y();
    axis.direction[2] = direction.Z();
    if (joint.Type() != sdf::JointType::CONTINUOUS) {
        axis.lower = from->Lower();
        axis.upper = from->Upper();
    }
    return axis;
}

/// The axes of a joint. A gearbox ties links together that other joints move, and has none here.
std::vector<robot_axis> builder::list_axes(size_t scope, const sdf::Joint &joint) const
{
    std::vector<robot_axis> axes;

    switch (joint.Type()) {
    case sdf::JointType::BALL:
        for (int i = 0; i < 3; ++i) {
            const double direction[3] = {i == 0 ? 1.0 : 0, i == 1 ? 1.0 : 0, i == 2 ? 1.0 : 0};
            axes.push_back(free_axis(direction));
        }
        break;
    case sdf::JointType::REVOLUTE2:
    case sdf::JointType::UNIVERSAL:
        axes.push_back(make_axis(scope, joint, 0));
        axes.push_back(make_axis(scope, joint, 1));
        break;
    case sdf::JointType::CONTINUOUS:
    case sdf::JointType::REVOLUTE:
    case sdf::JointType::PRISMATIC:
    case sdf::JointType::SCREW:
        axes.push_back(make_axis(scope, joint, 0));
        axes[0].is_slide = joint.Type() == sdf::JointType::PRISMATIC;
        if (joint.Type() == sdf::JointType::SCREW && joint.ThreadPitch() != 0) {
            // The file has radians for each unit of length, left-handed.
            axes[0].pitch = -1 / joint.ThreadPitch();
        }
        break;
    default:
        break;
    }
    return axes;
}

/// Hang the child of a joint on its parent, unless another joint carries the child already or the
/// links would form a loop: then the joint moves nothing.
void builder::add_joint(size_t scope, const sdf::Joint &joint)
{
    std::string parent_name, child_name;

    if (joint.Type() == sdf::JointType::GEARBOX) {
        ++loop_count_;
        return;
    }
    sdf::Errors errors = joint.ResolveParentLink(parent_name);
    if (errors.empty()) {
        errors = joint.ResolveChildLink(child_name);
    }
    if (!errors.empty()) {
        refuse("joint '" + joint.Name() + "' lacks a link", errors);
    }
    const bool is_on_world = parent_name == "world";
    const uint32_t child = child_name == "world" ? SCENE_NO_PARENT : find_body(scope, child_name);
    const uint32_t parent = is_on_world ? SCENE_NO_PARENT : find_body(scope, parent_name);
    if (child == SCENE_NO_PARENT || has_joint_[child] || hangs_below(parent, child)) {
        ++loop_count_;
        return;
    }

    has_joint_[child] = true;
    if (!is_on_world) {
        nodes_[child].parent = parent;
    }
    const std::vector<robot_axis> axes =
        scopes_.list()[scope].is_static ? std::vector<robot_axis>() : list_axes(scope, joint);
    if (!axes.empty()) {
        const robot_pose frame =
            pose_in(nodes_[child], world_of_scope_[scope] * resolve(joint, "__model__"),
                    scopes_.place(scope, joint.Name()));
        axis_of_joint_[{scope, joint.Name()}] = axes_.size();
        axis_count_[{scope, joint.Name()}] = axes.size();
        joints_.push_back({scopes_.list()[scope].entries.find(joint.Name())->first.c_str(), child,
                           frame, axes_.size(), axes.size()});
        axes_.insert(axes_.end(), axes.begin(), axes.end());
    }
}

/// Let axes follow those that they mimic. libsdformat keeps the element, which is of SDF 1.11.
void builder::add_mimics(size_t scope, const sdf::Joint &joint)
{
    const auto own = axis_of_joint_.find({scope, joint.Name()});

    for (size_t i = 0; own != axis_of_joint_.end() && i < 2; ++i) {
        const sdf::ElementPtr axis = joint.Element()->FindElement(i == 0 ? "axis" : "axis2");
        const sdf::ElementPtr mimic = axis != nullptr ? axis->FindElement("mimic") : nullptr;

        if (mimic == nullptr || i >= axis_count_.at(own->first)) {
            continue;
        }
        const std::string name =
            mimic->HasAttribute("joint") ? mimic->Get<std::string>("joint") : "";
        const std::string which =
            mimic->HasAttribute("axis") ? mimic->Get<std::string>("axis") : "axis";
        const sdf_name at = scopes_.find(scope, name);
        const auto leader = axis_of_joint_.find(at);
        const size_t second = which == "axis2" ? 1 : 0;
        robot_axis &follower = axes_[own->second + i];

        const double multiplier = read_number(mimic, "multiplier", 1);
        const double offset =
            read_number(mimic, "offset", 0) - multiplier * read_number(mimic, "reference", 0);
        if (leader == axis_of_joint_.end() || second >= axis_count_.at(at)) {
            follower.lower = follower.upper = offset; // of a leader at 0, which does not move
            continue;
        }
        follower.leader = leader->second + second;
        follower.multiplier = multiplier;
        follower.offset = offset;
    }
}

builder::builder(const sdf_scopes &scopes) : scopes_(scopes)
{
    const std::vector<sdf_scope> &list = scopes.list();

    world_of_scope_.push_back(Pose3d::Zero);
    node_of_scope_.push_back(SCENE_NO_PARENT);
    for (size_t i = 1; i < list.size(); ++i) {
        add_model(i);
    }
    if (list[0].world != nullptr) {
        add_frames(0, *list[0].world);
    }
    for (size_t i = 1; i < list.size(); ++i) {
        add_frames(i, *list[i].model);
        for (uint64_t j = 0; j < list[i].model->JointCount(); ++j) {
            add_joint(i, *list[i].model->JointByIndex(j));
        }
    }
    for (size_t i = 1; i < list.size(); ++i) {
        for (uint64_t j = 0; j < list[i].model->JointCount(); ++j) {
            add_mimics(i, *list[i].model->JointByIndex(j));
        }
    }
}

bool builder::take(tool_scene *out, tool_fault *fault) const
{
    std::vector<robot_body> bodies;

    for (const node &at : nodes_) {
        const bool is_top = at.parent == SCENE_NO_PARENT;
        bodies.push_back({at.name.c_str(), at.parent,
                          is_top ? make_pose(at.world, at.matrix)
                                 : pose_in(nodes_[at.parent], at.world, at.matrix)});
    }
    const robot_def def = {bodies.data(),  bodies.size(), joints_.data(),
                           joints_.size(), axes_.data(),  axes_.size()};
    out->missing += loop_count_;
    return robot_take(out, &def, fault) &&
           (loop_count_ == 0 ||
            scene_note(out, fault, "%zu joints close loops of links and are not played",
                       loop_count_));
}

/// The error that names what is missing, before errors that follow from it.
const sdf::Error &choose(const sdf::Errors &errors)
{
    for (const sdf::Error &error : errors) {
        if (error.Code() == sdf::ErrorCode::URI_LOOKUP ||
            error.Code() == sdf::ErrorCode::URI_INVALID) {
            return error;
        }
    }
    return errors.front();
}

/// Note each include that is not found, if nothing else is wrong and something is left.
bool note_missing(tool_scene *out, const sdf::Root &root, const sdf::Errors &errors,
                  tool_fault *fault)
{
    const bool has_models = root.Model() != nullptr ||
                            (root.WorldCount() > 0 && root.WorldByIndex(0)->ModelCount() > 0);

    for (const sdf::Error &error : errors) {
        if (!has_models || error.Code() != sdf::ErrorCode::URI_LOOKUP) {
            fault_say(fault, "libsdformat: %s", choose(errors).Message().c_str());
            return false;
        }
    }
    for (const sdf::Error &error : errors) {
        if (!scene_note(out, fault, "an include is not found: %s", error.Message().c_str())) {
            return false;
        }
        ++out->missing;
    }
    return true;
}

bool read_file(tool_scene *out, const char *path, tool_fault *fault)
{
    sdf::ParserConfig config;
    sdf::Root root;

    silence();
    config.SetFindCallback(finder(path));
    // The whole path, because libsdformat's own model.sdf comes before a file of that name here.
    const sdf::Errors errors = root.Load(fs::absolute(path).string(), config);
    if (!note_missing(out, root, errors, fault)) {
        return false;
    }
    const sdf_scopes scopes(root);
    return builder(scopes).take(out, fault);
}

} // namespace

bool scene_read_sdf(tool_scene *out, const char *path, tool_fault *fault)
{
    // No exception may leave: the caller is C.
    try {
        return read_file(out, path, fault);
    } catch (const std::exception &reason) {
        fault_say(fault, "%s", reason.what());
    }
    return false;
}
