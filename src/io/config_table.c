/* SPDX-License-Identifier: MIT
 * The table of all keys of an experiment file. */
#include "io/config_table.h"

#include <math.h>
#include <string.h>

/* ---- Names ------------------------------------------------------------------------------------------------------- */

#define HSPEC_X(name, yaml, sentence) {yaml, sentence},
static const hspec_config_name signal_items[] = {HSPEC_SIGNAL_TABLE(HSPEC_X)};
static const hspec_config_name activation_items[] = {HSPEC_ACTIVATION_TABLE(HSPEC_X)};
#undef HSPEC_X
static const hspec_config_name engine_items[] = {
    [HSPEC_ENGINE_EXPLICIT] = {"explicit", "full vectors in R^D"},
    [HSPEC_ENGINE_REDUCED] = {"reduced", "order parameters only: exact in law, at a cost that does not depend on D"},
};
static const hspec_config_name loss_items[] = {
    [HSPEC_LOSS_LOCATION] = {"location", "sum over tokens of (mean attention - 1 at the target)^2"},
    [HSPEC_LOSS_TOKEN] = {"token", "|target token - prediction|^2 / D"},
};
static const hspec_config_name noise_items[] = {
    [HSPEC_NOISE_DOUBLE] = {"double", "52 random bits for each number"},
    [HSPEC_NOISE_SINGLE] = {"single", "32 random bits and single precision: faster; scores and keys stay double"},
};
static const hspec_config_name spacing_items[] = {
    [HSPEC_SPACING_LINEAR] = {"linear", "equal distances in time"},
    [HSPEC_SPACING_LOG] = {"log", "equal ratios of time"},
};
static const hspec_config_name init_items[] = {
    [HSPEC_INIT_RANDOM] = {"random", "every component of every key is drawn from N(0, scale^2)"},
    [HSPEC_INIT_ALIGNED] = {"aligned", "exactly the given alignment and residual"},
};
static const hspec_config_name limit_items[] = {
    [HSPEC_LIMIT_SGD] = {"sgd", "keeps the noise of SGD, the term with eta^2"},
    [HSPEC_LIMIT_FLOW] = {"flow", "gradient flow: drops that term"},
};
static const hspec_config_name start_items[] = {
    [HSPEC_START_SEED] = {"seed", "the state at t = 0 of one seed of the simulation"},
    [HSPEC_START_GIVEN] = {"alignment", "the given state"},
};

#define HSPEC_NAMES(array)                                                                                             \
    {                                                                                                                  \
        sizeof(array) / sizeof(array)[0], array                                                                        \
    }
const hspec_config_names hspec_config_table_signals = HSPEC_NAMES(signal_items);
const hspec_config_names hspec_config_table_activations = HSPEC_NAMES(activation_items);
const hspec_config_names hspec_config_table_engines = HSPEC_NAMES(engine_items);
static const hspec_config_names losses = HSPEC_NAMES(loss_items);
static const hspec_config_names noises = HSPEC_NAMES(noise_items);
static const hspec_config_names spacings = HSPEC_NAMES(spacing_items);
static const hspec_config_names inits = HSPEC_NAMES(init_items);
static const hspec_config_names limits = HSPEC_NAMES(limit_items);
static const hspec_config_names starts = HSPEC_NAMES(start_items);

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(hspec_experiment, member)
#define BIT(value) (1U << (unsigned)(value))
#define ABOVE(x) .low = (x), .high = INFINITY, .low_open = 1
#define FROM_TO(x, y) .low = (x), .high = (y)
#define WITHIN(x) .low = -(x), .high = (x)
#define UP_TO(x) .low = 0, .high = (x), .low_open = 1
#define FLIPPED .kinds = BIT(HSPEC_SIGNAL_FLIPPED)
#define GAUSSIAN .kinds = BIT(HSPEC_SIGNAL_GAUSSIAN)
#define DISCRETE .kinds = BIT(HSPEC_SIGNAL_DISCRETE)
#define WITH_BIAS .activations = (BIT(HSPEC_SOFTMAX1) | BIT(HSPEC_BAYES))
#define WITH_SCALE .activations = BIT(HSPEC_SOFTMAX1)

