// SPDX-License-Identifier: MIT
// glTF files by tinygltf, for C. tinygltf throws where it lacks memory or a buffer is empty, so each
// function that may meet that catches all.
extern "C" {
#include "tools/gltf_file.h"
}

#include <tiny_gltf.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <string>
#include <vector>

struct gltf_file {
    tinygltf::Model model;
    std::string complaint;
    std::vector<const tinygltf::Primitive *> primitives; // of all meshes
};

namespace
{

/// Accepts each image unread: scenes have no use for them.
bool pass_image(tinygltf::Image *, const int, std::string *, std::string *, int, int,
                const unsigned char *, int, void *)
{
    return true;
}

/// Names of files are taken as they are.
std::string keep_path(const std::string &path, void *)
{
    return path;
}

/// Tell a binary file by its first bytes. @param version  out, of a binary file.
bool is_binary(const char *path, unsigned *version)
{
    unsigned char head[8] = {};
    std::ifstream file(path, std::ios::binary);

    file.read(reinterpret_cast<char *>(head), sizeof head);
    *version = static_cast<unsigned>(head[4]) | static_cast<unsigned>(head[5]) << 8U |
               static_cast<unsigned>(head[6]) << 16U | static_cast<unsigned>(head[7]) << 24U;
    return file.gcount() == sizeof head && std::memcmp(head, "glTF", 4) == 0;
}

bool load(gltf_file *file, const char *path, bool is_glb, std::string *error)
{
    tinygltf::TinyGLTF reader;
    std::string warning;

    reader.SetImageLoader(pass_image, nullptr);
    reader.SetFsCallbacks({tinygltf::FileExists, keep_path, tinygltf::ReadWholeFile,
                           tinygltf::WriteWholeFile, nullptr});
    return is_glb ? reader.LoadBinaryFromFile(&file->model, error, &warning, path)
                  : reader.LoadASCIIFromFile(&file->model, error, &warning, path);
}

/// Tell whether another reader is needed, for version 1 or because meshes are compressed. The version
/// was not always a text, by which tinygltf does not find it.
bool needs_other(const tinygltf::Model &model, bool is_loaded, const std::string &error)
{
    const std::vector<std::string> &required = model.extensionsRequired;

    if (is_loaded) {
        return model.asset.version.compare(0, 2, "1.") == 0;
    }
    return error.find("\"asset\" object not found") == 0 ||
           model.asset.version.compare(0, 2, "1.") == 0 ||
           std::find(required.begin(), required.end(), "KHR_draco_mesh_compression") !=
               required.end();
}

void list_primitives(gltf_file *file)
{
    for (const tinygltf::Mesh &mesh : file->model.meshes) {
        for (const tinygltf::Primitive &primitive : mesh.primitives) {
            file->primitives.push_back(&primitive);
        }
    }
}

/// Copy numbers that are there; an empty list leaves the default.
template <size_t count> bool take(double (&out)[count], const std::vector<double> &from)
{
    if (from.size() == count) {
        std::copy(from.begin(), from.end(), out);
    }
    return from.empty() || from.size() == count;
}

} // namespace

gltf_file *gltf_open(const char *path, bool *is_other, tool_fault *fault)
{
    gltf_file *file = nullptr;

    *is_other = false;
    try {
        unsigned version = 0;
        std::string error;
        const bool is_glb = is_binary(path, &version);

        if (is_glb && version == 1) {
            *is_other = true;
            return nullptr;
        }
        file = new gltf_file;
        const bool is_loaded = load(file, path, is_glb, &error);
        const std::string &asset = file->model.asset.version;
        const std::string &least = file->model.asset.minVersion;
        if (needs_other(file->model, is_loaded, error)) {
            *is_other = true;
        } else if (!is_loaded) {
            fault_say(fault, "tinygltf: %s", error.empty() ? "no reason given" : error.c_str());
        } else if (asset.compare(0, 2, "2.") != 0) {
            fault_say(fault, "is glTF of version '%s', not 2", asset.c_str());
        } else if (!least.empty() && least != "2.0") {
            fault_say(fault, "needs glTF of version '%s'", least.c_str());
        } else {
            file->complaint = error;
            list_primitives(file);
            return file;
        }
    } catch (const std::exception &exception) {
        fault_say(fault, "tinygltf: %s", exception.what());
    }
    delete file;
    return nullptr;
}

void gltf_close(gltf_file *file)
{
    delete file;
}

const char *gltf_complaint(const gltf_file *file)
{
    return file->complaint.c_str();
}

size_t gltf_count_nodes(const gltf_file *file)
{
    return file->model.nodes.size();
}

size_t gltf_count_scenes(const gltf_file *file)
{
    return file->model.scenes.size();
}

size_t gltf_count_animations(const gltf_file *file)
{
    return file->model.animations.size();
}

int gltf_default_scene(const gltf_file *file)
{
    return file->model.defaultScene;
}

