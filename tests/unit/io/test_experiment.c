/* SPDX-License-Identifier: MIT
 * Good experiments: every field, the defaults, --set, and the way back to YAML. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "headspec.h"
#include "refused.h"
#include "same.h"

static hspec_experiment *parse_sets(const char *text, const char *const *sets, size_t n_sets)
{
    hspec_experiment *experiment = NULL;
    hspec_error err = {.message = ""};
    if (hspec_experiment_parse(text, strlen(text), "folder/name.of.yaml", sets, n_sets, &experiment, &err) !=
        HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    return experiment;
}

static hspec_experiment *parse(const char *text)
{
    return parse_sets(text, NULL, 0);
}

static void assert_list(const double *found, const double *expected, size_t n)
{
    assert_non_null(found);
    assert_memory_equal(found, expected, n * sizeof *found);
}

static void reads_every_field(void **state)
{
    (void)state;
    const char *text = "task:\n"
                       "  tokens: 7\n"
                       "  dimension: 1e6\n"
                       "  signal: {kind: gaussian, mean: [1.5, 0, -.5], variance: [0, 9, 3e0]}\n"
                       "layer:\n"
                       "  heads: 2\n"
                       "  activation: softmax1\n"
                       "  bias: {init: -0.5, train: false, per_head: true}\n"
                       "  scale: {init: 2, train: false}\n"
                       "training:\n"
                       "  engine: explicit\n"
                       "  loss: token\n"
                       "  noise: single\n"
                       "  learning_rate: 0.25\n"
                       "  batch: 16\n"
                       "  time: 12.5\n"
                       "  seeds: 3\n"
                       "  seed: 18446744073709551615\n"
                       "  records: 10\n"
                       "  record_spacing: log\n"
                       "  init:\n"
                       "    kind: aligned\n"
                       "    alignment: [[0.1, 0.2, 0.3],\n"
                       "                [-1, -2, -3]]\n"
                       "    residual: [[2, -1], [-1, 1]]\n"
                       "theory:\n"
                       "  limit: flow\n"
                       "  start: {alignment: [[1, 2, 3], [4, 5, 6]], residual: 0.5}\n"
                       "  nodes: 1e5\n"
                       "  tolerance: 1e-9\n";
    hspec_experiment *e = parse(text);
    assert_string_equal(e->name, "name.of");
    assert_string_equal(e->yaml, text);
    assert_int_equal(e->signal.kind, HSPEC_SIGNAL_GAUSSIAN);
    assert_int_equal(e->signal.features, 3);
    assert_list(e->signal.mean, (const double[]){1.5, 0, -0.5}, 3);
    assert_list(e->signal.variance, (const double[]){0, 9, 3}, 3);
    assert_int_equal(e->task.tokens, 7);
    assert_int_equal(e->task.dimension, 1000000);
    assert_null(e->task.signal);
    assert_null(e->task.spikes);
    assert_int_equal(e->layer.heads, 2);
    assert_int_equal(e->layer.activation, HSPEC_SOFTMAX1);
    assert_true(e->layer.bias_init == -0.5);
    assert_int_equal(e->layer.bias_train, 0);
    assert_int_equal(e->layer.bias_per_head, 1);
    assert_true(e->layer.scale_init == 2);
    assert_int_equal(e->layer.scale_train, 0);
    assert_int_equal(e->training.engine, HSPEC_ENGINE_EXPLICIT);
    assert_int_equal(e->training.loss, HSPEC_LOSS_TOKEN);
    assert_int_equal(e->training.noise, HSPEC_NOISE_SINGLE);
    assert_true(e->training.learning_rate == 0.25);
    assert_int_equal(e->training.batch, 16);
    assert_true(e->training.time == 12.5);
    assert_int_equal(e->training.seeds, 3);
    assert_true(e->training.seed == UINT64_MAX);
    assert_int_equal(e->training.records, 10);
    assert_int_equal(e->training.spacing, HSPEC_SPACING_LOG);
    assert_int_equal(e->training.init.kind, HSPEC_INIT_ALIGNED);
    assert_list(e->training.init.alignment, (const double[]){0.1, 0.2, 0.3, -1, -2, -3}, 6);
    assert_list(e->training.init.residual, (const double[]){2, -1, -1, 1}, 4);
    assert_int_equal(e->theory.limit, HSPEC_LIMIT_FLOW);
    assert_int_equal(e->theory.start_kind, HSPEC_START_GIVEN);
    assert_int_equal(e->theory.start.kind, HSPEC_INIT_ALIGNED);
    assert_list(e->theory.start.alignment, (const double[]){1, 2, 3, 4, 5, 6}, 6);
    assert_null(e->theory.start.residual);
    assert_true(e->theory.start.residual_diagonal == 0.5);
    assert_int_equal(e->theory.nodes, 100000);
    assert_true(e->theory.tolerance == 1e-9);
    assert_int_equal(e->unused_count, 0);
    hspec_experiment_free(e);
}

static void reads_signals(void **state)
{
    (void)state;
    hspec_experiment *e = parse(SIGNAL("{kind: flipped, strength: 4.0, probability: 0.7}"));
    assert_int_equal(e->signal.kind, HSPEC_SIGNAL_FLIPPED);
    assert_int_equal(e->signal.features, 1);
    assert_true(e->signal.strength == 4 && e->signal.probability == 0.7);
    hspec_experiment_free(e);

    e = parse(SIGNAL("{kind: discrete, points: [[3, 0], [0, 3], [1, 1]], weights: [0.5, 0.25, 0.25]}"));
    assert_int_equal(e->signal.kind, HSPEC_SIGNAL_DISCRETE);
    assert_int_equal(e->signal.features, 2);
    assert_int_equal(e->signal.points, 3);
    assert_list(e->signal.theta, (const double[]){3, 0, 0, 3, 1, 1}, 6);
    assert_list(e->signal.weights, (const double[]){0.5, 0.25, 0.25}, 3);
    hspec_experiment_free(e);

    e = parse(SIGNAL("{kind: discrete, points: [[3]]}"));
    assert_int_equal(e->signal.features, 1);
    assert_int_equal(e->signal.points, 1);
    assert_null(e->signal.weights);
    hspec_experiment_free(e);

    e = parse(SIGNAL("{kind: discrete, points: [[1], [2]], weights: [0.3, 0.7000005]}")); /* within 1e-6 */
    hspec_experiment_free(e);
}

