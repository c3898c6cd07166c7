/* SPDX-License-Identifier: MIT */
#include "io/figure_archive.h"

#include <math.h>
#include <string.h>

#include "core/status.h"
#include "io/archive_sgd.h"
#include "io/archive_theory.h"

/* Does what was recorded fit the experiment beside it? */
static hspec_status check_sizes(const hspec_figure_archive *from, const char *group, size_t heads, size_t features,
                                hspec_error *err)
{
    size_t H = from->experiment->layer.heads, F = hspec_signal_features(from->signal);
    if (heads != H || features != F) {
        return hspec_error_set(
            err, HSPEC_EIO, "%s: found %zu heads and %zu features, but the experiment in the archive has %zu and %zu",
            group, heads, features, H, F);
    }
    return HSPEC_OK;
}

static hspec_status fill_sgd(hspec_figure_archive *from, hspec_error *err)
{
    hspec_archive_sgd sgd = {0};
    HSPEC_TRY(hspec_archive_sgd_get(from->archive, &sgd, err));
    HSPEC_TRY(check_sizes(from, "/sgd", sgd.trajectory.heads, sgd.trajectory.features, err));
    if (sgd.trajectory.seeds != from->experiment->training.seeds) {
        return hspec_error_set(err, HSPEC_EIO, "/sgd: found %zu seeds, but the experiment in the archive has %zu",
                               sgd.trajectory.seeds, from->experiment->training.seeds);
    }
    from->source.trajectory = sgd.trajectory;
    from->source.loss = sgd.loss;
    from->complete = sgd.complete;
    from->planned_rows = sgd.planned_rows;
    return HSPEC_OK;
}

/* Where nothing was simulated, the theory is drawn as one seed would be. */
static void fill_alone(hspec_figure_archive *from, const hspec_theory_trajectory *t)
{
    from->source.trajectory = (hspec_trajectory){.seeds = 1,
                                                 .rows = t->rows,
                                                 .heads = t->heads,
                                                 .features = t->features,
                                                 .done = t->done,
                                                 .time = t->time,
                                                 .alignment = t->alignment,
                                                 .residual = t->residual,
                                                 .bias = t->bias,
                                                 .scale = t->scale};
    from->source.loss = t->loss;
    from->source.alone = 1;
    from->complete = 1;
    from->planned_rows = t->rows;
}

static void add_level(hspec_figure_archive *from, const char *words, double value)
{
    if (!isnan(value)) {
        from->source.levels[from->source.level_count++] = (hspec_figure_level){words, value};
    }
}

/* Where the theory starts, by its own experiment. */
static hspec_status fill_start(hspec_figure_archive *from, const char *config, hspec_error *err)
{
    hspec_experiment *e = NULL;
    hspec_figure_theory *theory = &from->source.theory;
    HSPEC_TRY(hspec_experiment_parse(config, strlen(config), "/theory: config", NULL, 0, &e, err));
    int drawn = e->training.init.kind == HSPEC_INIT_RANDOM && e->theory.start_kind == HSPEC_START_SEED;
    theory->limit = e->theory.limit;
    theory->seed = drawn && !from->source.alone ? (size_t)e->theory.start_seed : 0;
    hspec_experiment_free(e);
    if (theory->seed > from->source.trajectory.seeds) {
        return hspec_error_set(err, HSPEC_EIO, "/theory: found a start at seed %zu, allowed 1 to %zu, as in /sgd",
                               theory->seed, from->source.trajectory.seeds);
    }
    return HSPEC_OK;
}

static hspec_status fill_theory(hspec_figure_archive *from, int alone, hspec_error *err)
{
    hspec_archive_theory theory;
    HSPEC_TRY(hspec_archive_theory_get(from->archive, &theory, err));
    HSPEC_TRY(check_sizes(from, "/theory", theory.trajectory.heads, theory.trajectory.features, err));
    if (alone) {
        fill_alone(from, &theory.trajectory);
    } else {
        from->source.theory.trajectory = theory.trajectory;
    }
    add_level(from, "Bayes risk", theory.bayes_risk);
    add_level(from, "optimum", theory.optimum_loss);
    return fill_start(from, theory.config, err);
}

static hspec_status fill(hspec_figure_archive *from, hspec_error *err)
{
    int sgd = hspec_archive_sgd_present(from->archive), theory = hspec_archive_theory_present(from->archive);
    if (!sgd && !theory) {
        return hspec_error_set(err, HSPEC_EIO,
                               "there is neither /sgd nor /theory in it; `headspec train` and `headspec theory` write "
                               "archives that have them");
    }
    from->source = (hspec_figure_source){.experiment = from->experiment, .signal = from->signal};
    if (sgd) {
        HSPEC_TRY(fill_sgd(from, err));
    }
    return theory ? fill_theory(from, !sgd, err) : HSPEC_OK;
}

static hspec_status read_experiment(hspec_figure_archive *from, hspec_error *err)
{
    const char *config = hspec_archive_text(from->archive, "/", "config");
    if (!config) {
        return hspec_error_set(err, HSPEC_EIO,
                               "the attribute config of / was not found: this is no archive of headspec");
    }
    HSPEC_TRY(hspec_experiment_parse(config, strlen(config), "config", NULL, 0, &from->experiment, err));
    return hspec_signal_create(&from->experiment->signal, &from->signal, err);
}

static hspec_status read_all(const char *path, hspec_figure_archive *from, hspec_error *err)
{
    static const char *const wanted[] = {"/sgd/time",
                                         "/sgd/alignment",
                                         "/sgd/residual",
                                         "/sgd/bias",
                                         "/sgd/scale",
                                         "/sgd/loss",
                                         "/theory/time",
                                         "/theory/alignment",
                                         "/theory/residual",
                                         "/theory/bias",
                                         "/theory/scale",
                                         "/theory/loss",
                                         NULL};
    HSPEC_TRY(hspec_archive_read(path, wanted, &from->archive, err));
    hspec_status status = read_experiment(from, err);
    status = status ? status : fill(from, err);
    if (status != HSPEC_OK) {
        /* The file is at fault, not the command line. */
        return hspec_error_prefix(err, status == HSPEC_ENOMEM ? status : HSPEC_EIO, "%s", path);
    }
    return HSPEC_OK;
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
