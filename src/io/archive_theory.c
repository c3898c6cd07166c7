/* SPDX-License-Identifier: MIT */
#include "io/archive_theory.h"

#include <math.h>
#include <string.h>

#include "core/status.h"

#define GROUP "/theory"

static hspec_status put_number(hspec_archive *archive, const char *name, double number, hspec_error *err)
{
    return isnan(number) ? HSPEC_OK : hspec_archive_set_number(archive, GROUP, name, number, err);
}

hspec_status hspec_archive_theory_put(hspec_archive *archive, const hspec_archive_theory *theory, hspec_error *err)
{
    const hspec_theory_trajectory *t = &theory->trajectory;
    if (t->done < 1 || t->done != t->rows) {
        return hspec_error_set(err, HSPEC_EARG, "archive: found %zu of %zu rows of the theory, allowed all of them",
                               t->done, t->rows);
    }
    size_t T = t->rows, H = t->heads, F = t->features;
    hspec_archive_clear(archive, GROUP);
    HSPEC_TRY(hspec_archive_set_group_origin(archive, GROUP, theory->created, theory->command, theory->config, err));
    HSPEC_TRY(put_number(archive, "bayes_risk", theory->bayes_risk, err));
    HSPEC_TRY(put_number(archive, "bayes_risk_error", theory->bayes_risk_error, err));
    HSPEC_TRY(put_number(archive, "optimum_loss", theory->optimum_loss, err));
    HSPEC_TRY(hspec_archive_lend(archive, GROUP "/time", &T, t->time, err));
    HSPEC_TRY(hspec_archive_lend(archive, GROUP "/alignment", (size_t[]){T, H, F}, t->alignment, err));
    HSPEC_TRY(hspec_archive_lend(archive, GROUP "/residual", (size_t[]){T, H, H}, t->residual, err));
    HSPEC_TRY(hspec_archive_lend(archive, GROUP "/loss", &T, t->loss, err));
    HSPEC_TRY(hspec_archive_lend(archive, GROUP "/loss_error", &T, t->loss_error, err));
    HSPEC_TRY(hspec_archive_lend(archive, GROUP "/bias", (size_t[]){T, H}, t->bias, err));
    return hspec_archive_lend(archive, GROUP "/scale", &T, t->scale, err);
}

int hspec_archive_theory_present(const hspec_archive *archive)
{
    return hspec_archive_find(archive, GROUP "/time") != NULL || hspec_archive_text(archive, GROUP, "config") != NULL;
}

/* NaN if it is not there. */
static hspec_status get_number(const hspec_archive *archive, const char *name, double *number, hspec_error *err)
{
    const hspec_archive_attribute *found = hspec_archive_attribute_find(archive, GROUP, name);
    if (found && (found->kind != HSPEC_ARCHIVE_NUMBER || !isfinite(found->number))) {
        return hspec_error_set(err, HSPEC_EIO, "%s: found the attribute \"%s\" %s, allowed a finite float64", GROUP,
                               name, found->kind == HSPEC_ARCHIVE_NUMBER ? "not finite" : "of a wrong type");
    }
    *number = found ? found->number : (double)NAN;
    return HSPEC_OK;
}

static hspec_status get_text(const hspec_archive *archive, const char *name, const char **text, hspec_error *err)
{
    *text = hspec_archive_text(archive, GROUP, name);
    return *text ? HSPEC_OK
                 : hspec_error_set(err, HSPEC_EIO, "%s: found no text \"%s\", allowed: %s", GROUP, name,
                                   hspec_archive_table_note(GROUP, name)->sentence);
}

static hspec_status need_all(const hspec_archive *archive, hspec_error *err)
{
    for (size_t i = 0; i < hspec_archive_rows_count; i++) {
        const hspec_archive_row *row = &hspec_archive_rows[i];
        if (strncmp(row->path, GROUP "/", strlen(GROUP) + 1) == 0 && !hspec_archive_find(archive, row->path)) {
            return hspec_error_set(err, HSPEC_EIO, "%s: the dataset is missing (%s; %s)", row->path, row->dimensions,
                                   row->sentence);
        }
    }
    return HSPEC_OK;
}

hspec_status hspec_archive_theory_get(const hspec_archive *archive, hspec_archive_theory *theory, hspec_error *err)
{
    hspec_archive_theory found = {0};
    HSPEC_TRY(get_text(archive, "created", &found.created, err));
    HSPEC_TRY(get_text(archive, "command", &found.command, err));
    HSPEC_TRY(get_text(archive, "config", &found.config, err));
    HSPEC_TRY(get_number(archive, "bayes_risk", &found.bayes_risk, err));
    HSPEC_TRY(get_number(archive, "bayes_risk_error", &found.bayes_risk_error, err));
    HSPEC_TRY(get_number(archive, "optimum_loss", &found.optimum_loss, err));
    HSPEC_TRY(need_all(archive, err));
    const hspec_archive_dataset *alignment = hspec_archive_find(archive, GROUP "/alignment");
    const hspec_archive_dataset *residual = hspec_archive_find(archive, GROUP "/residual");
    found.trajectory = (hspec_theory_trajectory){.rows = alignment->dims[0],
                                                 .heads = alignment->dims[1],
                                                 .features = alignment->dims[2],
                                                 .done = alignment->dims[0],
                                                 .time = hspec_archive_find(archive, GROUP "/time")->data,
                                                 .alignment = alignment->data,
                                                 .residual = residual->data,
                                                 .loss = hspec_archive_find(archive, GROUP "/loss")->data,
                                                 .loss_error = hspec_archive_find(archive, GROUP "/loss_error")->data,
                                                 .bias = hspec_archive_find(archive, GROUP "/bias")->data,
                                                 .scale = hspec_archive_find(archive, GROUP "/scale")->data};
    if (residual->dims[2] != found.trajectory.heads) {
        return hspec_error_set(err, HSPEC_EIO,
                               "%s/residual: found %zu along \"other_head\", allowed %zu, as along \"head\"", GROUP,
                               residual->dims[2], found.trajectory.heads);
    }
    *theory = found;
    return HSPEC_OK;
}