/* The defaults of the header, wherever they come from. */
static void fills_defaults(void **state)
{
    (void)state;
    hspec_experiment *e = parse("task: {tokens: 2, signal: {kind: flipped, strength: 1}}\nlayer: {heads: 5}\n");
    assert_int_equal(e->task.dimension, 1000);
    assert_true(e->signal.probability == 0.5);
    hspec_experiment expected = *e;
    expected.layer = hspec_layer_default(5);
    expected.training = hspec_training_default();
    assert_null(same_difference(e, &expected));
    assert_int_equal(e->training.records, 200);
    assert_int_equal(e->theory.limit, HSPEC_LIMIT_SGD);
    assert_int_equal(e->theory.start_kind, HSPEC_START_SEED);
    assert_int_equal(e->theory.start_seed, 1);
    assert_int_equal(e->theory.nodes, 16384);
    assert_true(e->theory.tolerance == 1e-6);
    hspec_experiment_free(e);
}

static void assert_unused(hspec_experiment *e, const char *first, const char *second)
{
    assert_int_equal(e->unused_count, (first != NULL) + (second != NULL));
    if (first) {
        assert_string_equal(e->unused[0], first);
    }
    if (second) {
        assert_string_equal(e->unused[1], second);
    }
    hspec_experiment_free(e);
}

static void lists_unused(void **state)
{
    (void)state;
#define BOTH(activation)                                                                                               \
    LAYER("heads: 3\n  activation: " activation "\n  bias: {init: 1, per_head: true}\n  scale: {train: false}")
    assert_unused(parse(GOOD), NULL, NULL);
    assert_unused(parse(BOTH("softmax")), "layer.bias", "layer.scale");
    assert_unused(parse(BOTH("softmax1")), NULL, NULL);
    assert_unused(parse(BOTH("bayes")), "layer.bias.per_head", "layer.scale");
    assert_unused(parse(TRAINING("noise: single")), "training.noise", NULL);
    assert_unused(parse(TRAINING("noise: single\n  engine: explicit")), NULL, NULL);
}

