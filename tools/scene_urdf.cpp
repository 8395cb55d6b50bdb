// SPDX-License-Identifier: MIT
// Scenes by urdfdom: the links of a robot as nodes, moved by its joints. urdfdom decides what is a
// valid file, and computes rotations; for the oracle the numbers of the file are read once more.
extern "C" {
#include "tools/robot.h"
}

#include <console_bridge/console.h>
#include <tinyxml.h>
#include <urdf_parser/urdf_parser.h>

#include <cmath>
#include <exception>
#include <fstream>
#include <locale>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

/// Keeps the first error that urdfdom reports, and nothing of what else it says.
class listener : public console_bridge::OutputHandler
{
  public:
    explicit listener(std::string *error) : error_(error)
    {
        console_bridge::useOutputHandler(this);
    }
    ~listener() override
    {
        console_bridge::restorePreviousOutputHandler();
    }
    listener(const listener &) = delete;
    listener &operator=(const listener &) = delete;

    void log(const std::string &text, console_bridge::LogLevel level, const char *, int) override
    {
        if (level >= console_bridge::CONSOLE_BRIDGE_LOG_ERROR && error_->empty()) {
            *error_ = text;
        }
    }

  private:
    std::string *error_;
};

/// What is made of a robot, while it is made.
struct maker {
    std::vector<robot_body> bodies;
    std::vector<robot_joint> joints;
    std::vector<robot_axis> axes;
    std::map<std::string, uint32_t> body_of_link;
    std::map<std::string, size_t> axis_of_joint; // the first one
};

/// Visit the elements below and including one, without recursion.
template <class Element, class T> void visit(Element *root, T see)
{
    Element *at = root;

    while (at != nullptr) {
        see(*at);
        Element *next = at->FirstChildElement();
        while (next == nullptr && at != root) {
            next = at->NextSiblingElement();
            at = next == nullptr ? at->Parent()->ToElement() : at;
        }
        at = next;
    }
}

/// What a file has of xacro, which is expanded before URDF is read.
struct xacro_count {
    size_t directives; // and expressions: the file is not expanded
    size_t calls;      // of macros, which an expansion leaves where it does not know them
};

xacro_count count_xacro(const TiXmlElement *root)
{
    static const std::set<std::string> directives = {
        "xacro:arg",          "xacro:attribute", "xacro:element",  "xacro:if",    "xacro:include",
        "xacro:insert_block", "xacro:macro",     "xacro:property", "xacro:unless"};
    xacro_count count = {0, 0};

    visit(root, [&count](const TiXmlElement &element) {
        const std::string &name = element.ValueStr();
        const bool is_directive = directives.count(name) > 0;

        count.directives += is_directive;
        count.calls += !is_directive && name.rfind("xacro:", 0) == 0;
        for (const TiXmlAttribute *a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
            count.directives += a->ValueStr().find("${") != std::string::npos;
        }
    });
    return count;
}

/// Read three numbers of an attribute, 0 where it is missing. urdfdom has validated them.
void read_three(double out[3], const TiXmlElement *element, const char *name)
{
    const char *const text = element != nullptr ? element->Attribute(name) : nullptr;
    std::istringstream words(text != nullptr ? text : "0 0 0");

    words.imbue(std::locale::classic());
    for (int i = 0; i < 3; ++i) {
        words >> out[i];
    }
}

/// The matrix of an origin as the file says it: turns about the fixed axes x, y, z, in this order.
tool_affine matrix_of_origin(const TiXmlElement *origin)
{
    double xyz[3] = {0, 0, 0}, rpy[3] = {0, 0, 0};

    read_three(xyz, origin, "xyz");
    read_three(rpy, origin, "rpy");
    return robot_matrix_of_pose(xyz, rpy);
}

robot_pose pose_of_origin(const urdf::Pose &pose, const TiXmlElement *origin)
{
    robot_pose out = {placement_identity(), matrix_of_origin(origin)};

    out.place.position[0] = pose.position.x;
    out.place.position[1] = pose.position.y;
    out.place.position[2] = pose.position.z;
    out.place.rotation[0] = pose.rotation.x;
    out.place.rotation[1] = pose.rotation.y;
    out.place.rotation[2] = pose.rotation.z;
    out.place.rotation[3] = pose.rotation.w;
    return out;
}

