/* SPDX-License-Identifier: MIT
 * From YAML text to the tree.
 *
 * The tree is built from libyaml's events and not from its document: a document no longer shows anchors, aliases,
 * tags and directives, and all of these are refused here. */
#include "io/config_parse.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/status.h"

typedef struct parse_state {
    const hspec_config_source *source;
    size_t set;
    hspec_error *err;
    yaml_parser_t parser;
    hspec_config_node *root;
    hspec_config_node *open[HSPEC_CONFIG_DEPTH]; /* lists and mappings that have not ended */
    size_t depth;
    char *key; /* of the value that comes next in the innermost mapping */
    size_t key_line;
    int documents;
    int done;
} parse_state;

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* Length of the UTF-8 character at p (RFC 3629), or 0. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80) {
        return 1;
    }
    size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n > left) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    /* Overlong forms, surrogates, and what lies above U+10FFFF. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f)) {
        return 0;
    }
    return n;
}

static hspec_status check_bytes(const parse_state *state, const char *text, size_t length)
{
    const hspec_config_source *source = state->source;
    if (length > HSPEC_CONFIG_BYTES) {
        return hspec_config_tree_fail(source, state->set, 0, NULL, state->err,
                                      "found more than %zu bytes, allowed: at most that many", HSPEC_CONFIG_BYTES);
    }
    const unsigned char *bytes = (const unsigned char *)text;
    size_t line = 1;
    for (size_t i = 0; i < length;) {
        size_t n = utf8_length(bytes + i, length - i);
        if (n == 0) {
            return hspec_config_tree_fail(source, state->set, line, NULL, state->err,
                                          "found the byte 0x%02x, allowed: UTF-8 text", bytes[i]);
        }
        if (bytes[i] == '\0') {
            return hspec_config_tree_fail(source, state->set, line, NULL, state->err,
                                          "found a NUL byte, allowed: UTF-8 text");
        }
        if (bytes[i] == '\t') {
            return hspec_config_tree_fail(source, state->set, line, NULL, state->err, "found a tab, allowed: spaces");
        }
        if (bytes[i] < 0x20 && bytes[i] != '\n' && bytes[i] != '\r') {
            return hspec_config_tree_fail(source, state->set, line, NULL, state->err,
                                          "found the control character 0x%02x, allowed: UTF-8 text", bytes[i]);
        }
        line += bytes[i] == '\n';
        i += n;
    }
    return HSPEC_OK;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static size_t line_of(const yaml_event_t *event)
{
    return event->start_mark.line + 1;
}

static hspec_status refuse(const parse_state *state, size_t line, const char *what)
{
    return hspec_config_tree_fail(state->source, state->set, line, NULL, state->err,
                                  "found %s, allowed: mappings, lists and scalars without it", what);
}

static hspec_status check_extras(const parse_state *state, const yaml_event_t *event, const yaml_char_t *anchor,
                                 int tagged)
{
    if (anchor) {
        return refuse(state, line_of(event), "an anchor (&)");
    }
    return tagged ? refuse(state, line_of(event), "a tag (!)") : HSPEC_OK;
}

/* Hangs a node into the tree. The state owns the node from here on, also on error. */
static hspec_status attach(parse_state *state, hspec_config_node *node)
{
    if (!node) {
        return hspec_error_memory(state->err, sizeof *node);
    }
    if (state->depth == 0) {
        state->root = node;
        return HSPEC_OK;
    }
    hspec_config_node *parent = state->open[state->depth - 1];
    node->key = state->key;
    state->key = NULL;
    if (parent->kind == HSPEC_NODE_MAPPING) {
        node->key_line = state->key_line;
    }
    hspec_status status = hspec_config_tree_append(parent, node, state->err);
    if (status != HSPEC_OK) {
        hspec_config_tree_free(node);
    }
    return status;
}

static int wants_key(const parse_state *state)
{
    return state->depth > 0 && state->open[state->depth - 1]->kind == HSPEC_NODE_MAPPING && !state->key;
}

static hspec_status open_node(parse_state *state, const yaml_event_t *event, hspec_config_kind kind, int style)
{
    if (wants_key(state)) {
        return hspec_config_tree_fail(state->source, state->set, line_of(event), NULL, state->err,
                                      "found a %s as a key, allowed: plain keys",
                                      kind == HSPEC_NODE_LIST ? "list" : "mapping");
    }
    if (state->depth == HSPEC_CONFIG_DEPTH) {
        return hspec_config_tree_fail(state->source, state->set, line_of(event), NULL, state->err,
                                      "found nesting deeper than %d levels, allowed: at most that many",
                                      HSPEC_CONFIG_DEPTH);
    }
    hspec_config_node *node = hspec_config_tree_create(kind, style, state->set, line_of(event));
    HSPEC_TRY(attach(state, node));
    state->open[state->depth++] = node;
    return HSPEC_OK;
}

