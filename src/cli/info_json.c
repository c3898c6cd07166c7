/* SPDX-License-Identifier: MIT
 * headspec info --json. */
#include <math.h>
#include <string.h>

#include "cli/info.h"
#include "cli/json.h"
#include "core/status.h"

static hspec_status append(cJSON *list, cJSON *item, hspec_error *err)
{
    if (!item || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return hspec_error_memory(err, sizeof *item);
    }
    return HSPEC_OK;
}

static hspec_status append_list(cJSON *list, cJSON **inner, hspec_error *err)
{
    cJSON *item = cJSON_CreateArray();
    HSPEC_TRY(append(list, item, err));
    *inner = item;
    return HSPEC_OK;
}

/* Texts and numbers of "/" under their own names. */
static hspec_status add_origin(const hspec_archive *archive, cJSON *object, hspec_error *err)
{
    for (size_t i = 0; i < hspec_archive_notes_count; i++) {
        const hspec_archive_note *note = &hspec_archive_notes[i];
        if (strcmp(note->group, "/") != 0) {
            continue;
        }
        const hspec_archive_attribute *attribute = hspec_archive_attribute_find(archive, "/", note->name);
        if (note->kind == HSPEC_ARCHIVE_TEXT) {
            HSPEC_TRY(hspec_json_text(object, note->name, attribute->text, err));
        } else if (note->kind == HSPEC_ARCHIVE_INTEGER) {
            HSPEC_TRY(hspec_json_integer(object, note->name, attribute->integer, err));
        } else {
            HSPEC_TRY(hspec_json_number(object, note->name, attribute->number, err));
        }
    }
    return HSPEC_OK;
}

static hspec_status add_names(cJSON *object, const hspec_archive_dataset *dataset, hspec_error *err)
{
    cJSON *list = NULL;
    HSPEC_TRY(hspec_json_list(object, "dimensions", &list, err));
    const char *name = dataset->dimensions;
    while (*name) {
        char one[64];
        size_t n = strcspn(name, ",");
        (void)snprintf(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1), name);
        HSPEC_TRY(append(list, cJSON_CreateString(one), err));
        name += n + (name[n] == ',');
    }
    return HSPEC_OK;
}

static hspec_status add_dataset(cJSON *list, const hspec_archive_dataset *dataset, hspec_error *err)
{
    cJSON *object = cJSON_CreateObject(), *shape = NULL;
    HSPEC_TRY(append(list, object, err));
    HSPEC_TRY(hspec_json_text(object, "path", dataset->path, err));
    HSPEC_TRY(hspec_json_text(object, "type", hspec_archive_table_type(dataset->type), err));
    HSPEC_TRY(hspec_json_list(object, "shape", &shape, err));
    for (size_t i = 0; i < dataset->rank; i++) {
        HSPEC_TRY(append(shape, hspec_json_item((double)dataset->dims[i]), err));
    }
    HSPEC_TRY(add_names(object, dataset, err));
    HSPEC_TRY(hspec_json_text(object, "unit", dataset->unit, err));
    return hspec_json_text(object, "description", dataset->sentence, err);
}

/* m [H][F] as a list of lists under `key`, or, without a key, as one more entry of a list. */
static hspec_status add_heads(cJSON *parent, const char *key, const double *m, size_t H, size_t F, hspec_error *err)
{
    cJSON *heads = NULL, *features = NULL;
    HSPEC_TRY(key ? hspec_json_list(parent, key, &heads, err) : append_list(parent, &heads, err));
    for (size_t h = 0; h < H; h++) {
        HSPEC_TRY(append_list(heads, &features, err));
        for (size_t f = 0; f < F; f++) {
            HSPEC_TRY(append(features, hspec_json_item(m[h * F + f]), err));
        }
    }
    return HSPEC_OK;
}

/* [S][H][F] at the last row. */
static hspec_status add_alignment(cJSON *object, const hspec_trajectory *t, hspec_error *err)
{
    cJSON *seeds = NULL;
    HSPEC_TRY(hspec_json_list(object, "final_alignment", &seeds, err));
    for (size_t s = 0; s < t->seeds; s++) {
        const double *m = t->alignment + (s * t->rows + t->rows - 1) * t->heads * t->features;
        HSPEC_TRY(add_heads(seeds, NULL, m, t->heads, t->features, err));
    }
    return HSPEC_OK;
}

