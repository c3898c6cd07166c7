/* SPDX-License-Identifier: MIT
 * Trajectories of the order parameters: the equations of motion under an ODE solver with error control (SUNDIALS).
 * This is the only file that knows the solver. */
#include "core/dense.h"
#include "sgd/grid.h"
#include "theory/flow.h"

#include <math.h>
#include <string.h>

#ifdef HSPEC_HAVE_SUNDIALS
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

/** The loss of the rows is taken on the nodes that simulations use, too. */
#define LOSS_SEED 1
/** The nodes of the slope are others. */
#define SLOPE_SEED 2
/** Absolute errors are held this much below relative ones: small deviations between heads matter, they grow. */
#define ABSOLUTE 1e-3
#define MAX_STEPS 200000
/** Rows whose loss is taken together. */
#define LOSS_ROWS 16

struct hspec_theory {
    hspec_setup setup;
    hspec_flow flow;
    hspec_task_params task;
    int threads;
    size_t nodes;
    double tolerance;
    size_t rows, done, measured;                      /* measured: rows with their loss */
    int told;                                         /* the warning about equal heads */
    uint64_t *step;                                   /* [T] */
    double *time, *m, *r, *b, *s, *loss, *loss_error; /* [T]... */
    char solver_message[512];
    SUNContext context;
    N_Vector y;
    SUNNonlinearSolver corrector;
    void *solver;
    hspec_arena arena;
};

