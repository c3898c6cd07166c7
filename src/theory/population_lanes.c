/* SPDX-License-Identifier: MIT
 * Nodes and scores of the population loss, one native vector of nodes at a time. */
#include "theory/population.h"

#include "core/normal.h"

static void draw(hspec_population *p, uint64_t block)
{
    const vu k0 = vu_load(p->keys), k1 = vu_load(p->keys + HSPEC_W);
    const size_t tokens = p->L * (p->F + p->H);
    vd_fill_normals(k0, k1, block, 0, p->normals, tokens + hspec_signal_normals(p->signal));
    vd_fill_words(k0, k1, block, UINT64_C(1) << 63, p->words, 1);
    HSPEC_LEVELED(hspec_signal_ops_table).draw(p->signal, p->words, HSPEC_AT(p->normals, tokens), p->theta);
    for (size_t f = 0; f < p->F; f++) {
        double *c = HSPEC_AT(p->normals, f * p->L); /* the target stands at l = 0 */
        vd_store(c, vd_load(c) + vd_load(HSPEC_AT(p->theta, f)));
    }
}

/** chi_hl = sum_f m_hf c_fl + sum_{j <= h} R_hj u_jl, then the loss of every lane. */
static void add(hspec_population *p, const double *m, const double *R, const double *b, double s, double *sums)
{
    const size_t H = p->H, L = p->L, F = p->F;
    const double *c = p->normals, *u = HSPEC_AT(c, F * L);
    for (size_t h = 0; h < H; h++) {
        for (size_t l = 0; l < L; l++) {
            vd chi = vd_set(0.0);
            for (size_t f = 0; f < F; f++) {
                chi = chi + m[h * F + f] * vd_load(HSPEC_AT(c, f * L + l));
            }
            for (size_t j = 0; j <= h; j++) {
                chi = chi + R[h * H + j] * vd_load(HSPEC_AT(u, j * L + l));
            }
            vd_store(HSPEC_AT(p->kernel.chi, h * L + l), chi);
        }
        vd_store(HSPEC_AT(p->kernel.bias, h), vd_set(b[h]));
    }
    vd_store(p->kernel.scale, vd_set(s));
    p->activation->forward(&p->kernel);
    for (size_t w = 0; w < HSPEC_VW; w++) {
        sums[0] += p->kernel.loss[w];
        sums[1] += p->kernel.loss[w] * p->kernel.loss[w];
    }
}

const hspec_population_ops HSPEC_LEVELED(hspec_population_ops_table) = {HSPEC_VW, draw, add};