static hspec_status take_key(parse_state *state, const yaml_event_t *event)
{
    const hspec_config_node *mapping = state->open[state->depth - 1];
    const char *text = (const char *)event->data.scalar.value;
    const hspec_config_node *before = hspec_config_tree_child(mapping, text);
    if (before) {
        return hspec_config_tree_fail(state->source, state->set, line_of(event), NULL, state->err,
                                      "found the key %s twice (before on line %zu), allowed: once",
                                      hspec_config_tree_printable(text, strlen(text)).text, before->key_line);
    }
    if (mapping->count == HSPEC_CONFIG_KEYS) {
        return hspec_config_tree_fail(state->source, state->set, line_of(event), NULL, state->err,
                                      "found more than %d keys in one mapping, allowed: at most that many",
                                      HSPEC_CONFIG_KEYS);
    }
    state->key = hspec_config_tree_copy(text, event->data.scalar.length);
    state->key_line = line_of(event);
    return state->key ? HSPEC_OK : hspec_error_memory(state->err, event->data.scalar.length + 1);
}

static hspec_status take_scalar(parse_state *state, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    int plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    HSPEC_TRY(check_extras(state, event, event->data.scalar.anchor,
                           event->data.scalar.tag != NULL || (plain && !event->data.scalar.plain_implicit)));
    if (memchr(text, '\0', length)) {
        return refuse(state, line_of(event), "an escaped NUL character");
    }
    if (wants_key(state)) {
        return take_key(state, event);
    }
    hspec_config_node *node =
        hspec_config_tree_create(HSPEC_NODE_SCALAR, (int)event->data.scalar.style, state->set, line_of(event));
    if (node) {
        node->text = hspec_config_tree_copy(text, length);
        if (!node->text) {
            hspec_config_tree_free(node);
            node = NULL;
        }
    }
    return attach(state, node);
}

static hspec_status take_event(parse_state *state, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (event->data.document_start.version_directive ||
            event->data.document_start.tag_directives.start != event->data.document_start.tag_directives.end) {
            return refuse(state, line_of(event), "a directive (%)");
        }
        if (state->documents++ > 0) {
            return hspec_config_tree_fail(state->source, state->set, line_of(event), NULL, state->err,
                                          "found a second document, allowed: one");
        }
        return HSPEC_OK;
    case YAML_ALIAS_EVENT:
        return refuse(state, line_of(event), "an alias (*)");
    case YAML_SCALAR_EVENT:
        return take_scalar(state, event);
    case YAML_SEQUENCE_START_EVENT:
        HSPEC_TRY(
            check_extras(state, event, event->data.sequence_start.anchor, event->data.sequence_start.tag != NULL));
        return open_node(state, event, HSPEC_NODE_LIST, (int)event->data.sequence_start.style);
    case YAML_MAPPING_START_EVENT:
        HSPEC_TRY(check_extras(state, event, event->data.mapping_start.anchor, event->data.mapping_start.tag != NULL));
        return open_node(state, event, HSPEC_NODE_MAPPING, (int)event->data.mapping_start.style);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        state->depth--;
        return HSPEC_OK;
    case YAML_STREAM_END_EVENT:
        state->done = 1;
        return HSPEC_OK;
    default:
        return HSPEC_OK; /* the start of the stream, the end of a document */
    }
}

static hspec_status parser_failure(const parse_state *state, const char *text, size_t length)
{
    const yaml_parser_t *parser = &state->parser;
    if (parser->error == YAML_MEMORY_ERROR) {
        return hspec_error_set(state->err, HSPEC_ENOMEM, "memory: a YAML text could not be read");
    }
    if (parser->error == YAML_READER_ERROR) {
        size_t line = 1; /* the reader runs ahead of the parser's mark */
        for (size_t i = 0; i < length && i < parser->problem_offset; i++) {
            line += text[i] == '\n';
        }
        return hspec_config_tree_fail(state->source, state->set, line, NULL, state->err,
                                      "found the character U+%04X, allowed: printable text",
                                      (unsigned)parser->problem_value);
    }
    return hspec_config_tree_fail(
        state->source, state->set, parser->problem_mark.line + 1, NULL, state->err,
        "column %zu: found text that is not YAML: %s%s%s, allowed: mappings, lists and scalars",
        parser->problem_mark.column + 1, parser->problem ? parser->problem : "no reason given",
        parser->context ? " " : "", parser->context ? parser->context : "");
}

hspec_status hspec_config_parse_text(const hspec_config_source *source, size_t set, const char *text, size_t length,
                                     hspec_config_node **root, hspec_error *err)
{
    parse_state state = {.source = source, .set = set, .err = err};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark says nothing in UTF-8 */
        text += 3;
        length -= 3;
    }
    HSPEC_TRY(check_bytes(&state, text, length));
    if (!yaml_parser_initialize(&state.parser)) {
        return hspec_error_set(err, HSPEC_ENOMEM, "memory: a YAML parser could not be had");
    }
    yaml_parser_set_encoding(&state.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&state.parser, (const unsigned char *)text, length);
    hspec_status status = HSPEC_OK;
    while (status == HSPEC_OK && !state.done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&state.parser, &event)) {
            status = parser_failure(&state, text, length);
            break;
        }
        status = take_event(&state, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&state.parser);
    free(state.key);
    if (status != HSPEC_OK) {
        hspec_config_tree_free(state.root);
        return status;
    }
    *root = state.root;
    return HSPEC_OK;
}