/* A section stands before its rows, `kind` before what depends on it, and the key that sets a length first. */
const hspec_config_row hspec_config_table_rows[] = {
    {.path = "", .type = HSPEC_CONFIG_SECTION, .sentence = "an experiment"},

    {.path = "task",
     .type = HSPEC_CONFIG_SECTION,
     .sentence = "the data: sequences of L tokens in R^D, one of which carries the signal"},
    {.path = "task.tokens",
     .type = HSPEC_CONFIG_SIZE,
     FROM_TO(2, 65536),
     .example = "5",
     AT(task.tokens),
     .sentence = "L, the number of tokens of a sequence"},
    {.path = "task.dimension",
     .type = HSPEC_CONFIG_SIZE,
     FROM_TO(2, 1e12),
     .fallback = "1000",
     AT(task.dimension),
     .sentence = "D, the dimension of a token; at least F + H"},
    {.path = "task.signal",
     .type = HSPEC_CONFIG_KINDS,
     .sentence = "the distribution of the amplitudes theta of the F hidden features"},
    {.path = "task.signal.kind",
     .type = HSPEC_CONFIG_NAME,
     .names = &hspec_config_table_signals,
     .example = "flipped",
     AT(signal.kind),
     .sentence = "the family of distributions"},
    {.path = "task.signal.strength",
     .type = HSPEC_CONFIG_REAL,
     UP_TO(1e6),
     FLIPPED,
     .example = "4.0",
     .columns = HSPEC_LENGTH_F,
     AT(signal.strength),
     .sentence = "nu = theta^2"},
    {.path = "task.signal.probability",
     .type = HSPEC_CONFIG_REAL,
     FROM_TO(0, 1),
     FLIPPED,
     .fallback = "0.5",
     AT(signal.probability),
     .sentence = "the probability that theta is positive"},
    {.path = "task.signal.mean",
     .type = HSPEC_CONFIG_VECTOR,
     WITHIN(1e3),
     GAUSSIAN,
     .example = "[1.5, 0, 0]",
     .columns = HSPEC_LENGTH_F,
     AT(signal.mean),
     .sentence = "the mean of theta, one number for each feature"},
    {.path = "task.signal.variance",
     .type = HSPEC_CONFIG_VECTOR,
     FROM_TO(0, 1e6),
     GAUSSIAN,
     .example = "[0, 9, 3]",
     .columns = HSPEC_LENGTH_F,
     AT(signal.variance),
     .sentence = "the variance of theta, one number for each feature"},
    {.path = "task.signal.points",
     .type = HSPEC_CONFIG_MATRIX,
     WITHIN(1e3),
     DISCRETE,
     .example = "[[3, 0], [0, 3]]",
     .rows = HSPEC_LENGTH_K,
     .columns = HSPEC_LENGTH_F,
     AT(signal.theta),
     .sentence = "the K values that theta takes, each of F numbers"},
    {.path = "task.signal.weights",
     .type = HSPEC_CONFIG_VECTOR,
     ABOVE(0),
     DISCRETE,
     .absent = "1/K each",
     .example = "[0.5, 0.5]",
     .columns = HSPEC_LENGTH_K,
     AT(signal.weights),
     .sentence = "the probabilities of the points; their sum is 1 within 1e-6"},

    {.path = "layer", .type = HSPEC_CONFIG_SECTION, .sentence = "the attention layer"},
    {.path = "layer.heads",
     .type = HSPEC_CONFIG_SIZE,
     FROM_TO(1, 4096),
     .example = "3",
     AT(layer.heads),
     .sentence = "H, the number of heads"},
    {.path = "layer.activation",
     .type = HSPEC_CONFIG_NAME,
     .names = &hspec_config_table_activations,
     .fallback = "softmax",
     AT(layer.activation),
     .sentence = "how scores become attention"},
    {.path = "layer.bias", .type = HSPEC_CONFIG_SECTION, WITH_BIAS, .sentence = "the bias b_h"},
    {.path = "layer.bias.init",
     .type = HSPEC_CONFIG_REAL,
     WITHIN(1e4),
     WITH_BIAS,
     .fallback = "0",
     AT(layer.bias_init),
     .sentence = "b_h at the start"},
    {.path = "layer.bias.train",
     .type = HSPEC_CONFIG_SWITCH,
     WITH_BIAS,
     .fallback = "true",
     AT(layer.bias_train),
     .sentence = "whether b_h is trained or keeps its value"},
    {.path = "layer.bias.per_head",
     .type = HSPEC_CONFIG_SWITCH,
     WITH_SCALE,
     .fallback = "false",
     AT(layer.bias_per_head),
     .sentence = "one bias for each head, or one for all (bayes: always one for each)"},
    {.path = "layer.scale", .type = HSPEC_CONFIG_SECTION, WITH_SCALE, .sentence = "the factor s of all heads"},
    {.path = "layer.scale.init",
     .type = HSPEC_CONFIG_REAL,
     WITHIN(1e4),
     WITH_SCALE,
     .fallback = "1",
     AT(layer.scale_init),
     .sentence = "s at the start"},
    {.path = "layer.scale.train",
     .type = HSPEC_CONFIG_SWITCH,
     WITH_SCALE,
     .fallback = "true",
     AT(layer.scale_train),
     .sentence = "whether s is trained or keeps its value"},

    {.path = "training", .type = HSPEC_CONFIG_SECTION, .sentence = "online SGD, with fresh data at each step"},
    {.path = "training.engine",
     .type = HSPEC_CONFIG_NAME,
     .names = &hspec_config_table_engines,
     .fallback = "reduced",
     AT(training.engine),
     .sentence = "what is simulated"},
    {.path = "training.loss",
     .type = HSPEC_CONFIG_NAME,
     .names = &losses,
     .fallback = "location",
     AT(training.loss),
     .sentence = "what is descended"},
    {.path = "training.noise",
     .type = HSPEC_CONFIG_NAME,
     .names = &noises,
     .engines = BIT(HSPEC_ENGINE_EXPLICIT),
     .fallback = "double",
     AT(training.noise),
     .sentence = "the precision of the noise of the tokens"},
    {.path = "training.learning_rate",
     .type = HSPEC_CONFIG_REAL,
     ABOVE(0),
     .fallback = "1.0",
     AT(training.learning_rate),
     .sentence = "eta, the learning rate"},
    {.path = "training.batch",
     .type = HSPEC_CONFIG_SIZE,
     FROM_TO(1, 1e6),
     .fallback = "1",
     AT(training.batch),
     .sentence = "B, the number of sequences of a step"},
    {.path = "training.time",
     .type = HSPEC_CONFIG_REAL,
     ABOVE(0),
     .unit = "steps / D",
     .fallback = "100",
     AT(training.time),
     .sentence = "the length of the run"},
    {.path = "training.seeds",
     .type = HSPEC_CONFIG_SIZE,
     FROM_TO(1, 1e6),
     .fallback = "8",
     AT(training.seeds),
     .sentence = "S, the number of independent runs"},
    {.path = "training.seed",
     .type = HSPEC_CONFIG_SEED,
     FROM_TO(0, 0x1p64), /* the last one itself does not fit into the type */
     .fallback = "1",
     AT(training.seed),
     .sentence = "run k = 1..S uses the random stream (seed, k)"},
    {.path = "training.records",
     .type = HSPEC_CONFIG_SIZE,
     FROM_TO(1, 1e7),
     .fallback = "200",
     AT(training.records),
     .sentence = "states to record besides the start; at most one for each step, to which the default is cut"},
    {.path = "training.record_spacing",
     .type = HSPEC_CONFIG_NAME,
     .names = &spacings,
     .fallback = "linear",
     AT(training.spacing),
     .sentence = "how the records are spread over time"},
    {.path = "training.init", .type = HSPEC_CONFIG_KINDS, .sentence = "the keys of the heads at the start"},
    {.path = "training.init.kind",
     .type = HSPEC_CONFIG_NAME,
     .names = &inits,
     .fallback = "random",
     AT(training.init.kind),
     .sentence = "drawn or given"},
    {.path = "training.init.scale",
     .type = HSPEC_CONFIG_REAL,
     FROM_TO(0, 1e3),
     .kinds = BIT(HSPEC_INIT_RANDOM),
     .fallback = "0.1",
     AT(training.init.scale),
     .sentence = "the standard deviation of each component of a key"},
    {.path = "training.init.alignment",
     .type = HSPEC_CONFIG_MATRIX,
     WITHIN(1e3),
     .kinds = BIT(HSPEC_INIT_ALIGNED),
     .rows = HSPEC_LENGTH_H,
     .columns = HSPEC_LENGTH_F,
     .example = "[[0.1], [0.0], [-0.1]]",
     AT(training.init.alignment),
     .sentence = "m, the alignment of each head with each feature"},
    {.path = "training.init.residual",
     .type = HSPEC_CONFIG_DIAGONAL,
     FROM_TO(0, 1e6),
     .kinds = BIT(HSPEC_INIT_ALIGNED),
     .fallback = "0",
     .rows = HSPEC_LENGTH_H,
     .columns = HSPEC_LENGTH_H,
     AT(training.init.residual),
     .diagonal = offsetof(hspec_experiment, training.init.residual_diagonal),
     .sentence = "r, the overlaps of the heads outside the signal: a number times I, or a symmetric matrix "
                 "without negative eigenvalues"},

    {.path = "theory", .type = HSPEC_CONFIG_SECTION, .sentence = "the order parameters in the limit of large D"},
    {.path = "theory.limit",
     .type = HSPEC_CONFIG_NAME,
     .names = &limits,
     .fallback = "sgd",
     AT(theory.limit),
     .sentence = "with or without the noise of SGD"},
    {.path = "theory.start",
     .type = HSPEC_CONFIG_CHOICE,
     .names = &starts,
     AT(theory.start_kind),
     .sentence = "where the theory starts: at a seed of the simulation, or at a given state"},
    {.path = "theory.start.seed",
     .type = HSPEC_CONFIG_SEED,
     FROM_TO(1, 1e6),
     .kinds = BIT(HSPEC_START_SEED),
     .fallback = "1",
     AT(theory.start_seed),
     .sentence = "the run, 1..S, whose recorded state at t = 0 is taken"},
    {.path = "theory.start.alignment",
     .type = HSPEC_CONFIG_MATRIX,
     WITHIN(1e3),
     .kinds = BIT(HSPEC_START_GIVEN),
     .rows = HSPEC_LENGTH_H,
     .columns = HSPEC_LENGTH_F,
     .example = "[[0.1], [0.0], [-0.1]]",
     AT(theory.start.alignment),
     .sentence = "as training.init.alignment"},
    {.path = "theory.start.residual",
     .type = HSPEC_CONFIG_DIAGONAL,
     FROM_TO(0, 1e6),
     .kinds = BIT(HSPEC_START_GIVEN),
     .fallback = "0",
     .rows = HSPEC_LENGTH_H,
     .columns = HSPEC_LENGTH_H,
     AT(theory.start.residual),
     .diagonal = offsetof(hspec_experiment, theory.start.residual_diagonal),
     .sentence = "as training.init.residual"},
    {.path = "theory.nodes",
     .type = HSPEC_CONFIG_SIZE,
     FROM_TO(64, 1e9),
     .fallback = "16384",
     AT(theory.nodes),
     .sentence = "the number of nodes of every expectation; the loss of a record takes at most 32768"},
    {.path = "theory.tolerance",
     .type = HSPEC_CONFIG_REAL,
     FROM_TO(1e-12, 0.1),
     .fallback = "1.0e-6",
     AT(theory.tolerance),
     .sentence = "the error tolerance of the ODE solver"},
};
const size_t hspec_config_table_count = sizeof hspec_config_table_rows / sizeof hspec_config_table_rows[0];