static int slope(sunrealtype t, N_Vector y, N_Vector dy, void *user)
{
    (void)t;
    hspec_theory *theory = user;
    /* 1: not finite, which a smaller step may mend. */
    return hspec_flow_slope(&theory->flow, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
}

/** The solver speaks through this and not on standard error. */
static void keep_message(int code, const char *module, const char *function, char *message, void *user)
{
    (void)code, (void)module, (void)function;
    hspec_theory *theory = user;
    strncpy(theory->solver_message, message, sizeof theory->solver_message - 1);
}

static hspec_status check_params(const hspec_theory_params *params, int threads, hspec_error *err)
{
    if (params->limit != HSPEC_LIMIT_SGD && params->limit != HSPEC_LIMIT_FLOW) {
        return hspec_error_set(err, HSPEC_EARG, "theory.limit: found %d, allowed sgd, flow", (int)params->limit);
    }
    if (params->nodes < 64 || params->nodes > (size_t)1 << 40) {
        return hspec_error_set(err, HSPEC_EARG, "theory.nodes: found %zu, allowed 64 to 2^40", params->nodes);
    }
    if (!(params->tolerance >= 1e-12 && params->tolerance <= 1e-1)) {
        return hspec_error_set(err, HSPEC_EARG, "theory.tolerance: found %g, allowed 1e-12 to 0.1", params->tolerance);
    }
    if (threads < 0) {
        return hspec_error_set(err, HSPEC_EARG, "threads: found %d, allowed >= 0", threads);
    }
    return HSPEC_OK;
}

static hspec_status check_start(const hspec_order *start, size_t H, size_t F, hspec_error *err)
{
    for (size_t i = 0; i < H * F; i++) {
        if (!(fabs(start->alignment[i]) <= 1e6)) {
            return hspec_error_set(err, HSPEC_EARG, "theory.start.alignment.%zu.%zu: found %g, allowed -1e6 to 1e6",
                                   i / F, i % F, start->alignment[i]);
        }
    }
    for (size_t i = 0; i < H * H; i++) {
        if (!(fabs(start->residual[i]) <= 1e12)) {
            return hspec_error_set(err, HSPEC_EARG, "theory.start.residual.%zu.%zu: found %g, allowed -1e12 to 1e12",
                                   i / H, i % H, start->residual[i]);
        }
    }
    for (size_t h = 0; h < H; h++) {
        if (!isfinite(start->bias[h]) || !isfinite(start->scale)) {
            return hspec_error_set(err, HSPEC_EARG, "theory.start: bias %g and scale %g must be finite", start->bias[h],
                                   start->scale);
        }
    }
    return HSPEC_OK;
}

static void lay_out(hspec_theory *theory)
{
    const size_t T = theory->rows, H = theory->setup.H, F = theory->setup.F;
    theory->step = hspec_arena_take(&theory->arena, T, sizeof *theory->step);
    theory->time = hspec_arena_doubles(&theory->arena, T);
    theory->m = hspec_arena_doubles(&theory->arena, hspec_memory_mul(T, H * F));
    theory->r = hspec_arena_doubles(&theory->arena, hspec_memory_mul(T, H * H));
    theory->b = hspec_arena_doubles(&theory->arena, hspec_memory_mul(T, H));
    theory->s = hspec_arena_doubles(&theory->arena, T);
    theory->loss = hspec_arena_doubles(&theory->arena, T);
    theory->loss_error = hspec_arena_doubles(&theory->arena, T);
}

/** The variables into row `done`. @return the least eigenvalue of the residual */
static double record(hspec_theory *theory)
{
    const size_t row = theory->done, H = theory->setup.H, F = theory->setup.F;
    return hspec_flow_unpack(&theory->flow, N_VGetArrayPointer(theory->y), theory->m + row * H * F,
                             theory->r + row * H * H, theory->b + row * H, theory->s + row);
}

static hspec_status external(hspec_theory *theory, const char *what, hspec_error *err)
{
    return hspec_error_set(err, HSPEC_EEXTERNAL, "theory: the solver %s at t = %g: %s", what,
                           theory->time[theory->done ? theory->done - 1 : 0],
                           theory->solver_message[0] ? theory->solver_message : "no reason given");
}

static hspec_status start_solver(hspec_theory *theory, hspec_error *err)
{
    if (SUNContext_Create(NULL, &theory->context) != 0) {
        return hspec_error_memory(err, sizeof(void *));
    }
    theory->y = N_VNew_Serial((sunindextype)theory->flow.variables, theory->context);
    if (!theory->y) {
        return hspec_error_memory(err, theory->flow.variables * sizeof(double));
    }
    /* The field is what costs: Adams methods need a fifth of the evaluations of Runge-Kutta methods of orders 4 to 8. */
    theory->solver = CVodeCreate(CV_ADAMS, theory->context);
    theory->corrector = SUNNonlinSol_FixedPoint(theory->y, 0, theory->context);
    if (!theory->solver || !theory->corrector) {
        return hspec_error_memory(err, theory->flow.variables * sizeof(double));
    }
    return HSPEC_OK;
}

static hspec_status set_solver(hspec_theory *theory, hspec_error *err)
{
    if (CVodeSetErrHandlerFn(theory->solver, keep_message, theory) != CV_SUCCESS ||
        CVodeInit(theory->solver, slope, 0, theory->y) != CV_SUCCESS ||
        CVodeSetUserData(theory->solver, theory) != CV_SUCCESS ||
        CVodeSStolerances(theory->solver, theory->tolerance, ABSOLUTE * theory->tolerance) != CV_SUCCESS ||
        CVodeSetNonlinearSolver(theory->solver, theory->corrector) != CV_SUCCESS ||
        CVodeSetMaxNumSteps(theory->solver, MAX_STEPS) != CV_SUCCESS) {
        return external(theory, "refused its settings", err);
    }
    return HSPEC_OK;
}

hspec_status hspec_theory_create(const hspec_task_params *task, const hspec_layer_params *layer,
                                 const hspec_training_params *training, const hspec_theory_params *params,
                                 const hspec_order *start, int threads, hspec_theory **theory, hspec_error *err)
{
    if (!task || !layer || !training || !params || !start || !theory || !start->alignment || !start->residual ||
        !start->bias) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_theory_create: no argument may be NULL");
    }
    HSPEC_TRY(check_params(params, threads, err));
    hspec_training_params with = *training;
    with.init = hspec_training_default().init; /* the start of the simulation is not read */
    hspec_theory *created = hspec_memory_alloc(1, sizeof *created);
    if (!created) {
        return hspec_error_memory(err, sizeof *created);
    }
    *created = (hspec_theory){.task = *task,
                              .threads = threads,
                              .nodes = params->nodes,
                              .tolerance = params->tolerance,
                              .rows = training->records + 1};
    hspec_status status = hspec_setup_create(task, layer, &with, &created->setup, err);
    if (status == HSPEC_OK) {
        status = check_start(start, created->setup.H, created->setup.F, err);
    }
    if (status == HSPEC_OK) {
        const hspec_nodes_params nodes = {.nodes = (double)params->nodes, .randomizations = 1, .seed = SLOPE_SEED};
        status = hspec_flow_create(&created->setup, params->limit, &nodes, start, threads, &created->flow, err);
    }
    if (status == HSPEC_OK) {
        lay_out(created);
        status = hspec_arena_commit(&created->arena, err);
    }
    if (status == HSPEC_OK) {
        lay_out(created);
        hspec_grid_fill(created->setup.steps, training->records, training->spacing, created->step);
        for (size_t row = 0; row < created->rows; row++) {
            created->time[row] = (double)created->step[row] / (double)created->setup.D;
            created->loss[row] = created->loss_error[row] = NAN;
        }
        status = start_solver(created, err);
    }
    if (status == HSPEC_OK) {
        hspec_flow_pack(&created->flow, start, N_VGetArrayPointer(created->y));
        const double least = record(created);
        if (least < -1e-10) {
            status = hspec_error_set(err, HSPEC_EARG,
                                     "theory.start.residual: not positive semidefinite (an eigenvalue is %g)", least);
        }
        created->done = 1;
    }
    if (status == HSPEC_OK) {
        status = set_solver(created, err); /* y is read now */
    }
    if (status != HSPEC_OK) {
        hspec_theory_free(created);
        return status;
    }
    *theory = created;
    return HSPEC_OK;
}