static hspec_status add_sgd(cJSON *object, const hspec_archive_sgd *from, hspec_error *err)
{
    const hspec_trajectory *t = &from->trajectory;
    cJSON *sgd = NULL, *loss = NULL;
    if (t->rows == 0) {
        return HSPEC_OK;
    }
    HSPEC_TRY(hspec_json_child(object, "sgd", &sgd, err));
    HSPEC_TRY(hspec_json_flag(sgd, "complete", from->complete, err));
    HSPEC_TRY(hspec_json_integer(sgd, "rows", t->rows, err));
    HSPEC_TRY(hspec_json_integer(sgd, "planned_rows", from->planned_rows, err));
    HSPEC_TRY(hspec_json_integer(sgd, "seeds", t->seeds, err));
    HSPEC_TRY(hspec_json_integer(sgd, "heads", t->heads, err));
    HSPEC_TRY(hspec_json_integer(sgd, "features", t->features, err));
    HSPEC_TRY(hspec_json_flag(sgd, "state", from->state.seeds > 0, err));
    HSPEC_TRY(hspec_json_integer(sgd, "final_step", t->step[t->rows - 1], err));
    HSPEC_TRY(hspec_json_number(sgd, "final_time", t->time[t->rows - 1], err));
    HSPEC_TRY(hspec_json_list(sgd, "final_loss", &loss, err));
    for (size_t s = 0; s < t->seeds; s++) {
        HSPEC_TRY(append(loss, hspec_json_item(from->loss[s * t->rows + t->rows - 1]), err));
    }
    return add_alignment(sgd, t, err);
}

static hspec_status add_if_known(cJSON *object, const char *key, double value, hspec_error *err)
{
    return isnan(value) ? HSPEC_OK : hspec_json_number(object, key, value, err);
}

static hspec_status add_theory(cJSON *object, const hspec_archive_theory *from, hspec_error *err)
{
    const hspec_theory_trajectory *t = &from->trajectory;
    cJSON *theory = NULL;
    if (t->rows == 0) {
        return HSPEC_OK;
    }
    HSPEC_TRY(hspec_json_child(object, "theory", &theory, err));
    HSPEC_TRY(hspec_json_text(theory, "command", from->command, err));
    HSPEC_TRY(hspec_json_text(theory, "created", from->created, err));
    HSPEC_TRY(hspec_json_text(theory, "config", from->config, err));
    HSPEC_TRY(hspec_json_integer(theory, "rows", t->rows, err));
    HSPEC_TRY(hspec_json_integer(theory, "heads", t->heads, err));
    HSPEC_TRY(hspec_json_integer(theory, "features", t->features, err));
    HSPEC_TRY(hspec_json_number(theory, "final_time", t->time[t->rows - 1], err));
    HSPEC_TRY(hspec_json_number(theory, "final_loss", t->loss[t->rows - 1], err));
    HSPEC_TRY(hspec_json_number(theory, "final_loss_error", t->loss_error[t->rows - 1], err));
    HSPEC_TRY(add_if_known(theory, "bayes_risk", from->bayes_risk, err));
    HSPEC_TRY(add_if_known(theory, "bayes_risk_error", from->bayes_risk_error, err));
    HSPEC_TRY(add_if_known(theory, "optimum_loss", from->optimum_loss, err));
    return add_heads(theory, "final_alignment", t->alignment + (t->rows - 1) * t->heads * t->features, t->heads,
                     t->features, err);
}

hspec_status hspec_info_json(const hspec_info *info, cJSON *object, hspec_error *err)
{
    HSPEC_TRY(hspec_json_text(object, "file", info->path, err));
    HSPEC_TRY(add_origin(info->archive, object, err));
    if (info->experiment) {
        HSPEC_TRY(hspec_json_texts(object, "unused", info->experiment->unused, info->experiment->unused_count, err));
    } else {
        HSPEC_TRY(hspec_json_text(object, "config_refused", info->refusal, err));
    }
    if (info->archive->foreign) {
        HSPEC_TRY(hspec_json_text(object, "foreign", info->archive->foreign, err));
    }
    cJSON *datasets = NULL;
    HSPEC_TRY(hspec_json_list(object, "datasets", &datasets, err));
    for (size_t i = 0; i < info->archive->dataset_count; i++) {
        HSPEC_TRY(add_dataset(datasets, &info->archive->datasets[i], err));
    }
    HSPEC_TRY(add_sgd(object, &info->sgd, err));
    return add_theory(object, &info->theory, err);
}
