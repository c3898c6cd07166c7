/* SPDX-License-Identifier: MIT */
#include "theory/nodes.h"

#include <math.h>
#include <string.h>

/** Signs are multiplied out over at most this many features; the others share one sign. */
#define MAX_FLIPS 4
/** Base points are kept up to this many doubles. */
#define MAX_STORED ((size_t)1 << 25)
#define MIN_BITS 3
/** Of all nodes, when they are split. */
#define SILENT_SHARE 0.4

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
        for (size_t i = 0; i < nodes->sets; i++) {
            nodes->set[i].lattice = hspec_arena_take(&nodes->arena, Q, sizeof *nodes->set[i].lattice);
        }
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

static size_t blocks_of(const hspec_nodes_set *set)
{
    return ((size_t)1 << set->bits) / HSPEC_W;
}

/** The lattices of one kind of base points, of `count` nodes in all randomizations. */
static hspec_status fill_set(const hspec_nodes *nodes, const hspec_nodes_params *params, double count,
                             hspec_nodes_set *set, hspec_error *err)
{
    const size_t copies = set->noise ? nodes->mirrors * nodes->rotations : 1;
    set->dims = set->normals + nodes->L * (nodes->F + (set->noise ? nodes->H : 0));
    set->bits = hspec_lattice_bits(count / ((double)nodes->elements * (double)(copies * nodes->randomizations)));
    set->bits = set->bits < MIN_BITS ? MIN_BITS : set->bits;
    set->weight = 1 / ((double)copies * (double)((size_t)1 << set->bits));
    set->silent = nodes->sets > 1 && set->noise ? -1 / (double)((size_t)1 << set->bits) : 0;
    const size_t first = set->silent != 0 ? nodes->randomizations + 1 : 1; /* the sets are independent */
    for (size_t q = 0; q < nodes->randomizations; q++) {
        set->lattice[q] = (hspec_lattice){hspec_random_stream(params->seed, first + q, HSPEC_PURPOSE_NODES), set->bits};
    }
    const size_t blocks = blocks_of(set);
    const size_t all = hspec_memory_mul(hspec_memory_mul(nodes->randomizations * blocks, set->dims), HSPEC_W);
    if (all > MAX_STORED) {
        return HSPEC_OK;
    }
    set->stored = hspec_memory_alloc(all, sizeof *set->stored);
    if (!set->stored) {
        return hspec_error_memory(err, hspec_memory_mul(all, sizeof *set->stored));
    }
    for (size_t q = 0; q < nodes->randomizations; q++) {
        for (size_t block = 0; block < blocks; block++) {
            double *place = set->stored + (q * blocks + block) * set->dims * HSPEC_W;
            hspec_lattice_bulk()->normals(&set->lattice[q], block, 0, set->dims, place);
        }
    }
    return HSPEC_OK;
}

hspec_status hspec_nodes_create(const hspec_signal *signal, size_t heads, size_t tokens,
                                const hspec_nodes_params *params, hspec_nodes *nodes, hspec_error *err)
{
    const int split = params->noise && params->split;
    hspec_nodes created = {.H = heads,
                           .L = tokens,
                           .F = hspec_signal_features(signal),
                           .randomizations = params->randomizations,
                           .mirrors = params->noise ? 2 : 1,
                           .rotations = params->noise && params->closed ? heads : 1,
                           .sets = split ? 2 : 1};
    hspec_status status = lay_out(signal, &created, params, err);
    for (size_t i = 0; i < created.sets && status == HSPEC_OK; i++) {
        const double share = !split ? 1 : i == 0 ? SILENT_SHARE : 1 - SILENT_SHARE;
        created.set[i].normals = hspec_signal_normals(signal);
        created.set[i].noise = split ? i == 1 : params->noise;
        status = fill_set(&created, params, share * params->nodes, &created.set[i], err);
    }
    if (status != HSPEC_OK) {
        hspec_nodes_free(&created);
        return status;
    }
    *nodes = created;
    return HSPEC_OK;
}

void hspec_nodes_free(hspec_nodes *nodes)
{
    for (size_t i = 0; i < nodes->sets; i++) {
        hspec_memory_free(nodes->set[i].stored);
        nodes->set[i].stored = NULL;
    }
    hspec_arena_free(&nodes->arena);
}

size_t hspec_nodes_blocks(const hspec_nodes *nodes)
{
    return blocks_of(&nodes->set[0]) + (nodes->sets > 1 ? blocks_of(&nodes->set[1]) : 0);
}

size_t hspec_nodes_dims(const hspec_nodes *nodes)
{
    return nodes->set[nodes->sets - 1].dims;
}

hspec_nodes_block hspec_nodes_get(const hspec_nodes *nodes, size_t randomization, size_t block, double *scratch)
{
    const hspec_nodes_set *set = &nodes->set[0];
    if (block >= blocks_of(set)) {
        block -= blocks_of(set);
        set = &nodes->set[1];
    }
    if (set->stored) {
        return (hspec_nodes_block){set, set->stored + (randomization * blocks_of(set) + block) * set->dims * HSPEC_W};
    }
    hspec_lattice_bulk()->normals(&set->lattice[randomization], block, 0, set->dims, scratch);
    return (hspec_nodes_block){set, scratch};
}