robot_axis make_axis(bool is_slide, double x, double y, double z)
{
    robot_axis axis = {};

    axis.is_slide = is_slide;
    axis.direction[0] = axis.file_direction[0] = x;
    axis.direction[1] = axis.file_direction[1] = y;
    axis.direction[2] = axis.file_direction[2] = z;
    axis.lower = -HUGE_VAL;
    axis.upper = HUGE_VAL;
    axis.leader = ROBOT_NO_LEADER;
    return axis;
}

/// A plane is given by its normal: two slides at right angles to it, and a turn about it.
void add_plane(std::vector<robot_axis> *axes, const urdf::Vector3 &normal)
{
    // The cross product with the axis that is farthest from the normal's direction.
    const double size[3] = {std::fabs(normal.x), std::fabs(normal.y), std::fabs(normal.z)};
    const int smallest =
        size[0] < size[1] ? (size[0] < size[2] ? 0 : 2) : (size[1] < size[2] ? 1 : 2);
    double a[3] = {0, 0, 0};

    a[smallest] = 1;
    const double first[3] = {normal.y * a[2] - normal.z * a[1], normal.z * a[0] - normal.x * a[2],
                             normal.x * a[1] - normal.y * a[0]};

    axes->push_back(make_axis(true, first[0], first[1], first[2]));
    axes->push_back(make_axis(true, normal.y * first[2] - normal.z * first[1],
                              normal.z * first[0] - normal.x * first[2],
                              normal.x * first[1] - normal.y * first[0]));
    axes->push_back(make_axis(false, normal.x, normal.y, normal.z));
}

/// The axes of a joint; a fixed one has none.
std::vector<robot_axis> list_axes(const urdf::Joint &joint)
{
    const urdf::Vector3 &d = joint.axis;
    std::vector<robot_axis> axes;

    switch (joint.type) {
    case urdf::Joint::REVOLUTE:
    case urdf::Joint::CONTINUOUS:
    case urdf::Joint::PRISMATIC:
        axes.push_back(make_axis(joint.type == urdf::Joint::PRISMATIC, d.x, d.y, d.z));
        break;
    case urdf::Joint::PLANAR:
        add_plane(&axes, d);
        break;
    case urdf::Joint::FLOATING:
        for (int i = 0; i < 6; ++i) {
            axes.push_back(make_axis(i < 3, i % 3 == 0, i % 3 == 1, i % 3 == 2));
        }
        break;
    default:
        break;
    }
    if (joint.limits != nullptr && axes.size() == 1 && joint.type != urdf::Joint::CONTINUOUS) {
        axes[0].lower = joint.limits->lower;
        axes[0].upper = joint.limits->upper;
    }
    return axes;
}

void add_joint(maker *out, const urdf::Joint &joint)
{
    const std::vector<robot_axis> axes = list_axes(joint);

    if (axes.empty()) {
        return;
    }
    out->axis_of_joint[joint.name] = out->axes.size();
    // The frame of a joint is the frame of the link that it moves.
    out->joints.push_back({joint.name.c_str(),
                           out->body_of_link.at(joint.child_link_name),
                           {placement_identity(), affine_identity()},
                           out->axes.size(),
                           axes.size()});
    out->axes.insert(out->axes.end(), axes.begin(), axes.end());
}

/// Let a joint follow the one that it mimics. One that cannot move stays at 0.
void add_mimic(maker *out, const urdf::ModelInterface &model, const urdf::Joint &joint)
{
    const auto follower = out->axis_of_joint.find(joint.name);

    if (joint.mimic == nullptr || follower == out->axis_of_joint.end()) {
        return;
    }
    const std::string &name = joint.mimic->joint_name;
    if (model.getJoint(name) == nullptr) {
        throw std::runtime_error("joint '" + joint.name + "' mimics '" + name +
                                 "', which does not exist");
    }
    robot_axis &axis = out->axes[follower->second];
    const auto leader = out->axis_of_joint.find(name);
    if (leader == out->axis_of_joint.end()) {
        axis.lower = axis.upper = joint.mimic->offset;
        return;
    }
    axis.leader = leader->second;
    axis.multiplier = joint.mimic->multiplier;
    axis.offset = joint.mimic->offset;
}