void hspec_theory_free(hspec_theory *theory)
{
    if (!theory) {
        return;
    }
    if (theory->solver) {
        CVodeFree(&theory->solver);
    }
    if (theory->corrector) {
        SUNNonlinSolFree(theory->corrector);
    }
    if (theory->y) {
        N_VDestroy(theory->y);
    }
    if (theory->context) {
        SUNContext_Free(&theory->context);
    }
    hspec_flow_free(&theory->flow);
    hspec_setup_free(&theory->setup);
    hspec_arena_free(&theory->arena);
    hspec_memory_free(theory);
}

static void warn_of_twins(hspec_theory *theory, const hspec_monitor *monitor)
{
    for (size_t h = 0; h < theory->setup.H && !theory->told; h++) {
        if (theory->flow.twin[h] < h) {
            hspec_monitor_warn(monitor, "heads %zu and %zu are equal at the start: in the theory they never part",
                               theory->flow.twin[h], h);
            theory->told = 1;
        }
    }
}

/** From the last row to the next. */
static hspec_status advance(hspec_theory *theory, hspec_error *err)
{
    const size_t row = theory->done;
    sunrealtype reached;
    theory->solver_message[0] = 0;
    const int flag = CVode(theory->solver, theory->time[row], theory->y, &reached, CV_NORMAL);
    if (flag < 0) {
        return external(theory, "gave up", err);
    }
    const double least = record(theory);
    double largest = 0;
    for (size_t h = 0; h < theory->setup.H; h++) {
        largest = fmax(largest, theory->r[(row * theory->setup.H + h) * theory->setup.H + h]);
    }
    if (least < -10 * theory->tolerance * fmax(largest, 1e-3)) {
        return hspec_error_set(
            err, HSPEC_EEXTERNAL,
            "theory: at t = %g the residual has an eigenvalue of %g; a smaller theory.tolerance (now "
            "%g) or more theory.nodes (now %zu) may help",
            theory->time[row], least, theory->tolerance, theory->nodes);
    }
    theory->done++;
    return HSPEC_OK;
}

