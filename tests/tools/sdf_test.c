// SPDX-License-Identifier: MIT
// Robots and worlds in SDF: places of models, links and frames against numbers by hand, and movement
// against the same robot in URDF.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/tools/robot_files.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_SDFORMAT

#define QUARTER "1.5707963267948966"
#define SDF(text) "<?xml version='1.0'?><sdf version='1.9'>" text "</sdf>"

static const char path[] = "sdf_test.sdf";

static bool load(tool_scene *out, const char *text, tool_fault *fault)
{
    return load_text(out, path, text, fault);
}

/// Demand a place in the scene at the start of the movement, with one of the axes of its matrix.
static void ck_place(const tool_scene *scene, const char *name, const double position[3], int axis,
                     const double direction[3])
{
    tool_affine worlds[MOST_NODES];

    worlds_at(worlds, scene, 0);
    const tool_affine *const world = &worlds[find_node(scene, name)];
    for (int i = 0; i < 3; ++i) {
        ck_assert_msg(fabs(world->m[i][3] - position[i]) < 1e-9, "%s: %g %g %g", name,
                      world->m[0][3], world->m[1][3], world->m[2][3]);
        ck_assert_msg(fabs(world->m[i][axis] - direction[i]) < 1e-9, "axis of %s: %g %g %g", name,
                      world->m[0][axis], world->m[1][axis], world->m[2][axis]);
    }
}

#define ck_place_x(scene, name, px, py, pz, dx, dy, dz) \
    ck_place((scene), (name), (const double[3]){px, py, pz}, 0, (const double[3]){dx, dy, dz})

static void ck_parent(const tool_scene *scene, const char *name, const char *parent)
{
    const uint32_t found = scene->nodes[find_node(scene, name)].parent;

    if (parent == NULL) {
        ck_assert_uint_eq(found, SCENE_NO_PARENT);
    } else {
        ck_assert_uint_ne(found, SCENE_NO_PARENT);
        ck_assert_str_eq(scene->nodes[found].name, parent);
    }
}

TEST(poses_are_relative_to_what_the_file_names)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    // a is turned a quarter about z, and b a quarter about a's x: b's x is a's x, along y.
    ck_assert_msg(
        load(&scene,
             SDF("<model name='m'><pose>10 0 0 0 0 0</pose>"
                 "<link name='a'><pose>1 0 0 0 0 " QUARTER "</pose></link>"
                 "<link name='b'><pose relative_to='f'>0 0 3 " QUARTER " 0 0</pose></link>"
                 "<frame name='f' attached_to='a'><pose>2 0 0 0 0 0</pose></frame>"
                 "<frame name='g' attached_to='b'><pose relative_to='a'>0 1 0 0 0 0</pose></frame>"
                 "<frame name='h'><pose degrees='true'>0 0 1 0 0 90</pose></frame>"
                 "<link name='c'><pose relative_to='h' rotation_format='quat_xyzw'>"
                 "1 0 0 0 0 1 0</pose></link>"
                 "<joint name='j' type='fixed'><parent>a</parent><child>b</child></joint>"
                 "</model>"),
             &fault),
        "%s", fault.text);
    ck_assert_uint_eq(scene.node_count, 7);
    ck_parent(&scene, "m", NULL);
    ck_parent(&scene, "a", "m");
    ck_parent(&scene, "b", "a");
    ck_parent(&scene, "c", "m");
    ck_parent(&scene, "f", "a");
    ck_parent(&scene, "g", "b");
    // A model's own frame belongs to its first link.
    ck_parent(&scene, "h", "a");
    ck_place_x(&scene, "m", 10, 0, 0, 1, 0, 0);
    ck_place_x(&scene, "a", 11, 0, 0, 0, 1, 0);
    ck_place_x(&scene, "f", 11, 2, 0, 0, 1, 0);
    ck_place_x(&scene, "b", 11, 2, 3, 0, 1, 0);
    ck_place_x(&scene, "g", 10, 0, 0, 0, 1, 0);
    ck_place_x(&scene, "h", 10, 0, 1, 0, 1, 0);
    ck_place_x(&scene, "c", 10, 1, 1, 0, -1, 0);
    ck_assert(!scene_moves(&scene));
    scene_release(&scene);
}

