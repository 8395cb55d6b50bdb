// SPDX-License-Identifier: MIT
// Robots in URDF: worlds of links against the numbers of the file, and against MuJoCo, which reads the
// same file by code of its own.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/tools/robot_files.h"

#include <math.h>

#ifdef HAVE_URDFDOM

#define SOLID                                                                     \
    "<inertial><origin xyz='0.1 0 0'/><mass value='1'/><inertia ixx='1' iyy='1' " \
    "izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
#define LINK(name) "<link name='" name "'>" SOLID "</link>"
#define JOINT(name, type, parent, child, rest)                                              \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child \
    "'/>" rest "</joint>"

/// An arm with each type of joint that MuJoCo reads as URDF means it; lengths of axes are not 1.
static const char arm_text[] =
    "<?xml version='1.0'?>\n<!-- not for <mujoco> alone -->\n<robot name='arm'>"
    "<mujoco><compiler fusestatic='false' discardvisual='false' "
    "balanceinertia='true'/></mujoco>" LINK("base") LINK("tower") LINK("upper") LINK("bracket")
        LINK("rail") LINK("finger") LINK("thumb")
            JOINT("turn", "continuous", "base", "tower",
                  "<origin xyz='0.1 -0.2 0.5' rpy='0.3 -0.2 1.1'/><axis xyz='0 0 2'/>")
                JOINT("shoulder", "revolute", "tower", "upper",
                      "<origin xyz='0 0.3 0.4' rpy='-1.2 0.4 0.9'/><axis xyz='1 2 -2'/>"
                      "<limit lower='-0.7' upper='1.9' effort='1' velocity='1'/>")
                    JOINT("weld", "fixed", "upper", "bracket",
                          "<origin xyz='0.2 0 0.1' rpy='0.5 0.6 0.7'/>")
                        JOINT("lift", "prismatic", "bracket", "rail",
                              "<origin rpy='0 1 0'/><axis xyz='0 3 4'/>"
                              "<limit lower='-0.1' upper='0.6' effort='1' velocity='1'/>")
                            JOINT("finger", "revolute", "rail", "finger",
                                  "<origin xyz='0.05 0 0'/><axis xyz='0 1 0'/>"
                                  "<limit lower='0' upper='0.8' effort='1' velocity='1'/>")
                                JOINT("thumb", "revolute", "rail", "thumb",
                                      "<origin xyz='-0.05 0 0'/><axis xyz='0 1 0'/>"
                                      "<limit lower='-2' upper='2' effort='1' velocity='1'/>"
                                      "<mimic joint='finger' multiplier='-1.5' "
                                      "offset='0.1'/>") "</robot>";

static const char path[] = "urdf_test.urdf";

static bool load(tool_scene *out, const char *text, tool_fault *fault)
{
    return load_text(out, path, text, fault);
}

TEST(every_link_is_a_node_in_the_order_of_the_file)
{
    static const char *const names[] = {"base", "tower",  "upper", "bracket",
                                        "rail", "finger", "thumb"};
    static const uint32_t parents[] = {SCENE_NO_PARENT, 0, 1, 2, 3, 4, 4};
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene, arm_text, &fault), "%s", fault.text);
    ck_assert_uint_eq(scene.node_count, 7);
    for (size_t i = 0; i < 7; ++i) {
        ck_assert_str_eq(scene.nodes[i].name, names[i]);
        ck_assert_uint_eq(scene.nodes[i].parent, parents[i]);
    }
    ck_assert_int_eq(scene.up_axis, 2);
    ck_assert(scene_moves(&scene));
    scene_release(&scene);
}

// XML takes a tab or a line break in an attribute for a blank.
TEST(numbers_of_an_attribute_may_be_on_several_lines)
{
    tool_scene plain = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&plain, arm_text, &fault), "%s", fault.text);
    for (const char *blank = "\t\n\r"; *blank != '\0'; ++blank) {
        char text[sizeof arm_text];
        char quote = '\0';
        tool_scene wrapped = {0};

        for (size_t i = 0; i < sizeof arm_text; ++i) {
            const char c = arm_text[i];

            quote = c != '\'' ? quote : quote == '\0' ? c : '\0';
            text[i] = quote != '\0' && c == ' ' ? *blank : c;
        }
        ck_assert_msg(load(&wrapped, text, &fault), "%s", fault.text);
        ck_assert_uint_eq(wrapped.node_count, plain.node_count);
        for (size_t i = 0; i < plain.node_count; ++i) {
            ck_assert_str_eq(wrapped.nodes[i].name, plain.nodes[i].name);
            ck_assert_mem_eq(&wrapped.nodes[i].rest.matrix, &plain.nodes[i].rest.matrix,
                             sizeof plain.nodes[i].rest.matrix);
        }
        scene_release(&wrapped);
    }
    scene_release(&plain);
}

