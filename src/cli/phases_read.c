/* SPDX-License-Identifier: MIT */
#include "cli/phases_read.h"

#include <stdlib.h>
#include <string.h>

#include "core/status.h"

/* Growth is predicted on four sets of nodes, so that it has a standard error. Together those of a seed are as many as
 * the theory's; the theory itself is predicted on its own nodes first. Noise makes more rows useless for a seed. */
enum { SETS = 4, THEORY_POINTS = 17, SEED_POINTS = 9, NODES_MIN = 64 };

static hspec_status load(const hspec_phases_read *read, const char *config, hspec_phases_source *source,
                         hspec_error *err)
{
    HSPEC_TRY(hspec_experiment_parse(config, strlen(config), read->path, NULL, 0, &source->experiment, err));
    HSPEC_TRY(hspec_signal_create(&source->experiment->signal, &source->signal, err));
    source->experiment->task.signal = source->signal;
    return HSPEC_OK;
}

static hspec_status check_sizes(const hspec_phases_read *read, const hspec_phases_source *source, const char *group,
                                size_t heads, size_t features, hspec_error *err)
{
    const size_t H = source->experiment->layer.heads, F = hspec_signal_features(source->signal);
    if (heads != H || features != F) {
        return hspec_error_set(err, HSPEC_EIO,
                               "%s: %s: found %zu heads and %zu features, but its experiment has %zu and %zu",
                               read->path, group, heads, features, H, F);
    }
    return HSPEC_OK;
}

/* ---- what is there ----------------------------------------------------------------------------------------------- */

static hspec_status choose(hspec_phases_read *read, hspec_error *err)
{
    const int sgd = hspec_archive_sgd_present(read->archive), theory = hspec_archive_theory_present(read->archive);
    const int both = read->sgd && read->theory;
    if (read->sgd && !sgd && !(both && theory)) {
        return hspec_error_set(err, HSPEC_EARG, "%s: found no runs, which train writes%s", read->path,
                               theory ? "; allowed: --of theory"
                               : both ? ", and no theory, which theory writes"
                                      : "");
    }
    if (read->theory && !theory && !both) {
        return hspec_error_set(err, HSPEC_EARG, "%s: found no theory, which theory writes%s", read->path,
                               sgd ? "; allowed: --of sgd" : "");
    }
    read->sgd = read->sgd && sgd;
    read->theory = read->theory && theory;
    return HSPEC_OK;
}

static hspec_status choose_seeds(hspec_phases_read *read, hspec_error *err)
{
    const size_t S = read->simulated.trajectory.seeds;
    if (read->seed > S) {
        return hspec_error_set(err, HSPEC_EARG, "phases: --seed: found %llu, allowed 1 to %zu, the seeds of %s",
                               (unsigned long long)read->seed, S, read->path);
    }
    read->first = read->seed ? (size_t)read->seed : 1;
    read->count = read->seed ? 1 : S;
    read->seeds = calloc(read->count, sizeof(hspec_phases *));
    return read->seeds ? HSPEC_OK : hspec_error_memory(err, read->count * sizeof(hspec_phases *));
}

/* ---- one trajectory ---------------------------------------------------------------------------------------------- */

static size_t nodes_of(const hspec_phases_read *read, const hspec_phases_source *source)
{
    return read->nodes ? (size_t)read->nodes : source->experiment->theory.nodes;
}

static hspec_status phases_of(const hspec_phases_read *read, const hspec_phases_source *source,
                              const hspec_phases_trajectory *trajectory, const hspec_phases_nodes *nodes,
                              hspec_phases **phases, hspec_error *err)
{
    const hspec_experiment *e = source->experiment;
    HSPEC_TRY(hspec_phases_create(trajectory, read->level, phases, err));
    return hspec_phases_predict(*phases, trajectory, &e->task, &e->layer, &e->training, nodes, read->threads, err);
}

