/* SPDX-License-Identifier: MIT */
#include "io/archive_sgd.h"

#include <math.h>
#include <string.h>

#include "core/status.h"

/* [S][rows][width] of which the first `done` rows are stored. A run that is complete is lent, not copied. */
static hspec_status put_rows(hspec_archive *archive, const char *path, const hspec_trajectory *t, const double *data,
                             const size_t *dims, size_t width, hspec_error *err)
{
    if (t->done == t->rows) {
        return hspec_archive_lend(archive, path, dims, data, err);
    }
    void *room;
    HSPEC_TRY(hspec_archive_make(archive, path, dims, &room, err));
    for (size_t s = 0; s < t->seeds; s++) {
        memcpy((double *)room + s * t->done * width, data + s * t->rows * width, t->done * width * sizeof *data);
    }
    return HSPEC_OK;
}

/* Is there a loss for each of the `done` rows? */
static int has_every_loss(const hspec_trajectory *t, const double *loss)
{
    for (size_t s = 0; s < t->seeds; s++) {
        for (size_t k = 0; k < t->done; k++) {
            if (isnan(loss[s * t->rows + k])) {
                return 0;
            }
        }
    }
    return 1;
}

static hspec_status check_state(const hspec_trajectory *t, const hspec_training_state *state, hspec_error *err)
{
    if (t->done < 1 || t->done > t->rows) {
        return hspec_error_set(err, HSPEC_EARG, "archive: found %zu recorded rows, allowed 1 to %zu", t->done, t->rows);
    }
    if (state && (state->seeds != t->seeds || state->step != t->step[t->done - 1])) {
        return hspec_error_set(
            err, HSPEC_EARG,
            "archive: found a state of %zu seeds at step %llu, allowed %zu seeds at step %llu, as in "
            "the last row",
            state->seeds, (unsigned long long)state->step, t->seeds, (unsigned long long)t->step[t->done - 1]);
    }
    return HSPEC_OK;
}

hspec_status hspec_archive_sgd_put(hspec_archive *archive, const hspec_trajectory *trajectory, const double *loss,
                                   const hspec_training_state *state, hspec_error *err)
{
    const hspec_trajectory *t = trajectory;
    HSPEC_TRY(check_state(t, state, err));
    if (hspec_archive_sgd_present(archive)) {
        return hspec_error_set(err, HSPEC_EARG, "archive: found a run in /sgd, allowed an archive without one");
    }
    size_t S = t->seeds, T = t->done, H = t->heads, F = t->features;
    uint64_t complete = t->done == t->rows && has_every_loss(t, loss);
    HSPEC_TRY(hspec_archive_set_integer(archive, "/sgd", "complete", complete, err));
    HSPEC_TRY(hspec_archive_set_integer(archive, "/sgd", "planned_rows", t->rows, err));
    HSPEC_TRY(hspec_archive_lend(archive, "/sgd/time", &T, t->time, err));
    HSPEC_TRY(hspec_archive_lend(archive, "/sgd/step", &T, t->step, err));
    HSPEC_TRY(put_rows(archive, "/sgd/alignment", t, t->alignment, (size_t[]){S, T, H, F}, H * F, err));
    HSPEC_TRY(put_rows(archive, "/sgd/residual", t, t->residual, (size_t[]){S, T, H, H}, H * H, err));
    HSPEC_TRY(put_rows(archive, "/sgd/loss", t, loss, (size_t[]){S, T}, 1, err));
    HSPEC_TRY(put_rows(archive, "/sgd/bias", t, t->bias, (size_t[]){S, T, H}, H, err));
    HSPEC_TRY(put_rows(archive, "/sgd/scale", t, t->scale, (size_t[]){S, T}, 1, err));
    if (!state) {
        return HSPEC_OK;
    }
    HSPEC_TRY(hspec_archive_set_integer(archive, "/sgd/state", "step", state->step, err));
    return hspec_archive_lend(archive, "/sgd/state/values", (size_t[]){S, state->size}, state->values, err);
}

int hspec_archive_sgd_present(const hspec_archive *archive)
{
    return hspec_archive_group_find(archive, "/sgd") != NULL;
}

static hspec_status need_integer(const hspec_archive *archive, const char *group, const char *name, uint64_t *value,
                                 hspec_error *err)
{
    const hspec_archive_attribute *found = hspec_archive_attribute_find(archive, group, name);
    if (!found || found->kind != HSPEC_ARCHIVE_INTEGER) {
        return hspec_error_set(err, HSPEC_EIO, "%s: found %s attribute \"%s\", allowed a uint64: %s", group,
                               found ? "a wrong type of" : "no", name, hspec_archive_table_note(group, name)->sentence);
    }
    *value = found->integer;
    return HSPEC_OK;
}

