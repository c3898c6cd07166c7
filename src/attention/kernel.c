/* SPDX-License-Identifier: MIT
 * The table of activations. A new one is a file like softmax_lanes.c, a declaration in kernel.h, a row in headspec.h and
 * a row here. */
#include "attention/kernel.h"

#include "core/cpu.h"

typedef struct row {
    hspec_activation_traits traits;
    const hspec_activation_ops *(*ops)(hspec_level level);
} row;

static const hspec_activation_ops *softmax(hspec_level level)
{
    return HSPEC_PICK(hspec_softmax_ops, level);
}

static const hspec_activation_ops *softmax1(hspec_level level)
{
    return HSPEC_PICK(hspec_softmax1_ops, level);
}

static const hspec_activation_ops *bayes(hspec_level level)
{
    return HSPEC_PICK(hspec_bayes_ops, level);
}

static const row table[] = {
    [HSPEC_SOFTMAX] = {{.has_bias = 0, .has_scale = 0, .bias_per_head = 0}, softmax},
    [HSPEC_SOFTMAX1] = {{.has_bias = 1, .has_scale = 1, .bias_per_head = 0}, softmax1},
    [HSPEC_BAYES] = {{.has_bias = 1, .has_scale = 0, .bias_per_head = 1}, bayes},
};

const hspec_activation_ops *hspec_kernel_activation(hspec_activation activation)
{
    return table[activation].ops(hspec_cpu_level());
}

hspec_activation_traits hspec_kernel_traits(hspec_activation activation)
{
    return table[activation].traits;
}

void hspec_kernel_layout(hspec_kernel *kernel, size_t heads, size_t tokens, int token_loss, hspec_arena *arena)
{
    const size_t HL = hspec_memory_mul(hspec_memory_mul(heads, tokens), HSPEC_W);
    const size_t HW = hspec_memory_mul(heads, HSPEC_W), LW = hspec_memory_mul(tokens, HSPEC_W);
    kernel->heads = heads;
    kernel->tokens = tokens;
    kernel->chi = hspec_arena_doubles(arena, HL);
    kernel->bias = hspec_arena_doubles(arena, HW);
    kernel->scale = hspec_arena_doubles(arena, HSPEC_W);
    kernel->target = hspec_arena_doubles(arena, LW);
    kernel->gram = token_loss ? hspec_arena_doubles(arena, hspec_memory_mul(tokens, LW)) : NULL;
    kernel->p = hspec_arena_doubles(arena, hspec_memory_add(HL, (size_t)3 * HSPEC_W));
    kernel->gain = hspec_arena_doubles(arena, HSPEC_W);
    kernel->rest = hspec_arena_doubles(arena, HW);
    kernel->v = hspec_arena_doubles(arena, LW);
    kernel->g = hspec_arena_doubles(arena, LW);
    kernel->loss = hspec_arena_doubles(arena, HSPEC_W);
    kernel->d = hspec_arena_doubles(arena, HL);
    kernel->db = hspec_arena_doubles(arena, HW);
    kernel->ds = hspec_arena_doubles(arena, HSPEC_W);
}

hspec_kernel hspec_kernel_part(const hspec_kernel *kernel, size_t lane)
{
    hspec_kernel part = *kernel;
    double **const arrays[] = {&part.chi, &part.bias, &part.scale, &part.target, &part.p,  &part.gain, &part.rest,
                               &part.v,   &part.g,    &part.loss,  &part.d,      &part.db, &part.ds};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] += lane;
    }
    if (part.gram) {
        part.gram += lane;
    }
    return part;
}

void hspec_kernel_run(const hspec_activation_ops *ops, const hspec_kernel *kernel, size_t lanes, int gradient)
{
    for (size_t lane = 0; lane < lanes; lane += ops->width) {
        hspec_kernel part = hspec_kernel_part(kernel, lane);
        if (gradient) {
            ops->gradient(&part);
        } else {
            ops->forward(&part);
        }
    }
}
