// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/document.h"

#ifndef HAVE_JANSSON

bool document_is_built(void)
{
    return false;
}

void document_scene_begin(tool_document *document)
{
    (void)document;
}

void document_scene_end(tool_document *document)
{
    (void)document;
}

void document_text(tool_document *document, const char *key, const char *text)
{
    (void)document;
    (void)key;
    (void)text;
}

void document_count(tool_document *document, const char *key, uint64_t count)
{
    (void)document;
    (void)key;
    (void)count;
}

void document_number(tool_document *document, const char *key, double number)
{
    (void)document;
    (void)key;
    (void)number;
}

void document_flag(tool_document *document, const char *key, bool flag)
{
    (void)document;
    (void)key;
    (void)flag;
}

bool document_write(const tool_document *document, const char *path, tool_fault *fault)
{
    (void)document;
    fault_say(fault, "%s: not written: this espalier was built without jansson", path);
    return false;
}

void document_release(tool_document *document)
{
    *document = (tool_document){0};
}

#else

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// jansson refuses NULL wherever it takes a value, so failures of memory are seen by what it
// returns, and need no checks in between.

static void put(json_t *object, tool_document *document, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        document->is_spoiled = true;
    }
}

static void put_member(tool_document *document, const char *key, json_t *value)
{
    if (document->root == NULL) {
        document->root = json_object();
    }
    put(document->scene != NULL ? document->scene : document->root, document, key, value);
}

/// A text that is no UTF-8, readable where it is ASCII.
static json_t *make_plain_text(const char *text)
{
    char *const plain = strdup(text);

    for (char *c = plain; c != NULL && *c != '\0'; ++c) {
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    }
    json_t *const out = json_string(plain);
    free(plain);
    return out;
}

bool document_is_built(void)
{
    return true;
}

void document_scene_begin(tool_document *document)
{
    document_scene_end(document);
    if (json_object_get(document->root, "scenes") == NULL) {
        put_member(document, "scenes", json_array());
    }
    json_t *const scene = json_object();
    if (json_array_append_new(json_object_get(document->root, "scenes"), scene) != 0) {
        document->is_spoiled = true;
        return;
    }
    document->scene = scene;
}

void document_scene_end(tool_document *document)
{
    document->scene = NULL;
}

void document_text(tool_document *document, const char *key, const char *text)
{
    json_t *const value = json_string(text);

    put_member(document, key, value != NULL ? value : make_plain_text(text));
}

void document_count(tool_document *document, const char *key, uint64_t count)
{
    put_member(document, key, json_integer((json_int_t)count));
}

void document_number(tool_document *document, const char *key, double number)
{
    put_member(document, key, json_real(number));
}

void document_flag(tool_document *document, const char *key, bool flag)
{
    put_member(document, key, json_boolean(flag));
}

static bool dump(const tool_document *document, FILE *file)
{
    return json_dumpf(document->root, file, JSON_INDENT(2) | JSON_PRESERVE_ORDER) == 0 &&
           fputc('\n', file) != EOF && fflush(file) == 0;
}

bool document_write(const tool_document *document, const char *path, tool_fault *fault)
{
    const bool is_stdout = strcmp(path, "-") == 0;
    const char *const name = is_stdout ? "standard output" : path;

    if (document->root == NULL || document->is_spoiled) {
        fault_say(fault, "%s: a figure cannot be written as JSON", name);
        return false;
    }
    FILE *const file = is_stdout ? stdout : fopen(path, "w");
    bool is_written = file != NULL && dump(document, file);
    if (!is_written) {
        fault_say(fault, "%s: %s", name, strerror(errno));
    }
    if (!is_stdout && file != NULL && fclose(file) != 0 && is_written) {
        fault_say(fault, "%s: %s", name, strerror(errno));
        is_written = false;
    }
    return is_written;
}

void document_release(tool_document *document)
{
    json_decref(document->root);
    *document = (tool_document){0};
}

#endif

void document_scene_facts(tool_document *document, const tool_scene *scene)
{
    if (scene->animation != NULL) {
        document_text(document, "animation", scene->animation);
        document_count(document, "animations", scene->animation_count);
    }
    document_count(document, "channels_not_played", scene->unplayed);
    document_count(document, "parts_missing", scene->missing);
    if (scene->notes != NULL) {
        document_text(document, "notes", scene->notes);
    }
}