TEST(mimic_joint_follows_while_both_stay_within_their_limits)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene, arm_text, &fault), "%s", fault.text);
    for (int i = 0; i < 200; ++i) {
        const double at = ROBOT_PERIOD * i / 200;
        const double finger = robot_value(scene.robot, "finger", 0, at);
        const double thumb = robot_value(scene.robot, "thumb", 0, at);
        const double shoulder = robot_value(scene.robot, "shoulder", 0, at);

        ck_assert_double_eq_tol(thumb, -1.5 * finger + 0.1, 1e-12);
        ck_assert(finger >= 0 && finger <= 0.8 + 1e-12);
        ck_assert(shoulder >= -0.7 - 1e-12 && shoulder <= 1.9 + 1e-12);
    }
    scene_release(&scene);
}

TEST(links_without_inertia_visuals_or_meshes_that_exist_are_nodes_too)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(
        load(&scene,
             "<robot name='r'><link name='a'/><link name='b'><visual><geometry><mesh "
             "filename='package://nowhere/b.dae'/></geometry></visual><collision><geometry><mesh "
             "filename='missing.stl'/></geometry></collision></link><link name='c'/>" JOINT(
                 "j", "fixed", "a", "b", "<origin xyz='1 2 3'/>")
                 JOINT("k", "fixed", "a", "c", "<origin xyz='4 5 6'/>") "</robot>",
             &fault),
        "%s", fault.text);
    ck_assert_uint_eq(scene.node_count, 3);
    ck_assert(!scene_moves(&scene));
    const scene_node *const c = &scene.nodes[find_node(&scene, "c")];
    ck_assert_double_eq(c->rest.place.position[1], 5);
    scene_release(&scene);
}

TEST(floating_joint_has_six_axes_and_a_planar_one_three)
{
    tool_affine worlds[MOST_NODES];
    tool_scene scene = {0};
    tool_fault fault = {""};
    bool has_left = false;

    ck_assert_msg(load(&scene,
                       "<robot name='r'>" LINK("a") LINK("b") LINK("c")
                           JOINT("free", "floating", "a", "b", "<origin xyz='1 0 0'/>")
                               JOINT("table", "planar", "a", "c",
                                     "<origin xyz='0 0 7'/><axis xyz='0 0 1'/>") "</robot>",
                       &fault),
                  "%s", fault.text);
    for (size_t i = 0; i < 6; ++i) {
        ck_assert(!isnan(robot_value(scene.robot, "free", i, 1)));
    }
    ck_assert(isnan(robot_value(scene.robot, "free", 6, 1)));
    ck_assert(!isnan(robot_value(scene.robot, "table", 2, 1)));
    ck_assert(isnan(robot_value(scene.robot, "table", 3, 1)));
    for (int i = 0; i < 10; ++i) {
        worlds_at(worlds, &scene, ROBOT_PERIOD * i / 10);
        const tool_affine *const c = &worlds[find_node(&scene, "c")];
        // The plane's normal is z, and stays it.
        ck_assert_double_eq_tol(c->m[2][3], 7, 1e-12);
        ck_assert_double_eq_tol(c->m[2][2], 1, 1e-12);
        has_left = has_left || fabs(c->m[0][3]) > 0.1;
    }
    ck_assert(has_left);
    scene_release(&scene);
}

/// A file that is refused, and words of the reason.
typedef struct refusal {
    const char *text, *words;
} refusal;

