/* SPDX-License-Identifier: MIT
 * headspec phases --json. */
#include <math.h>

#include "cli/json.h"
#include "cli/phases_report.h"
#include "core/status.h"

static hspec_status append_object(cJSON *list, cJSON **object, hspec_error *err)
{
    cJSON *item = cJSON_CreateObject();
    if (!item || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return hspec_error_memory(err, sizeof *item);
    }
    *object = item;
    return HSPEC_OK;
}

static hspec_status add_integers(cJSON *object, const char *key, const int *values, size_t n, hspec_error *err)
{
    cJSON *list = cJSON_CreateIntArray(values, (int)n);
    if (!list || !cJSON_AddItemToObject(object, key, list)) {
        cJSON_Delete(list);
        return hspec_error_memory(err, n * sizeof *values);
    }
    return HSPEC_OK;
}

static hspec_status add_split(cJSON *object, const char *key, const hspec_phases_split *split, const int *sides,
                              size_t H, hspec_error *err)
{
    cJSON *child = NULL;
    HSPEC_TRY(hspec_json_child(object, key, &child, err));
    HSPEC_TRY(hspec_json_integer(child, "positive", split->positive, err));
    HSPEC_TRY(hspec_json_integer(child, "negative", split->negative, err));
    HSPEC_TRY(hspec_json_integer(child, "neither", split->neither, err));
    return add_integers(child, "sides", sides, H, err);
}

static hspec_status add_growth(cJSON *object, const hspec_phases_feature *feature, const double *time, hspec_error *err)
{
    const int there = feature->points > 0;
    HSPEC_TRY(hspec_json_number(object, "growth_rate", feature->growth, err));
    HSPEC_TRY(hspec_json_number(object, "growth_error", feature->growth_error, err));
    HSPEC_TRY(hspec_json_number(object, "predicted_rate", feature->predicted, err));
    HSPEC_TRY(hspec_json_number(object, "predicted_error", feature->predicted_error, err));
    HSPEC_TRY(hspec_json_integer(object, "growth_rows", feature->points, err));
    HSPEC_TRY(hspec_json_number(object, "growth_from", there ? time[feature->first] : NAN, err));
    return hspec_json_number(object, "growth_to", there ? time[feature->first + feature->points - 1] : NAN, err);
}

static hspec_status add_feature(cJSON *list, const hspec_phases_report *r, size_t f, const double *time, double samples,
                                hspec_error *err)
{
    const hspec_phases_feature *feature = &r->feature[f];
    cJSON *object = NULL;
    HSPEC_TRY(append_object(list, &object, err));
    HSPEC_TRY(hspec_json_integer(object, "feature", f, err));
    HSPEC_TRY(hspec_json_number(object, "learned_time", feature->learned, err));
    HSPEC_TRY(hspec_json_number(object, "learned_samples", feature->learned * samples, err));
    HSPEC_TRY(hspec_json_number(object, "order", feature->order ? (double)feature->order : NAN, err));
    HSPEC_TRY(add_growth(object, feature, time, err));
    if (feature->order == 0) {
        return HSPEC_OK;
    }
    const size_t H = r->heads;
    HSPEC_TRY(add_split(object, "split", &feature->split, r->side_at_learning + f * H, H, err));
    return add_split(object, "split_at_end", &feature->split_at_end, r->side_at_end + f * H, H, err);
}

static hspec_status add_heads(cJSON *object, const hspec_phases_report *r, hspec_error *err)
{
    cJSON *heads = NULL, *head = NULL;
    HSPEC_TRY(hspec_json_list(object, "heads", &heads, err));
    for (size_t h = 0; h < r->heads; h++) {
        const size_t f = r->owner[h];
        const int there = f < r->features;
        HSPEC_TRY(append_object(heads, &head, err));
        HSPEC_TRY(hspec_json_integer(head, "head", h, err));
        HSPEC_TRY(hspec_json_number(head, "feature", there ? (double)f : NAN, err));
        HSPEC_TRY(hspec_json_number(head, "side", there ? (double)r->side_at_end[f * r->heads + h] : NAN, err));
    }
    return HSPEC_OK;
}