TEST(nested_models_have_scopes_and_placement_frames)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    // The frame `grip` of the hand is put at 5 along x of `wrist`, so the hand is 2 less far along y.
    ck_assert_msg(load(&scene,
                       SDF("<model name='arm'><pose>0 0 1 0 0 0</pose>"
                           "<link name='wrist'><pose>0 0 0 0 0 " QUARTER "</pose></link>"
                           "<model name='hand' placement_frame='grip'><pose relative_to='wrist'>5 "
                           "0 0 0 0 0</pose>"
                           "<link name='palm'><pose>0 0 1 0 0 0</pose></link>"
                           "<frame name='grip'><pose>2 0 0 0 0 0</pose></frame>"
                           "<model name='tool'><pose>0 0 4 0 0 0</pose><link name='blade'/></model>"
                           "</model>"
                           "<frame name='edge' attached_to='hand::tool::blade'><pose>1 0 0 0 0 "
                           "0</pose></frame>"
                           "<joint name='weld' type='fixed'><parent>wrist</parent>"
                           "<child>hand::palm</child></joint>"
                           "<joint name='clip' type='fixed'><parent>hand::palm</parent>"
                           "<child>hand::tool::blade</child></joint>"
                           "</model>"),
                       &fault),
                  "%s", fault.text);
    ck_parent(&scene, "hand", "arm");
    ck_parent(&scene, "palm", "wrist");
    ck_parent(&scene, "tool", "hand");
    ck_parent(&scene, "blade", "palm");
    ck_parent(&scene, "edge", "blade");
    ck_place_x(&scene, "grip", 0, 5, 1, 0, 1, 0);
    ck_place_x(&scene, "hand", 0, 3, 1, 0, 1, 0);
    ck_place_x(&scene, "palm", 0, 3, 2, 0, 1, 0);
    ck_place_x(&scene, "blade", 0, 3, 5, 0, 1, 0);
    ck_place_x(&scene, "edge", 0, 4, 5, 0, 1, 0);
    scene_release(&scene);
}

TEST(world_has_all_its_models_at_the_top)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene,
                       SDF("<world name='w'><frame name='table'><pose>0 0 2 0 0 0</pose></frame>"
                           "<model name='one'><pose relative_to='table'>1 0 0 0 0 0</pose><link "
                           "name='a'/></model>"
                           "<model name='two'><pose relative_to='one'>1 0 0 0 0 0</pose><link "
                           "name='b'/></model>"
                           "<frame name='mark' attached_to='two'><pose>0 1 0 0 0 0</pose></frame>"
                           "</world>"),
                       &fault),
                  "%s", fault.text);
    ck_assert_uint_eq(scene.node_count, 6);
    ck_parent(&scene, "one", NULL);
    ck_parent(&scene, "two", NULL);
    ck_parent(&scene, "table", NULL);
    ck_parent(&scene, "mark", "b");
    ck_place_x(&scene, "a", 1, 0, 2, 1, 0, 0);
    ck_place_x(&scene, "b", 2, 0, 2, 1, 0, 0);
    ck_place_x(&scene, "mark", 2, 1, 2, 1, 0, 0);
    scene_release(&scene);
}

TEST(file_of_an_old_version_means_what_it_meant)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    // In SDF 1.4 an axis is expressed in the frame of the model: here along x of the model, which is -y of
    // the child. A quarter about it brings the z of the child, which was up, to -y of the model.
    ck_assert_msg(load(&scene,
                       "<?xml version='1.0'?><sdf version='1.4'><model name='m'><link name='a'/>"
                       "<link name='b'><pose>0 0 1 0 0 " QUARTER "</pose></link>"
                       "<joint name='j' type='revolute'><parent>a</parent><child>b</child>"
                       "<axis><xyz>1 0 0</xyz><limit><lower>" QUARTER "</lower><upper>" QUARTER
                       "</upper></limit></axis></joint></model></sdf>",
                       &fault),
                  "%s", fault.text);
    ck_place(&scene, "b", (const double[3]){0, 0, 1}, 2, (const double[3]){0, -1, 0});
    scene_release(&scene);
}