/* What is unused is read all the same: the file may be changed to another activation. */
static void keeps_unused_values(void **state)
{
    (void)state;
    hspec_experiment *e = parse(BOTH("softmax"));
    assert_true(e->layer.bias_init == 1);
    assert_int_equal(e->layer.scale_train, 0);
    hspec_experiment_free(e);
}

static void accepts_forms(void **state)
{
    (void)state;
    static const char *const good[] = {
        "---\n" GOOD,
        GOOD "...\n",
        "\xef\xbb\xbf" GOOD, /* a byte order mark */
        "task: {\"tokens\": 5, 'signal': {kind: \"flipped\", strength: 4}}\nlayer: {heads: 3}\n",
        "{task: {tokens: 5, signal: {kind: flipped, strength: 4}}, layer: {heads: 3}}",
        "# caf\xc3\xa9 \xf0\x9f\x99\x82\r\ntask:\r\n  tokens: 5\r\n  signal: {kind: flipped, strength: "
        "4}\r\nlayer:\r\n  heads: 3\r\n",
        TRAINING("init: {}"),
        TRAINING("init: {kind: random}"),
        TRAINING("init: {scale: 0}"),
        THEORY("start: {}"),
        GOOD "training: {}\ntheory: {}\n",
        TOKENS("5.0"),
        TOKENS("+5"),
        TOKENS("5e0"),
        TOKENS("0.5e1"),
        TOKENS("50e-1"),
        DIMENSION("4"),
        DIMENSION("1e12"),
        DIMENSION("1e12\n"),
        HEADS("99"),
        SIGNAL("{kind: flipped, strength: 4, probability: 0}"),
        SIGNAL("{kind: flipped, strength: 4, probability: 1}"),
        TRAINING("time: 1\n  records: 100"),
        TRAINING("time: 9.007199254740992e13"),
        TRAINING("init: {kind: aligned, alignment: [[0], [0], [0]], residual: [[1, 1, 1], [1, 1, 1], [1, 1, 1]]}"),
        TRAINING("init: {kind: aligned, alignment: [[0], [0], [0]], residual: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]}"),
        TRAINING("init: {kind: aligned, alignment: [[0], [0], [0]], residual: [[4, 2, 0], [2, 1, 0], [0, 0, 1e-300]]}"),
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        hspec_experiment *e = parse(good[i]);
        assert_int_equal(e->task.tokens, 5);
        assert_string_equal(e->yaml, good[i]);
        hspec_experiment_free(e);
    }
}

/* ---- --set ------------------------------------------------------------------------------------------------------- */

#define SETS(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static void sets_values(void **state)
{
    (void)state;
    hspec_experiment *e = parse_sets(GOOD, SETS("task.tokens=6", "layer.heads=2", "task.tokens=7"));
    assert_int_equal(e->task.tokens, 7);
    assert_int_equal(e->layer.heads, 2);
    hspec_experiment_free(e);

    /* A value below a mapping merges, a mapping replaces. */
    const char *text = SIGNAL("{kind: flipped, strength: 4.0, probability: 0.7}");
    e = parse_sets(text, SETS("task.signal.strength=9"));
    assert_true(e->signal.strength == 9 && e->signal.probability == 0.7);
    hspec_experiment_free(e);
    e = parse_sets(text, SETS("task.signal={kind: flipped, strength: 9}"));
    assert_true(e->signal.strength == 9 && e->signal.probability == 0.5);
    hspec_experiment_free(e);
    e = parse_sets(text, SETS("task.signal={kind: gaussian, mean: [1, 2], variance: [3, 4]}", "task.signal.mean.1=5"));
    assert_int_equal(e->signal.features, 2);
    assert_list(e->signal.mean, (const double[]){1, 5}, 2);
    hspec_experiment_free(e);

    /* Sections that are missing are made. */
    e = parse_sets(GOOD, SETS("training.init.scale=0.5", "theory.start.seed=2", "layer.bias.train=false"));
    assert_true(e->training.init.scale == 0.5);
    assert_int_equal(e->theory.start_seed, 2);
    assert_int_equal(e->layer.bias_train, 0);
    assert_unused(e, "layer.bias", NULL);

    e = parse_sets("{}", SETS("layer={heads: 3}", "task={tokens: 5}", "task.signal={kind: flipped, strength: 4}"));
    assert_int_equal(e->layer.heads, 3);
    hspec_experiment_free(e);

    e = parse_sets(ALIGNED, SETS("training.init.alignment.1.0=0.5", "training.init.alignment.2=[0.25]"));
    assert_list(e->training.init.alignment, (const double[]){0.1, 0.5, 0.25}, 3);
    hspec_experiment_free(e);

    /* The value may hold "=", and blanks around it do not matter. */
    e = parse_sets(GOOD, SETS("training.time= 25 # = a comment"));
    assert_true(e->training.time == 25);
    hspec_experiment_free(e);
}

