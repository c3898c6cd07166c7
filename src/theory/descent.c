/* SPDX-License-Identifier: MIT
 * This is the only file that knows NLopt. */
#include "theory/descent.h"

#include <math.h>
#include <string.h>

#ifdef HSPEC_HAVE_NLOPT
#include <nlopt.h>

/** A method ends when the loss falls by less than this, relatively. */
#define TOLERANCE 1e-10
#define MOST_EVALUATIONS 1000
/** A minimum is where no derivative into the bounds is larger. */
#define FLAT 1e-5
/** L-BFGS is started anew so often. */
#define ROUNDS 3

/** What a method has seen. */
typedef struct seen {
    hspec_objective *objective;
    double lowest;
    double *x, *gradient; /* [n] of the lowest */
    size_t evaluations;
} seen;

static double evaluate(unsigned n, const double *x, double *gradient, void *user)
{
    seen *s = user;
    const double loss = hspec_objective_value(s->objective, x, gradient);
    s->evaluations++;
    if (gradient && loss < s->lowest) { /* false for NaN */
        s->lowest = loss;
        memcpy(s->x, x, n * sizeof *x);
        memcpy(s->gradient, gradient, n * sizeof *gradient);
    }
    return loss;
}

/** One method from x; the lowest point is in `s`. */
static hspec_status run(nlopt_algorithm method, const double *low, const double *high, double *x, seen *s,
                        hspec_error *err)
{
    const unsigned n = (unsigned)s->objective->n;
    nlopt_opt solver = nlopt_create(method, n);
    if (!solver || nlopt_set_min_objective(solver, evaluate, s) < 0 || nlopt_set_lower_bounds(solver, low) < 0 ||
        nlopt_set_upper_bounds(solver, high) < 0 || nlopt_set_ftol_rel(solver, TOLERANCE) < 0 ||
        nlopt_set_maxeval(solver, MOST_EVALUATIONS) < 0) {
        nlopt_destroy(solver);
        return hspec_error_memory(err, n * sizeof(double));
    }
    double value;
    /* The result code is not asked: a failure is reported also when rounding stops the method at a minimum. What counts
     * is the slope at the lowest point. */
    (void)nlopt_optimize(solver, x, &value);
    nlopt_destroy(solver);
    return HSPEC_OK;
}

static double slope_of(const seen *s, const double *low, const double *high)
{
    double slope = 0;
    for (size_t i = 0; i < s->objective->n; i++) {
        const double g = s->gradient[i];
        const int out = (g > 0 && s->x[i] <= low[i]) || (g < 0 && s->x[i] >= high[i]);
        slope = out ? slope : fmax(slope, fabs(g));
    }
    return slope;
}

hspec_status hspec_descent_run(hspec_objective *objective, const double *low, const double *high, double *x,
                               double *scratch, hspec_descent *descent, hspec_error *err)
{
    const size_t n = objective->n;
    seen s = {.objective = objective, .lowest = HUGE_VAL};
    s.x = scratch;
    s.gradient = scratch + n;
    double slope = HUGE_VAL;
    int second = 0;
    for (size_t i = 0; i < n; i++) {
        x[i] = fmin(fmax(x[i], low[i]), high[i]);
    }
    /* L-BFGS of NLopt gives up early at times, most of all when variables come to their bounds or the first step was a
     * bad one: it is started anew where it stopped, and at last SLSQP takes over, which is slower but never does. */
    for (int round = 0; round <= ROUNDS && !(slope < FLAT); round++) {
        second = round == ROUNDS;
        HSPEC_TRY(run(second ? NLOPT_LD_SLSQP : NLOPT_LD_LBFGS, low, high, x, &s, err));
        if (!isfinite(s.lowest)) {
            return hspec_error_set(err, HSPEC_ENONFINITE, "optimum: the loss is not finite at a start");
        }
        memcpy(x, s.x, n * sizeof *x);
        slope = slope_of(&s, low, high);
    }
    *descent = (hspec_descent){s.lowest, slope, s.evaluations, second};
    return HSPEC_OK;
}

#else

hspec_status hspec_descent_run(hspec_objective *objective, const double *low, const double *high, double *x,
                               double *scratch, hspec_descent *descent, hspec_error *err)
{
    (void)objective, (void)low, (void)high, (void)x, (void)scratch, (void)descent;
    return hspec_error_set(err, HSPEC_EUNSUPPORTED, "optimum: this build has no optimizer (NLopt)");
}

#endif
