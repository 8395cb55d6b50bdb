// SPDX-License-Identifier: MIT
// Writes glTF files by tinygltf, for C. Memory may be lacking in each function, which tinygltf and the
// containers throw, so each function catches all.
extern "C" {
#include "tools/gltf_out.h"
}

#include <tiny_gltf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <string>
#include <vector>

struct gltf_out {
    tinygltf::Model model;
};

namespace
{

/// Return the number of bytes of the character at `text`, which is UTF-8; 0 where it is none.
std::size_t character_size(const unsigned char *text)
{
    const unsigned char lead = text[0];
    const std::size_t size = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;

    for (std::size_t i = 1; i < size; ++i) {
        if ((text[i] & 0xc0U) != 0x80U) {
            return 0;
        }
    }
    // Too long, a surrogate, or past the last code point.
    const bool is_bad =
        size > 2 && ((lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] > 0x9f) ||
                     (lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] > 0x8f));
    return is_bad ? 0 : size;
}

std::string make_text(const char *text)
{
    const unsigned char *at = reinterpret_cast<const unsigned char *>(text);
    std::string out;

    while (*at != '\0') {
        const std::size_t size = character_size(at);

        if (size == 0) {
            out += '?';
            ++at;
            continue;
        }
        out.append(reinterpret_cast<const char *>(at), size);
        at += size;
    }
    return out;
}

std::vector<double> make_numbers(const float *values, std::size_t count)
{
    return std::vector<double>(values, values + count);
}

/// Add floats to the buffer, least byte first, as glTF has them.
void append(tinygltf::Model *model, const float *values, std::size_t count)
{
    std::vector<unsigned char> &bytes = model->buffers[0].data;

    for (std::size_t i = 0; i < count; ++i) {
        unsigned word = 0;

        static_assert(sizeof word == sizeof values[i], "floats have 32 bits");
        std::memcpy(&word, &values[i], sizeof word);
        for (unsigned shift = 0; shift < 32; shift += 8) {
            bytes.push_back(static_cast<unsigned char>(word >> shift & 0xffU));
        }
    }
}

bool ends_with(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// A file without arrays or without an animation has none of them, because glTF allows no empty ones.
void finish(tinygltf::Model *model)
{
    if (model->animations[0].channels.empty()) {
        model->animations.clear();
    }
    if (model->buffers[0].data.empty()) {
        model->buffers.clear();
        model->bufferViews.clear();
        return;
    }
    model->bufferViews[0].byteLength = model->buffers[0].data.size();
}

} // namespace

extern "C" gltf_out *gltf_out_create(const char *title)
{
    gltf_out *out = nullptr;

    try {
        out = new gltf_out;
        out->model.asset.version = "2.0";
        out->model.asset.generator = "espalier";
        out->model.scenes.resize(1);
        out->model.scenes[0].name = make_text(title);
        out->model.defaultScene = 0;
        out->model.animations.resize(1);
        out->model.animations[0].name = make_text(title);
        out->model.buffers.resize(1);
        out->model.bufferViews.resize(1);
        out->model.bufferViews[0].buffer = 0;
        return out;
    } catch (const std::exception &) {
        delete out;
        return nullptr;
    }
}

extern "C" void gltf_out_destroy(gltf_out *out)
{
    delete out;
}

extern "C" int gltf_out_node(gltf_out *out, const char *name, int parent,
                             const float translation[3], const float rotation[4],
                             const float scale[3])
{
    try {
        const int number = static_cast<int>(out->model.nodes.size());
        tinygltf::Node node;

        node.name = make_text(name);
        node.translation = make_numbers(translation, 3);
        node.rotation = make_numbers(rotation, 4);
        node.scale = make_numbers(scale, 3);
        out->model.nodes.push_back(node);
        (parent < 0 ? out->model.scenes[0].nodes
                    : out->model.nodes[static_cast<std::size_t>(parent)].children)
            .push_back(number);
        return number;
    } catch (const std::exception &) {
        return -1;
    }
}

extern "C" size_t gltf_out_node_count(const gltf_out *out)
{
    return out->model.nodes.size();
}

extern "C" int gltf_out_floats(gltf_out *out, const float *values, size_t count, size_t components)
{
    try {
        tinygltf::Accessor accessor;

        accessor.bufferView = 0;
        accessor.byteOffset = out->model.buffers[0].data.size();
        accessor.componentType = TINYGLTF_COMPONENT_TYPE_FLOAT;
        accessor.count = count;
        accessor.type = components == 1   ? TINYGLTF_TYPE_SCALAR
                        : components == 3 ? TINYGLTF_TYPE_VEC3
                                          : TINYGLTF_TYPE_VEC4;
        // Times need their bounds.
        if (components == 1) {
            accessor.minValues = make_numbers(std::min_element(values, values + count), 1);
            accessor.maxValues = make_numbers(std::max_element(values, values + count), 1);
        }
        append(&out->model, values, count * components);
        out->model.accessors.push_back(accessor);
        return static_cast<int>(out->model.accessors.size()) - 1;
    } catch (const std::exception &) {
        return -1;
    }
}

extern "C" bool gltf_out_move(gltf_out *out, const gltf_out_keys *keys)
{
    try {
        tinygltf::Animation &animation = out->model.animations[0];
        tinygltf::AnimationSampler sampler;
        tinygltf::AnimationChannel channel;

        sampler.input = keys->times;
        sampler.output = keys->values;
        sampler.interpolation = "LINEAR";
        channel.sampler = static_cast<int>(animation.samplers.size());
        channel.target_node = keys->node;
        channel.target_path = keys->path;
        animation.samplers.push_back(sampler);
        animation.channels.push_back(channel);
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

extern "C" bool gltf_out_write(gltf_out *out, const char *path, tool_fault *fault)
{
    try {
        tinygltf::TinyGLTF writer;

        finish(&out->model);
        errno = 0;
        std::ofstream file(path, std::ios::binary);
        if (file.is_open() &&
            writer.WriteGltfSceneToStream(&out->model, file, false, ends_with(path, ".glb")) &&
            file.flush()) {
            return true;
        }
        fault_say(fault, "%s: no glTF: %s", path,
                  errno != 0 ? std::strerror(errno) : "it cannot be written");
    } catch (const std::exception &problem) {
        fault_say(fault, "%s: no glTF: %s", path, problem.what());
    }
    return false;
}
