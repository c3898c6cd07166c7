/* SPDX-License-Identifier: MIT
 * Online SGD in plain loops, from the definitions (docs/theory.md, "Data" to "Online SGD"). Slow on purpose. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers: xoshiro256++ and Box-Muller ----------------------------------------------------------------- */

typedef struct generator {
    uint64_t s[4];
    double spare;
    int has_spare;
} generator;

static void generator_start(generator *g, uint64_t stream)
{
    uint64_t z = stream * 0xD1342543DE82EF95U + 0x1234567U;
    for (size_t i = 0; i < 4; i++) {
        z += 0x9E3779B97F4A7C15U;
        uint64_t x = z;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
        g->s[i] = x ^ (x >> 31);
    }
    g->has_spare = 0;
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static double uniform(generator *g)
{
    uint64_t *s = g->s;
    const uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return ((double)(result >> 11) + 0.5) * 0x1p-53;
}

static double normal(generator *g)
{
    if (g->has_spare) {
        g->has_spare = 0;
        return g->spare;
    }
    const double radius = sqrt(-2.0 * log(uniform(g)));
    const double angle = 6.283185307179586477 * uniform(g);
    g->spare = radius * sin(angle);
    g->has_spare = 1;
    return radius * cos(angle);
}

/* ---- vectors ------------------------------------------------------------------------------------------------------ */

static double *zeros(size_t n)
{
    double *x = calloc(n ? n : 1, sizeof *x);
    if (x == NULL) {
        abort();
    }
    return x;
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* A random orthonormal set: Gram-Schmidt, twice, on Gaussian vectors. @param basis out [count][D] */
static void orthonormal(generator *g, double *basis, size_t count, size_t D)
{
    for (size_t j = 0; j < count; j++) {
        double *x = basis + j * D;
        for (size_t i = 0; i < D; i++) {
            x[i] = normal(g);
        }
        for (size_t pass = 0; pass < 2; pass++) {
            for (size_t k = 0; k < j; k++) {
                const double overlap = dot(x, basis + k * D, D);
                for (size_t i = 0; i < D; i++) {
                    x[i] -= overlap * basis[k * D + i];
                }
            }
            const double norm = sqrt(dot(x, x, D));
            for (size_t i = 0; i < D; i++) {
                x[i] /= norm;
            }
        }
    }
}

/* Lower triangular C with C C^T = A, for positive semidefinite A. */
static void cholesky(const double *A, size_t n, double *C)
{
    memset(C, 0, n * n * sizeof *C);
    for (size_t j = 0; j < n; j++) {
        const double pivot = A[j * n + j] - dot(C + j * n, C + j * n, j);
        if (pivot <= 1e-14 * A[j * n + j] || pivot <= 0.0) {
            continue;
        }
        C[j * n + j] = sqrt(pivot);
        for (size_t i = j + 1; i < n; i++) {
            C[i * n + j] = (A[i * n + j] - dot(C + i * n, C + j * n, j)) / C[j * n + j];
        }
    }
}

/* ---- the model ------------------------------------------------------------------------------------------------------ */

typedef struct model {
    const naive_case *c;
    size_t D, L, H, F;
    double *spikes; /* [F][D], |k*_f|^2 = D */
    double *keys;   /* [H][D] */
    double *bias;   /* [H] */
    double scale;
    double *x;     /* [L][D] one sequence */
    double *chi;   /* [H][L] */
    double *a;     /* [H][L] */
    double *abar;  /* [L] */
    double *d;     /* [H][L] dloss/dchi */
    double *db;    /* [H] dloss/db */
    double *gk;    /* [H][D] summed over the batch */
    double *gb;    /* [H] summed over the batch */
    double *error; /* [D] x_e - yhat */
    double gs;
    size_t e;
    generator g;
} model;

size_t naive_features(const hspec_signal_params *signal)
{
    return signal->kind == HSPEC_SIGNAL_FLIPPED ? 1 : signal->features;
}

static void model_start(model *m, const naive_case *c, uint64_t stream)
{
    const hspec_init_params *init = &c->training.init;
    m->c = c;
    const size_t D = m->D = c->task.dimension;
    const size_t L = m->L = c->task.tokens;
    const size_t H = m->H = c->layer.heads;
    const size_t F = m->F = naive_features(&c->signal);
    m->keys = zeros(H * D);
    m->bias = zeros(H);
    m->x = zeros(L * D);
    m->chi = zeros(H * L);
    m->a = zeros(H * L);
    m->abar = zeros(L);
    m->d = zeros(H * L);
    m->db = zeros(H);
    m->gk = zeros(H * D);
    m->gb = zeros(H);
    m->error = zeros(D);
    generator_start(&m->g, stream);
    double *basis = zeros((F + H) * D); /* the spikes, then directions for the residuals */
    orthonormal(&m->g, basis, F + H, D);
    m->spikes = zeros(F * D);
    for (size_t i = 0; i < F * D; i++) {
        m->spikes[i] = basis[i] * sqrt((double)D);
    }
    m->scale = c->layer.scale_init;
    for (size_t h = 0; h < H; h++) {
        m->bias[h] = c->layer.bias_init;
    }
    if (init->kind == HSPEC_INIT_RANDOM) {
        for (size_t i = 0; i < H * D; i++) {
            m->keys[i] = init->scale * normal(&m->g);
        }
    } else {
        double *r = zeros(H * H);
        double *C = zeros(H * H);
        for (size_t h = 0; h < H; h++) {
            r[h * H + h] = init->residual_diagonal;
        }
        cholesky(init->residual != NULL ? init->residual : r, H, C);
        for (size_t h = 0; h < H; h++) {
            for (size_t i = 0; i < D; i++) {
                for (size_t f = 0; f < F; f++) {
                    m->keys[h * D + i] += init->alignment[h * F + f] * m->spikes[f * D + i];
                }
                for (size_t j = 0; j < H; j++) {
                    m->keys[h * D + i] += C[h * H + j] * basis[(F + j) * D + i] * sqrt((double)D);
                }
            }
        }
        free(r);
        free(C);
    }
    free(basis);
}

static void model_end(model *m)
{
    double *all[] = {m->spikes, m->keys, m->bias, m->x, m->chi, m->a, m->abar, m->d, m->db, m->gk, m->gb, m->error};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
}

static void draw_theta(model *m, double *theta)
{
    const hspec_signal_params *p = &m->c->signal;
    if (p->kind == HSPEC_SIGNAL_FLIPPED) {
        theta[0] = uniform(&m->g) < p->probability ? sqrt(p->strength) : -sqrt(p->strength);
    } else if (p->kind == HSPEC_SIGNAL_GAUSSIAN) {
        for (size_t f = 0; f < m->F; f++) {
            theta[f] = p->mean[f] + sqrt(p->variance[f]) * normal(&m->g);
        }
    } else {
        double left = uniform(&m->g);
        size_t k = 0;
        while (k + 1 < p->points) {
            left -= p->weights != NULL ? p->weights[k] : 1.0 / (double)p->points;
            if (left < 0.0) {
                break;
            }
            k++;
        }
        memcpy(theta, p->theta + k * m->F, m->F * sizeof *theta);
    }
}

static void draw_sequence(model *m)
{
    double theta[8] = {0.0};
    m->e = (size_t)(uniform(&m->g) * (double)m->L);
    draw_theta(m, theta);
    for (size_t i = 0; i < m->L * m->D; i++) {
        m->x[i] = normal(&m->g);
    }
    for (size_t f = 0; f < m->F; f++) {
        for (size_t i = 0; i < m->D; i++) {
            m->x[m->e * m->D + i] += theta[f] * m->spikes[f * m->D + i] / sqrt((double)m->D);
        }
    }
}

/* Scores of moderate size only: no exponent is shifted here. */
static void attend(model *m)
{
    const hspec_activation activation = m->c->layer.activation;
    double all = 0.0;
    for (size_t h = 0; h < m->H; h++) {
        for (size_t l = 0; l < m->L; l++) {
            m->chi[h * m->L + l] = dot(m->keys + h * m->D, m->x + l * m->D, m->D) / sqrt((double)m->D);
            all += exp(m->chi[h * m->L + l] + m->bias[h]);
        }
    }
    memset(m->abar, 0, m->L * sizeof *m->abar);
    for (size_t h = 0; h < m->H; h++) {
        double Z = activation == HSPEC_SOFTMAX1 ? exp(m->bias[h]) : 0.0;
        for (size_t l = 0; l < m->L; l++) {
            Z += exp(m->chi[h * m->L + l]);
        }
        for (size_t l = 0; l < m->L; l++) {
            const double weight = exp(m->chi[h * m->L + l]);
            double a = weight / Z;
            if (activation == HSPEC_SOFTMAX1) {
                a *= m->scale;
            } else if (activation == HSPEC_BAYES) {
                a = (double)m->H * weight * exp(m->bias[h]) / all;
            }
            m->a[h * m->L + l] = a;
            m->abar[l] += a / (double)m->H;
        }
    }
}

/* dloss/da_hl, the same for all heads. Token loss: |x_e - yhat|^2 / D with yhat = sum_l abar_l x_l. */
static double dloss_da(const model *m, size_t l)
{
    if (m->c->training.loss == HSPEC_LOSS_TOKEN) {
        return -2.0 / (double)m->H * dot(m->x + l * m->D, m->error, m->D) / (double)m->D;
    }
    return 2.0 / (double)m->H * (m->abar[l] - (l == m->e ? 1.0 : 0.0));
}

/* Gradients of one sequence by the chain rule, entry by entry of the Jacobian. */
static void differentiate(model *m)
{
    const size_t L = m->L;
    const hspec_activation activation = m->c->layer.activation;
    double g[64];
    memcpy(m->error, m->x + m->e * m->D, m->D * sizeof *m->error);
    for (size_t l = 0; l < L; l++) {
        for (size_t i = 0; i < m->D; i++) {
            m->error[i] -= m->abar[l] * m->x[l * m->D + i];
        }
    }
    for (size_t l = 0; l < L; l++) {
        g[l] = dloss_da(m, l);
    }
    memset(m->d, 0, m->H * L * sizeof *m->d);
    memset(m->db, 0, m->H * sizeof *m->db);
    for (size_t h = 0; h < m->H; h++) {
        for (size_t l = 0; l < L; l++) {
            const double a = m->a[h * L + l];
            m->d[h * L + l] += g[l] * a;
            if (activation == HSPEC_BAYES) {
                m->db[h] += g[l] * a;
                for (size_t j = 0; j < m->H; j++) {
                    for (size_t k = 0; k < L; k++) {
                        m->d[j * L + k] -= g[l] * a * m->a[j * L + k] / (double)m->H;
                        m->db[j] -= g[l] * a * m->a[j * L + k] / (double)m->H;
                    }
                }
                continue;
            }
            double attended = 0.0; /* sum of p over the tokens */
            for (size_t k = 0; k < L; k++) {
                const double p = activation == HSPEC_SOFTMAX1 ? m->a[h * L + k] / m->scale : m->a[h * L + k];
                m->d[h * L + k] -= g[l] * a * p;
                attended += p;
            }
            if (activation == HSPEC_SOFTMAX1) {
                m->db[h] -= g[l] * a * (1.0 - attended);
                m->gs += g[l] * a / m->scale;
            }
        }
    }
}

static void sgd_step(model *m)
{
    const hspec_layer_params *layer = &m->c->layer;
    const double B = (double)m->c->training.batch;
    const double eta = m->c->training.learning_rate;
    const double D = (double)m->D;
    memset(m->gk, 0, m->H * m->D * sizeof *m->gk);
    memset(m->gb, 0, m->H * sizeof *m->gb);
    m->gs = 0.0;
    for (size_t b = 0; b < m->c->training.batch; b++) {
        draw_sequence(m);
        attend(m);
        differentiate(m);
        for (size_t h = 0; h < m->H; h++) {
            m->gb[h] += m->db[h];
            for (size_t l = 0; l < m->L; l++) {
                for (size_t i = 0; i < m->D; i++) {
                    m->gk[h * m->D + i] += m->d[h * m->L + l] * m->x[l * m->D + i] / sqrt(D);
                }
            }
        }
    }
    for (size_t i = 0; i < m->H * m->D; i++) {
        m->keys[i] -= eta / B * m->gk[i];
    }
    if (layer->activation == HSPEC_SOFTMAX1 && !layer->bias_per_head) {
        double sum = 0.0;
        for (size_t h = 0; h < m->H; h++) {
            sum += m->gb[h];
        }
        for (size_t h = 0; h < m->H; h++) {
            m->gb[h] = sum;
        }
    }
    if (layer->activation != HSPEC_SOFTMAX && layer->bias_train) {
        for (size_t h = 0; h < m->H; h++) {
            m->bias[h] -= eta / (B * D) * m->gb[h];
        }
    }
    if (layer->activation == HSPEC_SOFTMAX1 && layer->scale_train) {
        m->scale -= eta / (B * D) * m->gs;
    }
}

static void record(const model *m, double *alignment, double *residual, double *bias, double *scale)
{
    const double D = (double)m->D;
    double shift = 0.0;
    for (size_t h = 0; h < m->H; h++) {
        for (size_t f = 0; f < m->F; f++) {
            alignment[h * m->F + f] = dot(m->keys + h * m->D, m->spikes + f * m->D, m->D) / D;
        }
        shift += m->c->layer.activation == HSPEC_BAYES ? m->bias[h] / (double)m->H : 0.0;
    }
    for (size_t h = 0; h < m->H; h++) {
        bias[h] = m->bias[h] - shift;
        for (size_t j = 0; j < m->H; j++) {
            residual[h * m->H + j] = dot(m->keys + h * m->D, m->keys + j * m->D, m->D) / D -
                                     dot(alignment + h * m->F, alignment + j * m->F, m->F);
        }
    }
    *scale = m->scale;
}

void naive_train(const naive_case *c, uint64_t stream, size_t rows, const uint64_t *step, double *alignment,
                 double *residual, double *bias, double *scale)
{
    model m;
    model_start(&m, c, stream);
    uint64_t done = 0;
    for (size_t row = 0; row < rows; row++) {
        for (; done < step[row]; done++) {
            sgd_step(&m);
        }
        record(&m, alignment + row * m.H * m.F, residual + row * m.H * m.H, bias + row * m.H, scale + row);
    }
    model_end(&m);
}

double naive_loss(const naive_case *c, uint64_t stream, size_t sequences, const double *bias, double scale,
                  double *error)
{
    model m;
    model_start(&m, c, stream);
    memcpy(m.bias, bias, m.H * sizeof *bias);
    m.scale = scale;
    double sum = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < sequences; i++) {
        draw_sequence(&m);
        attend(&m);
        double loss = 0.0;
        for (size_t l = 0; l < m.L; l++) {
            const double v = m.abar[l] - (l == m.e ? 1.0 : 0.0);
            loss += v * v;
        }
        sum += loss;
        squares += loss * loss;
    }
    const double mean = sum / (double)sequences;
    *error = sqrt((squares / (double)sequences - mean * mean) / (double)sequences);
    model_end(&m);
    return mean;
}