/* What --set mends need not be good in the file. */
static void sets_mend(void **state)
{
    (void)state;
    hspec_experiment *e = parse_sets(TRAINING("time: soon"), SETS("training.time=3"));
    assert_true(e->training.time == 3);
    hspec_experiment_free(e);
}

/* The text after --set gives the same experiment, and so does the text after that. */
static void goes_round(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        const char *sets[3];
    } cases[] = {
        {GOOD, {"training.time=1e2"}},
        {GOOD, {"training={}"}},
        {GOOD, {"training.seed=18446744073709551615", "training.learning_rate=0.1", "layer.activation='bayes'"}},
        {GOOD, {"task.signal={kind: discrete, points: [[3.10, 0], [.5, 3e-1]], weights: [0.30, 0.7]}"}},
        {SIGNAL("{kind: gaussian, mean: [0.1, 0.2, 0.30000000000000004], variance: [1, 2, 3]}"), {"task.tokens=+3"}},
        {ALIGNED,
         {"training.init.residual=[[1, 0, 0], [0, 1, 0], [0, 0, 1e-3]]", "training.init.alignment.0.0=1e-320"}},
        {ALIGNED, {"theory.start={alignment: [[0.1], [0.0], [-0.1]], residual: 1e-2}"}},
        {LAYER("heads: 3\n  activation: bayes\n  bias: {init: 1, per_head: true}\n  scale: {train: false}"),
         {"layer.bias.train=false"}},
        {"{\"task\": {'tokens': 5, signal: {kind: \"flipped\",\n strength: 4}}, layer: {heads: 3}}",
         {"training.records=10", "layer.scale.init=-1.50"}},
        {"\xef\xbb\xbf" GOOD, {"training.time=2"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = 0;
        while (n < 3 && cases[i].sets[n]) {
            n++;
        }
        hspec_experiment *first = parse_sets(cases[i].yaml, cases[i].sets, n);
        hspec_experiment *second = parse(first->yaml);
        const char *difference = same_difference(first, second);
        if (difference) {
            fail_msg("case %zu: %s differs in\n%s", i, difference, first->yaml);
        }
        assert_string_equal(second->yaml, first->yaml);
        hspec_experiment *third = parse_sets(first->yaml, cases[i].sets, n);
        assert_string_equal(third->yaml, first->yaml);
        hspec_experiment_free(first);
        hspec_experiment_free(second);
        hspec_experiment_free(third);
    }
}

static void keeps_literal_text(void **state)
{
    (void)state;
    hspec_experiment *e = parse_sets("task: {tokens: 5, dimension: 1e3, signal: {kind: \"flipped\", strength: 4.00}}\n"
                                     "layer:\n  heads: 3 # three\n",
                                     SETS("training.learning_rate=0.10", "theory.tolerance=1.0e-7"));
    assert_string_equal(e->yaml, "task: {tokens: 5, dimension: 1e3, signal: {kind: \"flipped\", strength: 4.00}}\n"
                                 "layer:\n  heads: 3\n"
                                 "training:\n  learning_rate: 0.10\n"
                                 "theory:\n  tolerance: 1.0e-7\n");
    hspec_experiment_free(e);
}

/* ---- Files and arguments ----------------------------------------------------------------------------------------- */

static void names_experiment(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"two_phases.yaml", "two_phases"}, {"/a.b/c", "c"},    {"./x.y.yml", "x.y"}, {".yaml", ".yaml"},
        {"folder/", "experiment"},         {"", "experiment"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hspec_experiment *e = NULL;
        assert_int_equal(hspec_experiment_parse(GOOD, strlen(GOOD), cases[i][0], NULL, 0, &e, NULL), HSPEC_OK);
        assert_string_equal(e->name, cases[i][1]);
        hspec_experiment_free(e);
    }
}

