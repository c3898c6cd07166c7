/* SPDX-License-Identifier: MIT
 * The experiment file: text, --set, tree, table, checks (include/headspec.h, "Experiments and archives"). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "headspec.h"
#include "io/config_check.h"
#include "io/config_emit.h"
#include "io/config_parse.h"
#include "io/config_read.h"
#include "io/config_set.h"
#include "io/text.h"

/* The file's name without folder and extension. */
static char *name_of(const char *origin)
{
    const char *slash = strrchr(origin, '/');
    const char *name = slash ? slash + 1 : origin;
    const char *point = strrchr(name, '.');
    size_t n = point && point > name ? (size_t)(point - name) : strlen(name);
    return n > 0 ? hspec_config_tree_copy(name, n) : hspec_config_tree_copy("experiment", strlen("experiment"));
}

/* The text that the archive stores: as it was given, or written anew from the tree that --set changed. */
static hspec_status keep_yaml(hspec_experiment *e, const char *text, size_t length, const hspec_config_node *root,
                              size_t n_sets, hspec_error *err)
{
    if (n_sets == 0) {
        e->yaml = hspec_config_tree_copy(text, length);
        return e->yaml ? HSPEC_OK : hspec_error_memory(err, length + 1);
    }
    hspec_text yaml = {0};
    hspec_status status = hspec_config_emit_yaml(root, &yaml, err);
    if (status != HSPEC_OK) {
        hspec_text_free(&yaml);
        return status;
    }
    e->yaml = hspec_text_take(&yaml);
    return e->yaml ? HSPEC_OK : hspec_error_set(err, HSPEC_ENOMEM, "memory: a YAML text could not be written");
}

static hspec_status build(const hspec_config_source *source, const char *text, size_t length, hspec_config_node *root,
                          hspec_experiment *e, hspec_error *err)
{
    for (size_t k = 1; k <= source->n_sets; k++) {
        HSPEC_TRY(hspec_config_set_apply(root, source, k, err));
    }
    const hspec_config config = {.source = source, .root = root, .experiment = e, .err = err};
    HSPEC_TRY(hspec_config_read_tree(&config));
    HSPEC_TRY(hspec_config_check_fields(&config));
    if (e->theory.start_kind == HSPEC_START_GIVEN) {
        e->theory.start.kind = HSPEC_INIT_ALIGNED;
    }
    return keep_yaml(e, text, length, root, source->n_sets, err);
}

hspec_status hspec_experiment_parse(const char *text, size_t length, const char *origin, const char *const *sets,
                                    size_t n_sets, hspec_experiment **experiment, hspec_error *err)
{
    if (!text || !experiment || (n_sets > 0 && !sets)) {
        return hspec_error_set(err, HSPEC_EARG,
                               "experiment: found NULL, allowed: a text, sets and a place for the result");
    }
    const hspec_config_source source = {.origin = origin ? origin : "experiment", .sets = sets, .n_sets = n_sets};
    hspec_config_node *root = NULL;
    HSPEC_TRY(hspec_config_parse_text(&source, 0, text, length, &root, err));
    if (!root || (root->kind == HSPEC_NODE_SCALAR && root->text[0] == '\0')) {
        hspec_config_tree_free(root);
        return hspec_config_tree_fail(&source, 0, 1, NULL, err,
                                      "found an empty file, allowed: a mapping with the keys task and layer");
    }
    if (root->kind != HSPEC_NODE_MAPPING) {
        hspec_status status = hspec_config_tree_fail(&source, 0, root->line, NULL, err,
                                                     "found %s, allowed: a mapping with the keys task and layer",
                                                     hspec_config_tree_found(root).text);
        hspec_config_tree_free(root);
        return status;
    }
    hspec_experiment *e = calloc(1, sizeof *e);
    if (!e) {
        hspec_config_tree_free(root);
        return hspec_error_memory(err, sizeof *e);
    }
    e->name = name_of(source.origin);
    hspec_status status =
        e->name ? build(&source, text, length, root, e, err) : hspec_error_memory(err, strlen(source.origin) + 1);
    hspec_config_tree_free(root);
    if (status != HSPEC_OK) {
        hspec_experiment_free(e);
        return status;
    }
    *experiment = e;
    return HSPEC_OK;
}

/* Reads at most one byte more than is allowed, so that the parser can refuse what is too long. */
static hspec_status read_file(const char *path, hspec_text *text, hspec_error *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return hspec_error_set(err, HSPEC_EIO, "%s: could not be opened: %s", path, strerror(errno));
    }
    char buffer[4096];
    hspec_status status = HSPEC_OK;
    while (status == HSPEC_OK && text->length <= HSPEC_CONFIG_BYTES) {
        size_t n = fread(buffer, 1, sizeof buffer, file);
        hspec_text_append(text, buffer, n);
        if (text->failed) {
            status = hspec_error_memory(err, text->capacity);
        } else if (ferror(file)) {
            status = hspec_error_set(err, HSPEC_EIO, "%s: could not be read: %s", path, strerror(errno));
        } else if (n < sizeof buffer) {
            break;
        }
    }
    (void)fclose(file); /* nothing was written */
    return status;
}

hspec_status hspec_experiment_load(const char *path, const char *const *sets, size_t n_sets,
                                   hspec_experiment **experiment, hspec_error *err)
{
    if (!path) {
        return hspec_error_set(err, HSPEC_EARG, "experiment: found NULL, allowed: the path of a file");
    }
    hspec_text text = {0};
    hspec_status status = read_file(path, &text, err);
    if (status == HSPEC_OK) {
        status = hspec_experiment_parse(text.data, text.length, path, sets, n_sets, experiment, err);
    }
    hspec_text_free(&text);
    return status;
}

void hspec_experiment_free(hspec_experiment *experiment)
{
    if (!experiment) {
        return;
    }
    hspec_config_read_release(experiment);
    free(experiment->name);
    free(experiment->yaml);
    free(experiment);
}