/// The same arm twice. In SDF links are placed in the model, joints by a pose, and axes in other frames.
static const char arm_in_sdf[] =
    SDF("<model name='arm'>"
        "<link name='base'/>"
        "<link name='upper'><pose relative_to='shoulder'/></link>"
        "<link name='rail'><pose relative_to='upper'>0 0.5 0.25 0.4 -0.3 0.2</pose></link>"
        "<link name='tip'><pose relative_to='rail'>0.3 0 0 0 0.7 0</pose></link>"
        "<link name='clamp'><pose relative_to='rail'>0.6 -0.1 0.2 0.1 0 0</pose></link>"
        "<joint name='shoulder' type='continuous'>"
        "<pose relative_to='base'>0.1 0.2 0.3 0.4 0.5 0.6</pose>"
        "<parent>base</parent><child>upper</child><axis><xyz>0 0.6 0.8</xyz></axis></joint>"
        "<joint name='lift' type='prismatic'><parent>upper</parent><child>rail</child>"
        "<axis><xyz expressed_in='rail'>0 0 1</xyz>"
        "<limit><lower>-0.1</lower><upper>0.4</upper></limit></axis></joint>"
        "<joint name='wrist' type='revolute'><parent>rail</parent><child>tip</child>"
        "<axis><xyz>1 0 0</xyz><limit><lower>-1</lower><upper>2</upper></limit></axis></joint>"
        "<joint name='jaw' type='revolute'><parent>rail</parent><child>clamp</child>"
        "<axis><xyz>0 1 0</xyz><limit><lower>-9</lower><upper>9</upper></limit>"
        "<mimic joint='wrist' axis='axis'><multiplier>-2</multiplier><offset>0.5</offset>"
        "<reference>0.25</reference></mimic></axis></joint>"
        "</model>");

#ifdef HAVE_URDFDOM

static const char arm_in_urdf[] =
    "<robot name='arm'><link name='base'/><link name='upper'/><link name='rail'/><link name='tip'/>"
    "<link name='clamp'/>"
    "<joint name='shoulder' type='continuous'><parent link='base'/><child link='upper'/>"
    "<origin xyz='0.1 0.2 0.3' rpy='0.4 0.5 0.6'/><axis xyz='0 0.6 0.8'/></joint>"
    "<joint name='lift' type='prismatic'><parent link='upper'/><child link='rail'/>"
    "<origin xyz='0 0.5 0.25' rpy='0.4 -0.3 0.2'/><axis xyz='0 0 1'/>"
    "<limit lower='-0.1' upper='0.4' effort='1' velocity='1'/></joint>"
    "<joint name='wrist' type='revolute'><parent link='rail'/><child link='tip'/>"
    "<origin xyz='0.3 0 0' rpy='0 0.7 0'/><axis xyz='1 0 0'/>"
    "<limit lower='-1' upper='2' effort='1' velocity='1'/></joint>"
    "<joint name='jaw' type='revolute'><parent link='rail'/><child link='clamp'/>"
    "<origin xyz='0.6 -0.1 0.2' rpy='0.1 0 0'/><axis xyz='0 1 0'/>"
    "<limit lower='-9' upper='9' effort='1' velocity='1'/>"
    "<mimic joint='wrist' multiplier='-2' offset='1'/></joint></robot>";