/* Every dataset of the group must be there; of the state, which a run that diverged lacks, all or nothing. */
static hspec_status need_all(const hspec_archive *archive, hspec_error *err)
{
    int state = hspec_archive_group_find(archive, "/sgd/state") != NULL;
    for (size_t i = 0; i < hspec_archive_rows_count; i++) {
        const hspec_archive_row *row = &hspec_archive_rows[i];
        int needed = strncmp(row->path, "/sgd/state/", 11) == 0 ? state : strncmp(row->path, "/sgd/", 5) == 0;
        if (needed && !hspec_archive_find(archive, row->path)) {
            return hspec_error_set(err, HSPEC_EIO, "%s: the dataset is missing (%s; %s)", row->path, row->dimensions,
                                   row->sentence);
        }
    }
    return HSPEC_OK;
}

/* The state must continue the last row. */
static hspec_status get_state(const hspec_archive *archive, hspec_archive_sgd *sgd, hspec_error *err)
{
    const hspec_trajectory *t = &sgd->trajectory;
    const hspec_archive_dataset *values = hspec_archive_find(archive, "/sgd/state/values");
    if (!values) {
        return HSPEC_OK;
    }
    uint64_t step = 0;
    HSPEC_TRY(need_integer(archive, "/sgd/state", "step", &step, err));
    if (values->dims[0] != t->seeds) {
        return hspec_error_set(err, HSPEC_EIO, "/sgd/state/values: found %zu seeds, allowed %zu, as in /sgd/alignment",
                               values->dims[0], t->seeds);
    }
    if (t->step && step != t->step[t->rows - 1]) {
        return hspec_error_set(err, HSPEC_EIO,
                               "/sgd/state: found step %llu, allowed %llu, as in the last row of /sgd/step",
                               (unsigned long long)step, (unsigned long long)t->step[t->rows - 1]);
    }
    sgd->state =
        (hspec_training_state){.step = step, .seeds = values->dims[0], .size = values->dims[1], .values = values->data};
    return HSPEC_OK;
}

hspec_status hspec_archive_sgd_get(const hspec_archive *archive, hspec_archive_sgd *sgd, hspec_error *err)
{
    uint64_t complete = 0, planned = 0;
    HSPEC_TRY(need_integer(archive, "/sgd", "complete", &complete, err));
    HSPEC_TRY(need_integer(archive, "/sgd", "planned_rows", &planned, err));
    HSPEC_TRY(need_all(archive, err));
    const hspec_archive_dataset *alignment = hspec_archive_find(archive, "/sgd/alignment");
    const hspec_archive_dataset *residual = hspec_archive_find(archive, "/sgd/residual");
    hspec_archive_sgd found = {
        .trajectory = {.seeds = alignment->dims[0],
                       .rows = alignment->dims[1],
                       .heads = alignment->dims[2],
                       .features = alignment->dims[3],
                       .done = alignment->dims[1],
                       .step = hspec_archive_find(archive, "/sgd/step")->data,
                       .time = hspec_archive_find(archive, "/sgd/time")->data,
                       .alignment = alignment->data,
                       .residual = residual->data,
                       .bias = hspec_archive_find(archive, "/sgd/bias")->data,
                       .scale = hspec_archive_find(archive, "/sgd/scale")->data},
        .loss = hspec_archive_find(archive, "/sgd/loss")->data,
        .complete = complete == 1,
        .planned_rows = planned,
    };
    const hspec_trajectory *t = &found.trajectory;
    if (planned < t->rows || complete > 1 || (complete == 1 && planned != t->rows)) {
        return hspec_error_set(err, HSPEC_EIO, "/sgd: found complete = %llu with %zu of %llu planned rows, allowed %s",
                               (unsigned long long)complete, t->rows, (unsigned long long)planned,
                               "1 with all of them, else 0");
    }
    if (complete == 1 && found.loss && !has_every_loss(t, found.loss)) {
        return hspec_error_set(err, HSPEC_EIO, "/sgd: found complete = 1 with a loss that is NaN, allowed 0");
    }
    if (residual->dims[3] != t->heads) {
        return hspec_error_set(err, HSPEC_EIO,
                               "/sgd/residual: found %zu along \"other_head\", allowed %zu, as along \"head\"",
                               residual->dims[3], t->heads);
    }
    HSPEC_TRY(get_state(archive, &found, err));
    *sgd = found;
    return HSPEC_OK;
}