/* ---- Questions to the table -------------------------------------------------------------------------------------- */

const hspec_config_row *hspec_config_table_find(const char *path)
{
    for (size_t i = 0; i < hspec_config_table_count; i++) {
        if (strcmp(hspec_config_table_rows[i].path, path) == 0) {
            return &hspec_config_table_rows[i];
        }
    }
    return NULL;
}

/* Bytes of the path of the section that holds a row. */
static size_t parent_length(const hspec_config_row *row)
{
    const char *point = strrchr(row->path, '.');
    return point ? (size_t)(point - row->path) : 0;
}

const char *hspec_config_table_key(const hspec_config_row *row)
{
    const char *point = strrchr(row->path, '.');
    return point ? point + 1 : row->path;
}

static int is_below(const hspec_config_row *row, const hspec_config_row *section)
{
    size_t n = parent_length(row);
    return *row->path && n == strlen(section->path) && strncmp(row->path, section->path, n) == 0;
}

const hspec_config_row *hspec_config_table_next(const hspec_config_row *section, const hspec_config_row *previous)
{
    const hspec_config_row *end = hspec_config_table_rows + hspec_config_table_count;
    for (const hspec_config_row *row = previous ? previous + 1 : section + 1; row < end; row++) {
        if (is_below(row, section)) {
            return row;
        }
    }
    return NULL;
}