/// Turn a joint's frame from where one robot has it to where the other one has it: the joints begin at
/// different times, so each link is compared by what its own joint's value makes of its parent.
static void ck_local(const tool_scene *sdf, const tool_scene *urdf, const char *link,
                     const char *joint)
{
    const size_t in_sdf = find_node(sdf, link), in_urdf = find_node(urdf, link);
    local_frame ours[MOST_NODES], theirs[MOST_NODES];
    int compared = 0;

    // Both swing over the same values: find moments at which these are nearly equal.
    for (int i = 0; i < 40; ++i) {
        const double at = ROBOT_PERIOD * i / 40;
        const double value = robot_value(sdf->robot, joint, 0, at);

        scene_pose(sdf, at, ours);
        for (int j = 0; j < 4000; ++j) {
            const double then = ROBOT_PERIOD * j / 4000;

            if (fabs(robot_value(urdf->robot, joint, 0, then) - value) > 1e-3) {
                continue;
            }
            scene_pose(urdf, then, theirs);
            for (int k = 0; k < 12; ++k) {
                ck_assert_double_eq_tol(ours[in_sdf].matrix.m[k / 4][k % 4],
                                        theirs[in_urdf].matrix.m[k / 4][k % 4], 3e-3);
            }
            ++compared;
            break;
        }
    }
    ck_assert_int_ge(compared, 20);
}

TEST(robot_moves_as_the_same_robot_in_urdf_does)
{
    tool_scene sdf = {0}, urdf = {0};
    tool_affine worlds[MOST_NODES];
    tool_fault fault = {""};

    ck_assert_msg(load(&sdf, arm_in_sdf, &fault), "%s", fault.text);
    ck_assert_msg(load_text(&urdf, "sdf_test.urdf", arm_in_urdf, &fault), "%s", fault.text);
    ck_assert_uint_eq(sdf.node_count, urdf.node_count + 1);
    ck_local(&sdf, &urdf, "upper", "shoulder");
    ck_local(&sdf, &urdf, "rail", "lift");
    ck_local(&sdf, &urdf, "tip", "wrist");
    ck_local(&sdf, &urdf, "clamp", "jaw");
    for (int i = 0; i < 20; ++i) {
        worlds_at(worlds, &sdf, ROBOT_PERIOD * i / 20);
    }
    scene_release(&sdf);
    scene_release(&urdf);
}

#endif

TEST(mimic_of_sdf_counts_from_its_reference)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene, arm_in_sdf, &fault), "%s", fault.text);
    for (int i = 0; i < 50; ++i) {
        const double at = ROBOT_PERIOD * i / 50;
        ck_assert_double_eq_tol(robot_value(scene.robot, "jaw", 0, at),
                                -2 * (robot_value(scene.robot, "wrist", 0, at) - 0.25) + 0.5,
                                1e-12);
    }
    scene_release(&scene);
}

#define TWO_LINKS "<link name='a'/><link name='b'><pose>0 0 1 0 0 0</pose></link>"
#define HELD(value) "<limit><lower>" value "</lower><upper>" value "</upper></limit>"

TEST(axis_in_another_frame_and_a_joint_beside_its_link_turn_the_link)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    // The joint is 2 along x of the child. Its axis is x of the model, where a quarter brings z to -y, and
    // leaves the child where it is, because the joint is beside it along that axis. Then the same about y:
    // x goes to -z, and the child with it.
    ck_assert_msg(
        load(&scene,
             SDF("<model name='m'>" TWO_LINKS
                 "<joint name='j' type='revolute'><pose>2 0 0 0 0 1</pose>"
                 "<parent>a</parent><child>b</child><axis>"
                 "<xyz expressed_in='__model__'>0 1 0</xyz>" HELD(QUARTER) "</axis></joint>"
                                                                           "</model>"),
             &fault),
        "%s", fault.text);
    ck_place_x(&scene, "b", 2, 0, 3, 0, 0, -1);
    scene_release(&scene);
}