bool gltf_read_node(const gltf_file *file, size_t index, gltf_node *out)
{
    const tinygltf::Node &node = file->model.nodes[index];

    *out = gltf_node();
    out->name = node.name.c_str();
    out->children = node.children.data();
    out->child_count = node.children.size();
    out->has_matrix = !node.matrix.empty();
    out->rotation[3] = 1;
    std::fill(out->scale, out->scale + 3, 1.0);
    out->is_instanced = node.extensions.count("EXT_mesh_gpu_instancing") > 0;
    out->has_visibility = node.extensions.count("KHR_node_visibility") > 0;
    // A mesh with a skin is where its bones are, wherever the node is.
    out->mesh = node.skin < 0 ? node.mesh : -1;
    return take(out->matrix, node.matrix) && take(out->translation, node.translation) &&
           take(out->rotation, node.rotation) && take(out->scale, node.scale);
}

gltf_scene gltf_read_scene(const gltf_file *file, size_t index)
{
    const tinygltf::Scene &scene = file->model.scenes[index];

    return {scene.name.c_str(), scene.nodes.data(), scene.nodes.size()};
}

gltf_animation gltf_read_animation(const gltf_file *file, size_t index)
{
    const tinygltf::Animation &animation = file->model.animations[index];

    return {animation.name.c_str(), animation.channels.size()};
}

bool gltf_read_channel(const gltf_file *file, size_t animation, size_t index, gltf_channel *out)
{
    const tinygltf::Animation &from = file->model.animations[animation];
    const tinygltf::AnimationChannel &channel = from.channels[index];
    const auto sampler = static_cast<size_t>(channel.sampler); // a negative one is too large

    if (sampler >= from.samplers.size()) {
        return false;
    }
    const tinygltf::AnimationSampler &keys = from.samplers[sampler];
    *out = {channel.target_node, channel.target_path.c_str(), keys.interpolation.c_str(),
            keys.input, keys.output};
    return true;
}

bool gltf_read_accessor(const gltf_file *file, int index, gltf_accessor *out)
{
    const auto number = static_cast<size_t>(index);

    if (number >= file->model.accessors.size()) {
        return false;
    }
    const tinygltf::Accessor &from = file->model.accessors[number];
    const int components = tinygltf::GetNumComponentsInType(static_cast<uint32_t>(from.type));

    *out = gltf_accessor();
    out->view = from.bufferView;
    out->offset = from.byteOffset;
    out->component_type = from.componentType;
    out->components = components > 0 ? static_cast<size_t>(components) : 0;
    out->count = from.count;
    out->is_normalized = from.normalized;
    if (from.sparse.isSparse) {
        // A negative count is too large, and is refused as such.
        out->sparse_count = static_cast<size_t>(from.sparse.count);
        out->index_view = from.sparse.indices.bufferView;
        out->index_type = from.sparse.indices.componentType;
        out->index_offset = from.sparse.indices.byteOffset;
        out->value_view = from.sparse.values.bufferView;
        out->value_offset = from.sparse.values.byteOffset;
    }
    return true;
}

bool gltf_read_view(const gltf_file *file, int index, gltf_bytes *out)
{
    const auto number = static_cast<size_t>(index);

    if (number >= file->model.bufferViews.size()) {
        return false;
    }
    const tinygltf::BufferView &view = file->model.bufferViews[number];
    const auto holder = static_cast<size_t>(view.buffer);
    // What is compressed has other bytes in this place, or none.
    if (holder >= file->model.buffers.size() ||
        view.extensions.count("EXT_meshopt_compression") > 0 ||
        view.extensions.count("KHR_meshopt_compression") > 0) {
        return false;
    }
    const std::vector<unsigned char> &buffer = file->model.buffers[holder].data;
    if (view.byteOffset > buffer.size() || view.byteLength > buffer.size() - view.byteOffset) {
        return false;
    }
    *out = {buffer.data() + view.byteOffset, view.byteLength, view.byteStride};
    return true;
}

bool gltf_read_box(const gltf_file *file, int mesh, size_t index, double least[3], double most[3],
                   bool *has_box)
{
    const auto number = static_cast<size_t>(mesh);

    if (number >= file->model.meshes.size() ||
        index >= file->model.meshes[number].primitives.size()) {
        return false;
    }
    const tinygltf::Primitive &primitive = file->model.meshes[number].primitives[index];
    const auto position = primitive.attributes.find("POSITION");
    const auto at = position != primitive.attributes.end() ? static_cast<size_t>(position->second)
                                                           : file->model.accessors.size();

    *has_box = at < file->model.accessors.size() &&
               file->model.accessors[at].minValues.size() == 3 &&
               file->model.accessors[at].maxValues.size() == 3;
    if (*has_box) {
        std::copy_n(file->model.accessors[at].minValues.begin(), 3, least);
        std::copy_n(file->model.accessors[at].maxValues.begin(), 3, most);
    }
    return true;
}

bool gltf_read_faces(const gltf_file *file, size_t number, int *indices, int *positions)
{
    if (number >= file->primitives.size()) {
        return false;
    }
    const tinygltf::Primitive &primitive = *file->primitives[number];
    const auto position = primitive.attributes.find("POSITION");

    *indices = primitive.indices;
    *positions = position != primitive.attributes.end() ? position->second : -1;
    return true;
}