/** The loss of the rows that have none yet. */
static hspec_status take_loss(hspec_theory *theory, hspec_error *err)
{
    const size_t first = theory->measured, n = theory->done - first, H = theory->setup.H, F = theory->setup.F;
    const size_t nodes = theory->nodes < HSPEC_RECORD_NODES ? theory->nodes : HSPEC_RECORD_NODES;
    hspec_order states[LOSS_ROWS];
    for (size_t i = 0; i < n; i++) {
        const size_t row = first + i;
        states[i] =
            (hspec_order){theory->m + row * H * F, theory->r + row * H * H, theory->b + row * H, theory->s[row]};
    }
    HSPEC_TRY(hspec_population_loss(&theory->task, &theory->setup.layer, nodes, LOSS_SEED, theory->threads, n, states,
                                    theory->loss + first, theory->loss_error + first, err));
    theory->measured = theory->done;
    return HSPEC_OK;
}

hspec_status hspec_theory_run(hspec_theory *theory, const hspec_monitor *monitor, hspec_error *err)
{
    if (!theory) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_theory_run: theory must not be NULL");
    }
    warn_of_twins(theory, monitor);
    hspec_status status = HSPEC_OK;
    while (theory->done < theory->rows && status == HSPEC_OK) {
        if (theory->done - theory->measured == LOSS_ROWS) {
            HSPEC_TRY(take_loss(theory, err));
        }
        status = advance(theory, err);
        const hspec_event event = {
            .kind = HSPEC_EVENT_PROGRESS, .done = (double)theory->done, .total = (double)theory->rows};
        if (status == HSPEC_OK && monitor && monitor->notify && monitor->notify(monitor->user, &event)) {
            return hspec_error_set(err, HSPEC_ESTOPPED, "stopped at t = %g of %g", theory->time[theory->done - 1],
                                   theory->time[theory->rows - 1]);
        }
    }
    if (theory->measured < theory->done) { /* also before a failure */
        hspec_error second = {0};
        const hspec_status loss = take_loss(theory, &second);
        if (loss != HSPEC_OK && status == HSPEC_OK) {
            status = hspec_error_set(err, loss, "%s", second.message);
        }
    }
    return status;
}

void hspec_theory_view(const hspec_theory *theory, hspec_theory_trajectory *view)
{
    *view = (hspec_theory_trajectory){.rows = theory->rows,
                                      .heads = theory->setup.H,
                                      .features = theory->setup.F,
                                      .done = theory->done,
                                      .step = theory->step,
                                      .time = theory->time,
                                      .alignment = theory->m,
                                      .residual = theory->r,
                                      .loss = theory->loss,
                                      .loss_error = theory->loss_error,
                                      .bias = theory->b,
                                      .scale = theory->s};
}

#else

hspec_status hspec_theory_create(const hspec_task_params *task, const hspec_layer_params *layer,
                                 const hspec_training_params *training, const hspec_theory_params *params,
                                 const hspec_order *start, int threads, hspec_theory **theory, hspec_error *err)
{
    (void)task, (void)layer, (void)training, (void)params, (void)start, (void)threads, (void)theory;
    return hspec_error_set(err, HSPEC_EUNSUPPORTED, "theory: this build has no ODE solver (SUNDIALS)");
}

void hspec_theory_free(hspec_theory *theory)
{
    (void)theory;
}

hspec_status hspec_theory_run(hspec_theory *theory, const hspec_monitor *monitor, hspec_error *err)
{
    (void)theory, (void)monitor;
    return hspec_error_set(err, HSPEC_EUNSUPPORTED, "theory: this build has no ODE solver (SUNDIALS)");
}

void hspec_theory_view(const hspec_theory *theory, hspec_theory_trajectory *view)
{
    (void)theory;
    *view = (hspec_theory_trajectory){0};
}

#endif