static const refusal refusals[] = {
    {"<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:include filename='a'/>"
     "<link name='a'/></robot>",
     "is a xacro file"},
    {"<robot name='r'><link name='${prefix}a'/></robot>", "is a xacro file"},
    {"<robot name='r'><xacro:arm name='a'/></robot>", "is a xacro file"},
    {"<robot name='r'></robot>", "urdfdom: "},
    {"<robot><link name='a'/></robot>", "urdfdom: "},
    {"<robot name='r'><link name='a'/><link name='b'/></robot>", "urdfdom: "},
    {"<robot name='r'><link name='a'", "line 1: "},
    {"<!DOCTYPE robot [<!ENTITY a 'x'>]><robot name='r'><link name='a'/></robot>",
     "TinyXML finds no element"},
    {"<robot name='r'>" LINK("a") LINK("b") JOINT("j", "revolute", "a", "b", "") "</robot>",
     "does not specify limits"},
    {"<robot name='r'>" LINK("a") LINK("b") JOINT("j", "hinge", "a", "b", "") "</robot>", "hinge"},
    {"<robot name='r'>" LINK("a") LINK("b")
         JOINT("j", "continuous", "a", "b", "<axis xyz='0 0 0'/>") "</robot>",
     "axis of no length"},
    {"<robot name='r'>" LINK("a") LINK("b")
         JOINT("j", "continuous", "a", "b", "<axis xyz='0 0 1'/><mimic joint='k'/>") "</robot>",
     "joint 'j' mimics 'k', which does not exist"},
    {"<robot name='r'>" LINK("a") LINK("b")
         JOINT("j", "continuous", "a", "b", "<axis xyz='0 0 1'/><mimic joint='j'/>") "</robot>",
     "in a circle"},
    {"<robot name='r'>" LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "a", "c", "")
         JOINT("k", "fixed", "b", "c", "") JOINT("l", "fixed", "a", "b", "") "</robot>",
     "link 'c' hangs on two joints"},
    {"<robot name='r'>" LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "c", "b", "")
         JOINT("k", "fixed", "b", "c", "") "</robot>",
     "in a circle"},
};

TEST_LOOP(broken_file_is_refused_with_the_reason, 0, sizeof refusals / sizeof *refusals)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(!load(&scene, refusals[_i].text, &fault));
    ck_assert_msg(strstr(fault.text, refusals[_i].words) != NULL, "%s", fault.text);
}

TEST(macro_that_an_expansion_left_over_is_a_note)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene,
                       "<!-- ${comment} --><robot name='r'><link name='a'/><xacro:camera/>"
                       "<gazebo><xacro:plug/></gazebo></robot>",
                       &fault),
                  "%s", fault.text);
    ck_assert_uint_eq(scene.node_count, 1);
    ck_assert_uint_eq(scene.missing, 2);
    ck_assert_str_eq(scene.notes, "2 macros of xacro are not expanded");
    scene_release(&scene);
}

TEST(declared_namespace_of_xacro_alone_is_no_xacro)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene,
                       "<!-- made by <xacro:include> --><robot name='r' "
                       "xmlns:xacro='http://www.ros.org/wiki/xacro'><link name='a'/></robot>",
                       &fault),
                  "%s", fault.text);
    scene_release(&scene);
}

#ifdef HAVE_MUJOCO

#include <mujoco/mujoco.h>

/// Bring a model to a moment of the scene: each of its joints has the name of one of ours.
static void move_model(const mjModel *model, mjData *data, const tool_scene *scene, double seconds)
{
    for (int i = 0; i < model->njnt; ++i) {
        const char *const name = mj_id2name(model, mjOBJ_JOINT, i);
        data->qpos[model->jnt_qposadr[i]] = robot_value(scene->robot, name, 0, seconds);
    }
    mj_kinematics(model, data);
}

TEST(links_are_where_mujoco_has_them)
{
    char reason[500] = "";
    tool_affine worlds[MOST_NODES];
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene, arm_text, &fault), "%s", fault.text);
    write_file(path, arm_text);
    mjModel *const model = mj_loadXML(path, NULL, reason, sizeof reason);
    ck_assert_msg(model != NULL, "%s", reason);
    ck_assert_int_eq(remove(path), 0);
    mjData *const data = mj_makeData(model);

    ck_assert_int_eq(model->njnt, 5);
    ck_assert_int_eq(model->nbody, 8); // the world comes first
    for (int moment = 0; moment < 50; ++moment) {
        const double at = ROBOT_PERIOD * moment / 50;

        worlds_at(worlds, &scene, at);
        move_model(model, data, &scene, at);
        for (int body = 1; body < model->nbody; ++body) {
            const char *const name = mj_id2name(model, mjOBJ_BODY, body);
            const tool_affine *const world = &worlds[find_node(&scene, name)];

            for (int i = 0; i < 3; ++i) {
                ck_assert_double_eq_tol(world->m[i][3], data->xpos[3 * body + i], 1e-9);
                for (int j = 0; j < 3; ++j) {
                    ck_assert_double_eq_tol(world->m[i][j], data->xmat[9 * body + 3 * i + j], 1e-9);
                }
            }
        }
    }
    mj_deleteData(data);
    mj_deleteModel(model);
    scene_release(&scene);
}

#endif

#else

TEST(build_without_urdfdom_refuses_urdf_by_name)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(!load_text(&scene, "urdf_test.urdf", "<robot name='r'/>", &fault));
    ck_assert(strstr(fault.text, "built without urdfdom") != NULL);
}

#endif