static hspec_status add_crossings(cJSON *object, const hspec_phases_report *r, double samples, hspec_error *err)
{
    cJSON *list = NULL, *item = NULL;
    HSPEC_TRY(hspec_json_list(object, "crossings", &list, err));
    for (size_t i = 0; i < r->crossings; i++) {
        const hspec_phases_crossing *crossing = &r->crossing[i];
        HSPEC_TRY(append_object(list, &item, err));
        HSPEC_TRY(hspec_json_integer(item, "head", crossing->head, err));
        HSPEC_TRY(hspec_json_integer(item, "feature", crossing->feature, err));
        HSPEC_TRY(hspec_json_number(item, "time", crossing->time, err));
        HSPEC_TRY(hspec_json_number(item, "samples", crossing->time * samples, err));
        HSPEC_TRY(hspec_json_number(item, "from", crossing->from, err));
        HSPEC_TRY(hspec_json_number(item, "to", crossing->to, err));
    }
    return HSPEC_OK;
}

/* @param samples N at t = 1: B D */
static hspec_status add_trajectory(cJSON *object, const hspec_phases *phases, const double *time, double samples,
                                   hspec_error *err)
{
    hspec_phases_report r;
    cJSON *list = NULL;
    hspec_phases_view(phases, &r);
    HSPEC_TRY(hspec_json_integer(object, "rows", r.rows, err));
    HSPEC_TRY(hspec_json_number(object, "unspecialized_until", r.specialized, err));
    HSPEC_TRY(hspec_json_number(object, "unspecialized_samples", r.specialized * samples, err));
    HSPEC_TRY(hspec_json_list(object, "order", &list, err));
    for (size_t i = 0; i < r.learned; i++) {
        cJSON *item = cJSON_CreateNumber((double)r.order[i]);
        if (!item || !cJSON_AddItemToArray(list, item)) {
            cJSON_Delete(item);
            return hspec_error_memory(err, sizeof *item);
        }
    }
    HSPEC_TRY(hspec_json_list(object, "features", &list, err));
    for (size_t f = 0; f < r.features; f++) {
        HSPEC_TRY(add_feature(list, &r, f, time, samples, err));
    }
    HSPEC_TRY(add_heads(object, &r, err));
    return add_crossings(object, &r, samples, err);
}

static double samples_of(const hspec_phases_source *source)
{
    return (double)source->experiment->training.batch * (double)source->experiment->task.dimension;
}

hspec_status hspec_phases_report_json(const hspec_phases_read *read, cJSON *object, hspec_error *err)
{
    cJSON *child = NULL, *seeds = NULL, *seed = NULL;
    HSPEC_TRY(hspec_json_text(object, "archive", read->path, err));
    HSPEC_TRY(hspec_json_number(object, "level", read->level, err));
    if (read->sgd) {
        HSPEC_TRY(hspec_json_child(object, "sgd", &child, err));
        HSPEC_TRY(hspec_json_flag(child, "complete", read->simulated.complete, err));
        HSPEC_TRY(hspec_json_list(child, "seeds", &seeds, err));
        for (size_t i = 0; i < read->count; i++) {
            HSPEC_TRY(append_object(seeds, &seed, err));
            HSPEC_TRY(hspec_json_integer(seed, "seed", read->first + i, err));
            HSPEC_TRY(
                add_trajectory(seed, read->seeds[i], read->simulated.trajectory.time, samples_of(&read->run), err));
        }
    }
    if (read->theory) {
        HSPEC_TRY(hspec_json_child(object, "theory", &child, err));
        HSPEC_TRY(add_trajectory(child, read->theory_phases, read->integrated.trajectory.time, samples_of(&read->curve),
                                 err));
    }
    return HSPEC_OK;
}