static hspec_status read_seed(hspec_phases_read *read, size_t i, hspec_error *err)
{
    const hspec_trajectory *t = &read->simulated.trajectory;
    const size_t row = (read->first - 1 + i) * t->rows;
    const hspec_phases_trajectory one = {t->done,
                                         t->heads,
                                         t->features,
                                         t->time,
                                         t->alignment + row * t->heads * t->features,
                                         t->residual + row * t->heads * t->heads,
                                         t->bias + row * t->heads,
                                         t->scale + row};
    const size_t each = nodes_of(read, &read->run) / SETS;
    const hspec_phases_nodes nodes = {each > NODES_MIN ? each : NODES_MIN, SETS, 0, SEED_POINTS, HSPEC_LIMIT_SGD};
    const hspec_status status = phases_of(read, &read->run, &one, &nodes, &read->seeds[i], err);
    return status ? hspec_error_prefix(err, status, "%s: /sgd, seed %zu", read->path, read->first + i) : HSPEC_OK;
}

static hspec_status read_theory(hspec_phases_read *read, hspec_error *err)
{
    const hspec_theory_trajectory *t = &read->integrated.trajectory;
    const hspec_phases_trajectory one = {t->done,      t->heads,    t->features, t->time,
                                         t->alignment, t->residual, t->bias,     t->scale};
    const size_t nodes = nodes_of(read, &read->curve);
    const int own = nodes == read->curve.experiment->theory.nodes;
    const hspec_phases_nodes with = {nodes, SETS, own, THEORY_POINTS, read->curve.experiment->theory.limit};
    const hspec_status status = phases_of(read, &read->curve, &one, &with, &read->theory_phases, err);
    return status ? hspec_error_prefix(err, status, "%s: /theory", read->path) : HSPEC_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static hspec_status open_groups(hspec_phases_read *read, hspec_error *err)
{
    if (read->sgd) {
        const hspec_status status = hspec_archive_sgd_get(read->archive, &read->simulated, err);
        HSPEC_TRY(status ? hspec_error_prefix(err, status, "%s", read->path) : HSPEC_OK);
        const hspec_trajectory *t = &read->simulated.trajectory;
        HSPEC_TRY(load(read, hspec_archive_text(read->archive, "/", "config"), &read->run, err));
        HSPEC_TRY(check_sizes(read, &read->run, "/sgd", t->heads, t->features, err));
        HSPEC_TRY(choose_seeds(read, err));
    }
    if (read->theory) {
        const hspec_status status = hspec_archive_theory_get(read->archive, &read->integrated, err);
        HSPEC_TRY(status ? hspec_error_prefix(err, status, "%s", read->path) : HSPEC_OK);
        const hspec_theory_trajectory *t = &read->integrated.trajectory;
        HSPEC_TRY(load(read, read->integrated.config, &read->curve, err));
        HSPEC_TRY(check_sizes(read, &read->curve, "/theory", t->heads, t->features, err));
    }
    return HSPEC_OK;
}

hspec_status hspec_phases_read_all(hspec_phases_read *read, hspec_progress *progress, hspec_error *err)
{
    static const char *const only[] = {"/sgd/time",         "/sgd/step",        "/sgd/alignment", "/sgd/residual",
                                       "/sgd/bias",         "/sgd/scale",       "/theory/time",   "/theory/bias",
                                       "/theory/alignment", "/theory/residual", "/theory/scale",  NULL};
    HSPEC_TRY(hspec_archive_read(read->path, only, &read->archive, err));
    HSPEC_TRY(choose(read, err));
    HSPEC_TRY(open_groups(read, err));
    if (read->theory) {
        HSPEC_TRY(read_theory(read, err));
    }
    for (size_t i = 0; read->sgd && i < read->count; i++) {
        hspec_progress_update(progress, (double)i, (double)read->count);
        HSPEC_TRY(read_seed(read, i, err));
    }
    return HSPEC_OK;
}

static void release_source(hspec_phases_source *source)
{
    hspec_signal_free(source->signal);
    hspec_experiment_free(source->experiment);
}

void hspec_phases_read_release(hspec_phases_read *read)
{
    for (size_t i = 0; read->seeds && i < read->count; i++) {
        hspec_phases_free(read->seeds[i]);
    }
    free(read->seeds);
    hspec_phases_free(read->theory_phases);
    release_source(&read->run);
    release_source(&read->curve);
    hspec_archive_free(read->archive);
}
