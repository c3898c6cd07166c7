/* SPDX-License-Identifier: MIT */
#include "io/figure_archive.h"

#include <string.h>

#include "core/status.h"
#include "io/archive_sgd.h"

/* Does what was recorded fit the experiment beside it? */
static hspec_status fill(hspec_figure_archive *from, const char *path, hspec_error *err)
{
    hspec_archive_sgd sgd = {0};
    if (!hspec_archive_sgd_present(from->archive)) {
        return hspec_error_set(err, HSPEC_EIO,
                               "%s: there is no /sgd in it; `headspec train` writes archives that have one", path);
    }
    hspec_status status = hspec_archive_sgd_get(from->archive, &sgd, err);
    if (status != HSPEC_OK) {
        return hspec_error_prefix(err, status, "%s", path);
    }
    const hspec_trajectory *tr = &sgd.trajectory;
    size_t S = from->experiment->training.seeds, H = from->experiment->layer.heads;
    size_t F = hspec_signal_features(from->signal);
    if (tr->seeds != S || tr->heads != H || tr->features != F) {
        return hspec_error_set(
            err, HSPEC_EIO,
            "%s: /sgd: found %zu seeds, %zu heads and %zu features, but the experiment in the archive has "
            "%zu, %zu and %zu",
            path, tr->seeds, tr->heads, tr->features, S, H, F);
    }
    from->source = (hspec_figure_source){
        .experiment = from->experiment, .signal = from->signal, .trajectory = *tr, .loss = sgd.loss};
    from->complete = sgd.complete;
    from->planned_rows = sgd.planned_rows;
    return HSPEC_OK;
}

static hspec_status read_all(const char *path, hspec_figure_archive *from, hspec_error *err)
{
    static const char *const wanted[] = {
        "/sgd/time", "/sgd/alignment", "/sgd/residual", "/sgd/bias", "/sgd/scale", "/sgd/loss", NULL};
    HSPEC_TRY(hspec_archive_read(path, wanted, &from->archive, err));
    const char *config = hspec_archive_text(from->archive, "/", "config");
    if (!config) {
        return hspec_error_set(err, HSPEC_EIO,
                               "%s: the attribute config of / was not found: this is no archive of headspec", path);
    }
    hspec_status status = hspec_experiment_parse(config, strlen(config), "config", NULL, 0, &from->experiment, err);
    if (status == HSPEC_OK) {
        status = hspec_signal_create(&from->experiment->signal, &from->signal, err);
    }
    if (status != HSPEC_OK) {
        /* The file is at fault, not the command line. */
        return hspec_error_prefix(err, status == HSPEC_ENOMEM ? status : HSPEC_EIO, "%s", path);
    }
    return fill(from, path, err);
}

hspec_status hspec_figure_archive_read(const char *path, hspec_figure_archive *from, hspec_error *err)
{
    hspec_figure_archive found = {0};
    hspec_status status = read_all(path, &found, err);
    if (status == HSPEC_OK) {
        *from = found;
    } else {
        hspec_figure_archive_release(&found);
    }
    return status;
}

void hspec_figure_archive_release(hspec_figure_archive *from)
{
    hspec_archive_free(from->archive);
    hspec_experiment_free(from->experiment);
    hspec_signal_free(from->signal);
    *from = (hspec_figure_archive){0};
}