TEST(screw_advances_by_its_thread)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    // Four radians left-handed for each unit of length.
    ck_assert_msg(load(&scene,
                       SDF("<model name='m'>" TWO_LINKS
                           "<joint name='j' type='screw'><thread_pitch>-4</thread_pitch>"
                           "<parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>" HELD(
                               QUARTER) "</axis></joint></model>"),
                       &fault),
                  "%s", fault.text);
    ck_place_x(&scene, "b", 0, 0, 1 + 1.5707963267948966 / 4, 0, 1, 0);
    scene_release(&scene);
}

TEST(universal_joint_turns_about_its_first_axis_first)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    // A quarter about z, then one about the x that has turned.
    ck_assert_msg(
        load(&scene,
             SDF("<model name='m'>" TWO_LINKS
                 "<joint name='j' type='universal'><parent>a</parent><child>b</child>"
                 "<axis><xyz>0 0 1</xyz>" HELD(QUARTER) "</axis>"
                                                        "<axis2><xyz>1 0 0</xyz>" HELD(
                                                            QUARTER) "</axis2></joint></model>"),
             &fault),
        "%s", fault.text);
    ck_place(&scene, "b", (const double[3]){0, 0, 1}, 2, (const double[3]){1, 0, 0});
    ck_place_x(&scene, "b", 0, 0, 1, 0, 1, 0);
    scene_release(&scene);
}

TEST(ball_has_three_axes_and_a_joint_to_the_world_moves_its_link)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(
        load(&scene,
             SDF("<model name='m'>" TWO_LINKS
                 "<joint name='j' type='ball'><parent>world</parent><child>b</child></joint>"
                 "</model>"),
             &fault),
        "%s", fault.text);
    ck_parent(&scene, "b", "m");
    ck_assert(!isnan(robot_value(scene.robot, "j", 2, 0)));
    ck_assert(isnan(robot_value(scene.robot, "j", 3, 0)));
    scene_release(&scene);
}

TEST(static_model_does_not_move)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene,
                       SDF("<model name='m'><static>true</static>" TWO_LINKS
                           "<joint name='j' type='ball'><parent>a</parent><child>b</child></joint>"
                           "</model>"),
                       &fault),
                  "%s", fault.text);
    ck_parent(&scene, "b", "a");
    ck_assert(!scene_moves(&scene));
    scene_release(&scene);
}

TEST(joint_that_closes_a_loop_moves_nothing)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene,
                       SDF("<model name='m'>" TWO_LINKS "<link name='c'/>"
                           "<joint name='ab' type='ball'><parent>a</parent><child>b</child></joint>"
                           "<joint name='bc' type='ball'><parent>b</parent><child>c</child></joint>"
                           "<joint name='ca' type='ball'><parent>c</parent><child>a</child></joint>"
                           "<joint name='ac' type='ball'><parent>a</parent><child>c</child></joint>"
                           "</model>"),
                       &fault),
                  "%s", fault.text);
    ck_parent(&scene, "a", "m");
    ck_parent(&scene, "b", "a");
    ck_parent(&scene, "c", "b");
    ck_assert(!isnan(robot_value(scene.robot, "bc", 0, 0)));
    ck_assert(isnan(robot_value(scene.robot, "ca", 0, 0)));
    ck_assert(isnan(robot_value(scene.robot, "ac", 0, 0)));
    ck_assert_str_eq(scene.notes, "2 joints close loops of links and are not played");
    scene_release(&scene);
}

// libsdformat has descriptions of its own format under these names, and finds those first.
TEST(file_that_is_named_as_a_description_of_the_format_is_itself)
{
    static const char *const names[] = {"model.sdf", "world.sdf", "./joint.sdf"};

    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        tool_scene scene = {0};
        tool_fault fault = {""};

        ck_assert_msg(
            load_text(&scene, names[i], SDF("<model name='m'><link name='a'/></model>"), &fault),
            "%s: %s", names[i], fault.text);
        ck_assert_uint_eq(scene.node_count, 2);
        scene_release(&scene);
    }
}

