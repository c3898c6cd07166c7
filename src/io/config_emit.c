/* SPDX-License-Identifier: MIT
 * From the tree back to YAML text, through libyaml's emitter. */
#include "io/config_emit.h"

#include <string.h>
#include <yaml.h>

#include "core/status.h"

static int write_text(void *data, unsigned char *buffer, size_t size)
{
    hspec_text *yaml = data;
    hspec_text_append(yaml, (const char *)buffer, size);
    return !yaml->failed;
}

/* Each of these returns 0 when libyaml fails; the emitter owns an event once it has it. */
static int emit_scalar(yaml_emitter_t *emitter, const char *text, int style)
{
    yaml_event_t event;
    return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1,
                                        (yaml_scalar_style_t)style) &&
           yaml_emitter_emit(emitter, &event);
}

static int emit_node(yaml_emitter_t *emitter, const hspec_config_node *node)
{
    yaml_event_t event;
    if (node->kind == HSPEC_NODE_SCALAR) {
        return emit_scalar(emitter, node->text, node->style);
    }
    int mapping = node->kind == HSPEC_NODE_MAPPING;
    int ok = mapping ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, (yaml_mapping_style_t)node->style)
                     : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, (yaml_sequence_style_t)node->style);
    if (!ok || !yaml_emitter_emit(emitter, &event)) {
        return 0;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (mapping && !emit_scalar(emitter, node->items[i]->key, YAML_ANY_SCALAR_STYLE)) {
            return 0;
        }
        if (!emit_node(emitter, node->items[i])) {
            return 0;
        }
    }
    ok = mapping ? yaml_mapping_end_event_initialize(&event) : yaml_sequence_end_event_initialize(&event);
    return ok && yaml_emitter_emit(emitter, &event);
}

static int emit_document(yaml_emitter_t *emitter, const hspec_config_node *root)
{
    yaml_event_t event;
    if (!yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) || !yaml_emitter_emit(emitter, &event) ||
        !yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) || !yaml_emitter_emit(emitter, &event)) {
        return 0;
    }
    if (!emit_node(emitter, root)) {
        return 0;
    }
    return yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(emitter, &event) &&
           yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

hspec_status hspec_config_emit_yaml(const hspec_config_node *root, hspec_text *yaml, hspec_error *err)
{
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter)) {
        return hspec_error_set(err, HSPEC_ENOMEM, "memory: a YAML emitter could not be had");
    }
    yaml_emitter_set_output(&emitter, write_text, yaml);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, 100);
    hspec_status status = HSPEC_OK;
    if (!emit_document(&emitter, root)) {
        /* Events that cannot be made and an emitter without an error of its own both mean memory. */
        int memory = yaml->failed || emitter.error == YAML_NO_ERROR || emitter.error == YAML_MEMORY_ERROR;
        status = memory ? hspec_error_set(err, HSPEC_ENOMEM, "memory: a YAML text could not be written")
                        : hspec_error_set(err, HSPEC_EEXTERNAL, "libyaml: a YAML text could not be written: %s",
                                          emitter.problem ? emitter.problem : "no reason given");
    }
    yaml_emitter_delete(&emitter);
    return status;
}