/// Number the links as the file lists them, then place them and take their joints.
void add_all(maker *out, const urdf::ModelInterface &model, const TiXmlElement *root)
{
    std::map<std::string, const TiXmlElement *> origins; // of joints

    for (const TiXmlElement *joint = root->FirstChildElement("joint"); joint != nullptr;
         joint = joint->NextSiblingElement("joint")) {
        origins[joint->Attribute("name")] = joint->FirstChildElement("origin");
    }
    for (const TiXmlElement *link = root->FirstChildElement("link"); link != nullptr;
         link = link->NextSiblingElement("link")) {
        const auto place = out->body_of_link.emplace(link->Attribute("name"),
                                                     static_cast<uint32_t>(out->bodies.size()));
        out->bodies.push_back({place.first->first.c_str(),
                               SCENE_NO_PARENT,
                               {placement_identity(), affine_identity()}});
    }
    for (const auto &entry : model.joints_) {
        const urdf::Joint &joint = *entry.second;
        robot_body &body = out->bodies[out->body_of_link.at(joint.child_link_name)];

        if (body.parent != SCENE_NO_PARENT) {
            throw std::runtime_error("link '" + joint.child_link_name + "' hangs on two joints");
        }
        body.parent = out->body_of_link.at(joint.parent_link_name);
        body.rest = pose_of_origin(joint.parent_to_joint_origin_transform, origins.at(joint.name));
        add_joint(out, joint);
    }
    for (const auto &entry : model.joints_) {
        add_mimic(out, model, *entry.second);
    }
}

std::string read_text(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;

    text << file.rdbuf();
    return text.str();
}

/// Give the document as text in which tabs and line breaks in attributes are blanks, as XML has it. TinyXML
/// leaves them, and urdfdom then refuses numbers that a file has on two lines.
std::string text_with_blanks(TiXmlDocument *document)
{
    TiXmlPrinter printer;

    visit(document->RootElement(), [](TiXmlElement &element) {
        for (TiXmlAttribute *a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
            std::string value = a->ValueStr();

            for (char &c : value) {
                c = c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
            }
            a->SetValue(value);
        }
    });
    document->Accept(&printer);
    return printer.Str();
}

bool read_robot(tool_scene *out, const std::string &text, tool_fault *fault)
{
    TiXmlDocument document;
    std::string error;
    listener ear(&error);
    maker made;

    document.Parse(text.c_str());
    const TiXmlElement *const root = document.RootElement();
    if (document.Error()) {
        fault_say(fault, "line %d: %s", document.ErrorRow(), document.ErrorDesc());
        return false;
    }
    if (root == nullptr) {
        fault_say(fault, "TinyXML finds no element in it");
        return false;
    }
    const xacro_count xacro = count_xacro(root);
    const urdf::ModelInterfaceSharedPtr model =
        xacro.directives == 0 ? urdf::parseURDF(text_with_blanks(&document)) : nullptr;
    if (model == nullptr && xacro.directives + xacro.calls > 0) {
        fault_say(fault, "is a xacro file: expand it to URDF by the program xacro first");
        return false;
    }
    if (model == nullptr) {
        fault_say(fault, "urdfdom: %s", error.empty() ? "cannot read it" : error.c_str());
        return false;
    }
    add_all(&made, *model, root);

    const robot_def def = {made.bodies.data(), made.bodies.size(), made.joints.data(),
                           made.joints.size(), made.axes.data(),   made.axes.size()};
    out->missing = xacro.calls;
    return robot_take(out, &def, fault) &&
           (xacro.calls == 0 ||
            scene_note(out, fault, "%zu macros of xacro are not expanded", xacro.calls));
}

} // namespace

bool scene_read_urdf(tool_scene *out, const char *path, tool_fault *fault)
{
    // No exception may leave: the caller is C.
    try {
        return read_robot(out, read_text(path), fault);
    } catch (const std::exception &reason) {
        fault_say(fault, "%s", reason.what());
    }
    return false;
}