TEST(include_is_found_beside_the_file)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_int_eq(mkdir("sdf_test_box", 0777), 0);
    write_file(
        "sdf_test_box/model.config",
        "<?xml version='1.0'?><model><name>box</name><sdf version='1.9'>model.sdf</sdf></model>");
    write_file("sdf_test_box/model.sdf",
               SDF("<model name='box'><link name='body'><pose>0 0 1 0 0 0</pose></link></model>"));
    const bool is_good =
        load(&scene,
             SDF("<world name='w'><include><uri>model://sdf_test_box</uri><name>left</name>"
                 "<pose>1 0 0 0 0 " QUARTER "</pose></include></world>"),
             &fault);
    ck_assert(remove("sdf_test_box/model.config") == 0 && remove("sdf_test_box/model.sdf") == 0);
    ck_assert_int_eq(rmdir("sdf_test_box"), 0);
    ck_assert_msg(is_good, "%s", fault.text);
    ck_place_x(&scene, "left", 1, 0, 0, 0, 1, 0);
    ck_place_x(&scene, "body", 1, 0, 1, 0, 1, 0);
    scene_release(&scene);
}

TEST(include_that_is_not_found_is_named_and_the_rest_is_there)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load(&scene,
                       SDF("<world name='w'><include><uri>model://no_such_model</uri></include>"
                           "<model name='m'><link name='a'/></model>"
                           "<include><uri>no_such_file.sdf</uri></include></world>"),
                       &fault),
                  "%s", fault.text);
    ck_assert_uint_eq(scene.node_count, 2);
    ck_assert_uint_eq(scene.missing, 2);
    ck_assert(strstr(scene.notes, "model://no_such_model") != NULL);
    ck_assert(strstr(scene.notes, "no_such_file.sdf") != NULL);
    scene_release(&scene);
}

/// A file that is refused, and words of the reason.
typedef struct refusal {
    const char *text, *words;
} refusal;

static const refusal refusals[] = {
    {SDF("<world name='w'><include><uri>model://no_such_model</uri></include></world>"),
     "model://no_such_model"},
    {SDF("<model name='m'><include><uri>model://no_such_part</uri></include><link name='a'>"
         "<pose relative_to='no_such_part'/></link></model>"),
     "model://no_such_part"},
    {SDF("<model name='m'><link name='a'><pose relative_to='nobody'/></link></model>"), "nobody"},
    {SDF("<model name='m'><link name='a'/><frame name='f' attached_to='nobody'/></model>"),
     "nobody"},
    {SDF("<model name='m'><link name='a'><pose relative_to='f'/></link>"
         "<frame name='f'><pose relative_to='a'/></frame></model>"),
     "cycle"},
    {SDF("<model name='m'><link name='a'/><joint name='j' type='hinge'><parent>world</parent>"
         "<child>a</child></joint></model>"),
     "hinge"},
    {SDF("<model name='m'><link name='a'/><joint name='j' type='fixed'><parent>world</parent>"
         "<child>b</child></joint></model>"),
     "b"},
    {SDF("<model name='m'>" TWO_LINKS "<joint name='j' type='continuous'><parent>a</parent>"
         "<child>b</child><axis><mimic joint='k'/></axis></joint></model>"),
     "'k' does not exist"},
    {SDF("<model name='m'/>"), "link"},
    {SDF("<light name='l' type='point'/>"), "no nodes"},
    {"<?xml version='1.0'?><sdf version='1.9'><model name='m'", "libsdformat: "},
};

TEST_LOOP(broken_file_is_refused_with_the_reason, 0, sizeof refusals / sizeof *refusals)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(!load(&scene, refusals[_i].text, &fault));
    ck_assert_msg(strstr(fault.text, refusals[_i].words) != NULL, "%s", fault.text);
}

#else

TEST(build_without_libsdformat_refuses_sdf_by_name)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(!load_text(&scene, "sdf_test.sdf", "<sdf version='1.9'/>", &fault));
    ck_assert(strstr(fault.text, "built without libsdformat") != NULL);
}

#endif