const hspec_config_row *hspec_config_table_parent(const hspec_config_row *row)
{
    for (const hspec_config_row *section = row; section-- > hspec_config_table_rows;) {
        if (is_below(row, section)) {
            return section;
        }
    }
    return NULL;
}

int hspec_config_table_is_section(const hspec_config_row *row)
{
    return row->type == HSPEC_CONFIG_SECTION || row->type == HSPEC_CONFIG_KINDS || row->type == HSPEC_CONFIG_CHOICE;
}

int hspec_config_table_required(const hspec_config_row *row)
{
    if (!hspec_config_table_is_section(row)) {
        return !row->fallback && !row->absent;
    }
    /* A section that is left out has its first kind. */
    const hspec_config_row *child = NULL;
    while ((child = hspec_config_table_next(row, child)) != NULL) {
        if ((child->kinds == 0 || (child->kinds & 1U)) && hspec_config_table_required(child)) {
            return 1;
        }
    }
    return 0;
}

int hspec_config_table_read_by(const hspec_config_row *row, const hspec_experiment *experiment)
{
    return (row->activations == 0 || (row->activations & BIT(experiment->layer.activation)) != 0) &&
           (row->engines == 0 || (row->engines & BIT(experiment->training.engine)) != 0);
}

const hspec_config_names *hspec_config_table_kinds(const hspec_config_row *section)
{
    return section->type == HSPEC_CONFIG_KINDS ? hspec_config_table_next(section, NULL)->names : section->names;
}

void hspec_config_table_item_range(const hspec_config_row *row, double *low, double *high)
{
    *low = row->type == HSPEC_CONFIG_DIAGONAL ? -row->high : row->low;
    *high = row->high;
}

const char *hspec_config_table_length(hspec_config_length length)
{
    switch (length) {
    case HSPEC_LENGTH_F:
        return "F";
    case HSPEC_LENGTH_K:
        return "K";
    case HSPEC_LENGTH_H:
        return "H";
    case HSPEC_LENGTH_NONE:
        break;
    }
    return "1";
}
