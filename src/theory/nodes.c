/* SPDX-License-Identifier: MIT */
#include "theory/nodes.h"

#include <math.h>
#include <string.h>

/** Signs are multiplied out over at most this many features; the others share one sign. */
#define MAX_FLIPS 4
/** Base points are kept up to this many doubles. */
#define MAX_STORED ((size_t)1 << 25)
#define MIN_BITS 3

/** Which features take part in the signs of one element, as groups: group[f] < groups has a sign of its own.
 *  @return the number of groups */
static size_t group_signs(const hspec_signal *signal, const int *symmetric, const double *theta, size_t *group)
{
    size_t groups = 0;
    for (size_t f = 0; f < signal->features; f++) {
        /* A theta_f of a point that is not 0 carries its sign itself. */
        const int free_sign = symmetric[f] && (!theta || theta[f] == 0);
        group[f] = free_sign ? (groups < MAX_FLIPS ? groups++ : MAX_FLIPS - 1) : SIZE_MAX;
    }
    return groups;
}

/** Fills the elements, or only counts them when nodes->weight is NULL. */
static void fill_elements(const hspec_signal *signal, const int *symmetric, size_t *group, hspec_nodes *nodes)
{
    const size_t F = signal->features, K = signal->points ? signal->points : 1;
    size_t e = 0;
    for (size_t k = 0; k < K; k++) {
        const double *theta = signal->points ? signal->theta + k * F : NULL;
        const double weight = signal->points ? signal->weights[k] : 1;
        if (weight == 0) {
            continue;
        }
        const size_t groups = group_signs(signal, symmetric, theta, group);
        for (size_t signs = 0; signs < (size_t)1 << groups; signs++, e++) {
            if (!nodes->weight) {
                continue;
            }
            nodes->weight[e] = weight / (double)((size_t)1 << groups);
            for (size_t f = 0; f < F; f++) {
                const int own = symmetric[f] && theta && theta[f] < 0;
                const int flipped = group[f] != SIZE_MAX && (signs >> group[f]) & 1;
                nodes->sign[e * F + f] = own || flipped ? -1 : 1;
                nodes->constant[e * F + f] = theta ? theta[f] : signal->mean[f];
            }
        }
    }
    nodes->elements = e;
}

static hspec_status lay_out(const hspec_signal *signal, hspec_nodes *nodes, const hspec_nodes_params *params,
                            hspec_error *err)
{
    const size_t F = nodes->F, Q = params->randomizations;
    int *symmetric = NULL;
    size_t *group = NULL;
    for (int pass = 0; pass < 2; pass++) {
        symmetric = hspec_arena_take(&nodes->arena, F, sizeof *symmetric);
        group = hspec_arena_take(&nodes->arena, F, sizeof *group);
        nodes->deviation = hspec_arena_doubles(&nodes->arena, F);
        nodes->lattice = hspec_arena_take(&nodes->arena, Q, sizeof *nodes->lattice);
        if (pass == 0) {
            /* The number of elements must be known before the arrays of the elements can be. */
            const size_t most = hspec_memory_mul(signal->points ? signal->points : 1, (size_t)1 << MAX_FLIPS);
            nodes->weight = hspec_arena_doubles(&nodes->arena, most);
            nodes->sign = hspec_arena_doubles(&nodes->arena, hspec_memory_mul(most, F));
            nodes->constant = hspec_arena_doubles(&nodes->arena, hspec_memory_mul(most, F));
            HSPEC_TRY(hspec_arena_commit(&nodes->arena, err));
        }
    }
    hspec_signal_symmetries(signal, symmetric);
    nodes->weight = NULL;
    fill_elements(signal, symmetric, group, nodes);
    nodes->weight = hspec_arena_doubles(&nodes->arena, nodes->elements);
    nodes->sign = hspec_arena_doubles(&nodes->arena, nodes->elements * F);
    nodes->constant = hspec_arena_doubles(&nodes->arena, nodes->elements * F);
    fill_elements(signal, symmetric, group, nodes);
    for (size_t f = 0; f < F; f++) {
        nodes->deviation[f] = signal->points ? 0 : signal->deviation[f];
    }
    return HSPEC_OK;
}

hspec_status hspec_nodes_create(const hspec_signal *signal, size_t heads, size_t tokens,
                                const hspec_nodes_params *params, hspec_nodes *nodes, hspec_error *err)
{
    hspec_nodes created = {.H = heads,
                           .L = tokens,
                           .F = hspec_signal_features(signal),
                           .randomizations = params->randomizations,
                           .normals = hspec_signal_normals(signal),
                           .mirrors = params->noise ? 2 : 1,
                           .rotations = params->noise && params->closed ? heads : 1};
    created.dims = created.normals + tokens * (created.F + (params->noise ? heads : 0));
    HSPEC_TRY(lay_out(signal, &created, params, err));
    const double copies =
        (double)created.elements * (double)created.mirrors * (double)created.rotations * (double)params->randomizations;
    created.bits = hspec_lattice_bits(params->nodes / copies);
    created.bits = created.bits < MIN_BITS ? MIN_BITS : created.bits;
    for (size_t q = 0; q < created.randomizations; q++) {
        created.lattice[q] =
            (hspec_lattice){hspec_random_stream(params->seed, q + 1, HSPEC_PURPOSE_NODES), created.bits};
    }
    const size_t blocks = hspec_nodes_blocks(&created);
    const size_t all = hspec_memory_mul(hspec_memory_mul(created.randomizations * blocks, created.dims), HSPEC_W);
    if (all <= MAX_STORED) {
        double *stored = hspec_memory_alloc(all, sizeof *stored);
        if (!stored) {
            hspec_nodes_free(&created);
            return hspec_error_memory(err, hspec_memory_mul(all, sizeof *stored));
        }
        for (size_t q = 0; q < created.randomizations; q++) {
            for (size_t block = 0; block < blocks; block++) {
                double *place = stored + (q * blocks + block) * created.dims * HSPEC_W;
                hspec_lattice_bulk()->normals(&created.lattice[q], block, 0, created.dims, place);
            }
        }
        created.stored = stored;
    }
    *nodes = created;
    return HSPEC_OK;
}

void hspec_nodes_free(hspec_nodes *nodes)
{
    hspec_memory_free(nodes->stored);
    nodes->stored = NULL;
    hspec_arena_free(&nodes->arena);
}

size_t hspec_nodes_blocks(const hspec_nodes *nodes)
{
    return ((size_t)1 << nodes->bits) / HSPEC_W;
}

const double *hspec_nodes_block(const hspec_nodes *nodes, size_t randomization, size_t block, double *scratch)
{
    if (nodes->stored) {
        return nodes->stored + (randomization * hspec_nodes_blocks(nodes) + block) * nodes->dims * HSPEC_W;
    }
    hspec_lattice_bulk()->normals(&nodes->lattice[randomization], block, 0, nodes->dims, scratch);
    return scratch;
}