static void loads_files(void **state)
{
    (void)state;
    const char *path = "test_experiment_file.yaml";
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(GOOD, file) >= 0);
    assert_int_equal(fclose(file), 0);
    hspec_experiment *e = NULL;
    hspec_error err;
    assert_int_equal(hspec_experiment_load(path, NULL, 0, &e, &err), HSPEC_OK);
    assert_string_equal(e->name, "test_experiment_file");
    assert_string_equal(e->yaml, GOOD);
    hspec_experiment_free(e);
    e = NULL;
    const char *const sets[] = {"layer.heads=1e9"};
    assert_int_equal(hspec_experiment_load(path, sets, 1, &e, &err), HSPEC_ECONFIG);
    assert_string_equal(err.message, "--set layer.heads: found 1e9, allowed: a whole number from 1 to 4096");
    file = fopen(path, "wb"); /* empty now */
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(hspec_experiment_load(path, NULL, 0, &e, &err), HSPEC_ECONFIG);
    assert_string_equal(err.message, "test_experiment_file.yaml:1: found an empty file, allowed: a mapping with the "
                                     "keys task and layer");
    assert_int_equal(remove(path), 0);
    assert_int_equal(hspec_experiment_load(path, NULL, 0, &e, &err), HSPEC_EIO);
    assert_string_equal(err.message, "test_experiment_file.yaml: could not be opened: No such file or directory");
    assert_int_equal(hspec_experiment_load(".", NULL, 0, &e, &err), HSPEC_EIO);
    assert_string_equal(err.message, ".: could not be read: Is a directory");
    assert_int_equal(hspec_experiment_load("/dev/zero", NULL, 0, &e, &err), HSPEC_ECONFIG); /* not read for ever */
    assert_null(e);
}

/* The experiments of the repository are good, read in full, and say what to see and how to run them. */
static void shipped_experiments_are_good(void **state)
{
    (void)state;
    DIR *folder = opendir(HEADSPEC_SOURCE_DIR "/experiments");
    assert_non_null(folder);
    int files = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const char *extension = strrchr(entry->d_name, '.');
        if (!extension || strcmp(extension, ".yaml") != 0) {
            continue;
        }
        char text[1024];
        (void)snprintf(text, sizeof text, "%s/experiments/%s", HEADSPEC_SOURCE_DIR, entry->d_name);
        hspec_experiment *e = NULL;
        hspec_error err = {.message = ""};
        if (hspec_experiment_load(text, NULL, 0, &e, &err) != HSPEC_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(e->unused_count, 0);
        assert_non_null(strstr(e->yaml, "# What to see: "));
        (void)snprintf(text, sizeof text, "#   headspec train experiments/%s -o ", entry->d_name);
        assert_non_null(strstr(e->yaml, text));
        assert_non_null(strstr(e->yaml, "#   headspec plot "));
        hspec_experiment_free(e);
        files++;
    }
    assert_int_equal(closedir(folder), 0);
    assert_true(files >= 7);
}

static void refuses_null(void **state)
{
    (void)state;
    hspec_experiment *e = NULL;
    assert_int_equal(hspec_experiment_parse(NULL, 0, "x", NULL, 0, &e, NULL), HSPEC_EARG);
    assert_int_equal(hspec_experiment_parse("", 0, "x", NULL, 1, &e, NULL), HSPEC_EARG);
    assert_int_equal(hspec_experiment_parse("", 0, "x", NULL, 0, NULL, NULL), HSPEC_EARG);
    assert_int_equal(hspec_experiment_load(NULL, NULL, 0, &e, NULL), HSPEC_EARG);
    assert_null(e);
    hspec_experiment_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_field),
        cmocka_unit_test(reads_signals),
        cmocka_unit_test(fills_defaults),
        cmocka_unit_test(lists_unused),
        cmocka_unit_test(keeps_unused_values),
        cmocka_unit_test(accepts_forms),
        cmocka_unit_test(sets_values),
        cmocka_unit_test(sets_mend),
        cmocka_unit_test(goes_round),
        cmocka_unit_test(keeps_literal_text),
        cmocka_unit_test(names_experiment),
        cmocka_unit_test(loads_files),
        cmocka_unit_test(shipped_experiments_are_good),
        cmocka_unit_test(refuses_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
