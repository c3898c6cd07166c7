/* SPDX-License-Identifier: MIT
 * Refused: what is not the YAML that is allowed, wrong keys, and wrong --set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "headspec.h"
#include "refused.h"

static const refused text_cases[] = {
    {"", {NULL}, "bad.yaml:1: found an empty file, allowed: a mapping with the keys task and layer"},
    {"# nothing but a comment\n",
     {NULL},
     "bad.yaml:1: found an empty file, allowed: a mapping with the keys task and layer"},
    {"---\n", {NULL}, "bad.yaml:1: found an empty file, allowed: a mapping with the keys task and layer"},
    {"5\n", {NULL}, "bad.yaml:1: found 5, allowed: a mapping with the keys task and layer"},
    {"- task\n- layer\n", {NULL}, "bad.yaml:1: found a list of 2, allowed: a mapping with the keys task and layer"},
    {"\"\"\n", {NULL}, "bad.yaml:1: found an empty file, allowed: a mapping with the keys task and layer"},
    {"task:\n\011tokens: 5\n", {NULL}, "bad.yaml:2: found a tab, allowed: spaces"},
    {"task: \001\n", {NULL}, "bad.yaml:1: found the control character 0x01, allowed: UTF-8 text"},
    {"task:\n  tokens: \377\n", {NULL}, "bad.yaml:2: found the byte 0xff, allowed: UTF-8 text"},
    {"task:\n  tokens: \300\200\n", {NULL}, "bad.yaml:2: found the byte 0xc0, allowed: UTF-8 text"},
    {"task:\n  tokens: \355\240\200\n", {NULL}, "bad.yaml:2: found the byte 0xed, allowed: UTF-8 text"},
    {"task:\n  tokens: \342\202", {NULL}, "bad.yaml:2: found the byte 0xe2, allowed: UTF-8 text"},
    {"# \364\220\200\200\n", {NULL}, "bad.yaml:1: found the byte 0xf4, allowed: UTF-8 text"},
    {"# a\n\302\206: 5\n", {NULL}, "bad.yaml:2: found the character U+0086, allowed: printable text"},
    {"task:\n  tokens: \"5\\0\"\n",
     {NULL},
     "bad.yaml:2: found an escaped NUL character, allowed: mappings, lists and scalars without it"},
    {"\"ta\\0sk\": 5\n",
     {NULL},
     "bad.yaml:1: found an escaped NUL character, allowed: mappings, lists and scalars without it"},
    {"task: [1, 2\n", {NULL}, "bad.yaml:2: column 1: found text that is not YAML: ..."},
    {"task:\n  tokens: 5\n dimension: 4\n", {NULL}, "bad.yaml:3: column 2: found text that is not YAML: ..."},
    {"task: {a: b\nlayer: 3\n", {NULL}, "bad.yaml:2: column 6: found text that is not YAML: ..."},
    {"task: 'open\n", {NULL}, "bad.yaml:2: column 1: found text that is not YAML: ..."},
    {"task: tokens: 5\n", {NULL}, "bad.yaml:1: column 13: found text that is not YAML: ..."},
    {GOOD "---\n", {NULL}, "bad.yaml:7: found a second document, allowed: one"},
    {GOOD "...\n---\n5\n", {NULL}, "bad.yaml:8: found a second document, allowed: one"},
    {"%YAML 1.1\n---\n" GOOD,
     {NULL},
     "bad.yaml:1: found a directive (%), allowed: mappings, lists and scalars without it"},
    {"%TAG ! tag:x,2000:\n---\n" GOOD,
     {NULL},
     "bad.yaml:1: found a directive (%), allowed: mappings, lists and scalars without it"},
    {"task: &a\n  tokens: 5\n",
     {NULL},
     "bad.yaml:1: found an anchor (&), allowed: mappings, lists and scalars without it"},
    {TASK "layer: *a\n", {NULL}, "bad.yaml:5: found an alias (*), allowed: mappings, lists and scalars without it"},
    {"task: &a {tokens: 5}\nlayer: *a\n",
     {NULL},
     "bad.yaml:1: found an anchor (&), allowed: mappings, lists and scalars without it"},
    {HEADS("&a 3"), {NULL}, "bad.yaml:6: found an anchor (&), allowed: mappings, lists and scalars without it"},
    {"task: !!map {tokens: 5}\n",
     {NULL},
     "bad.yaml:1: found a tag (!), allowed: mappings, lists and scalars without it"},
    {HEADS("!!int 3"), {NULL}, "bad.yaml:6: found a tag (!), allowed: mappings, lists and scalars without it"},
    {HEADS("! 3"), {NULL}, "bad.yaml:6: found a tag (!), allowed: mappings, lists and scalars without it"},
    {HEADS("!x 3"), {NULL}, "bad.yaml:6: found a tag (!), allowed: mappings, lists and scalars without it"},
    {SIGNAL("! {kind: flipped, strength: 4}"),
     {NULL},
     "bad.yaml:4: found a tag (!), allowed: mappings, lists and scalars without it"},
    {GOOD "layer:\n  heads: 4\n", {NULL}, "bad.yaml:7: found the key layer twice (before on line 5), allowed: once"},
    {LAYER("heads: 3\n  heads: 4"), {NULL}, "bad.yaml:7: found the key heads twice (before on line 6), allowed: once"},
    {LAYER("heads: 3\n  \"heads\": 4"),
     {NULL},
     "bad.yaml:7: found the key heads twice (before on line 6), allowed: once"},
    {SIGNAL("{kind: flipped, strength: 4, strength: 9}"),
     {NULL},
     "bad.yaml:4: found the key strength twice (before on line 4), allowed: once"},
    {"? [a, b]\n: 5\n", {NULL}, "bad.yaml:1: found a list as a key, allowed: plain keys"},
    {"? {a: b}\n: 5\n", {NULL}, "bad.yaml:1: found a mapping as a key, allowed: plain keys"},
    {"task: [[[[[[[[[1]]]]]]]]]\n", /* ten levels: deep enough to be read */
     {NULL},
     "bad.yaml:1: task: found a list of 1, allowed: a mapping with the keys tokens, dimension, signal"},
    {"task: [[[[[[[[[[1]]]]]]]]]]\n",
     {NULL},
     "bad.yaml:1: found nesting deeper than 10 levels, allowed: at most that many"},
    {"task: [[[[[[[[[[[[1]]]]]]]]]]]]\n",
     {NULL},
     "bad.yaml:1: found nesting deeper than 10 levels, allowed: at most that many"},
    {"task: [{a: [{a: [{a: [{a: [{a: [{a: 1}]}]}]}]}]}]\n",
     {NULL},
     "bad.yaml:1: found nesting deeper than 10 levels, allowed: at most that many"},
    {"<<: {a: b}\n" GOOD, {NULL}, "bad.yaml:1: <<: found an unknown key, allowed: task, layer, training, theory"},
};

static const refused key_cases[] = {
    {"layer:\n  heads: 3\n",
     {NULL},
     "bad.yaml:1: task: found nothing, allowed: a mapping with the keys tokens, dimension, signal (required)"},
    {TASK,
     {NULL},
     "bad.yaml:1: layer: found nothing, allowed: a mapping with the keys heads, activation, bias, scale (required)"},
    {"{}\n",
     {NULL},
     "bad.yaml:1: task: found nothing, allowed: a mapping with the keys tokens, dimension, signal (required)"},
    {"task: {}\nlayer: {heads: 3}\n",
     {NULL},
     "bad.yaml:1: task.tokens: found nothing, allowed: a whole number from 2 to 65536 (required)"},
    {TASK "layer: {}\n",
     {NULL},
     "bad.yaml:5: layer.heads: found nothing, allowed: a whole number from 1 to 4096 (required)"},
    {TASK "layer:\n",
     {NULL},
     "bad.yaml:5: layer: found nothing, allowed: a mapping with the keys heads, activation, bias, scale"},
    {TASK "layer: 3\n",
     {NULL},
     "bad.yaml:5: layer: found 3, allowed: a mapping with the keys heads, activation, bias, scale"},
    {TASK "layer: [heads, 3]\n",
     {NULL},
     "bad.yaml:5: layer: found a list of 2, allowed: a mapping with the keys heads, activation, bias, scale"},
    {"task:\n  tokens: 5\nlayer: {heads: 3}\n",
     {NULL},
     "bad.yaml:2: task.signal: found nothing, allowed: a mapping with the keys kind, strength, probability, mean, "
     "variance, points, weights (required)"},
    {"task:\n  signal: {kind: flipped, strength: 4}\nlayer: {heads: 3}\n",
     {NULL},
     "bad.yaml:2: task.tokens: found nothing, allowed: a whole number from 2 to 65536 (required)"},
    {GOOD "trainning:\n  time: 4\n",
     {NULL},
     "bad.yaml:7: trainning: found an unknown key, allowed: task, layer, training, theory; did you mean training?"},
    {TRAINING("tme: 4"),
     {NULL},
     "bad.yaml:8: training.tme: found an unknown key, allowed: engine, loss, noise, learning_rate, batch, time, seeds, "
     "seed, records, record_spacing, init; did you mean time?"},
    {TRAINING("learning-rate: 4"),
     {NULL},
     "bad.yaml:8: training.learning-rate: found an unknown key, allowed: engine, loss, noise, learning_rate, batch, "
     "time, seeds, seed, records, record_spacing, init; did you mean learning_rate?"},
    {TRAINING("heads: 4"),
     {NULL},
     "bad.yaml:8: training.heads: found an unknown key, allowed: engine, loss, noise, learning_rate, batch, time, "
     "seeds, seed, records, record_spacing, init; did you mean layer.heads?"},
    {LAYER("heads: 3\n  tokens: 5"),
     {NULL},
     "bad.yaml:7: layer.tokens: found an unknown key, allowed: heads, activation, bias, scale; did you mean "
     "task.tokens?"},
    {LAYER("heads: 3\n  zzzzzz: 5"),
     {NULL},
     "bad.yaml:7: layer.zzzzzz: found an unknown key, allowed: heads, activation, bias, scale"},
    {LAYER("heads: 3\n  \"\\e[31mred\": 5"),
     {NULL},
     "bad.yaml:7: layer.\\x1b[31mred: found an unknown key, allowed: heads, activation, bias, scale"},
    {LAYER("heads: 3\n  5: 5"),
     {NULL},
     "bad.yaml:7: layer.5: found an unknown key, allowed: heads, activation, bias, scale"},
    {LAYER("heads: 3\n  \"\": 5"),
     {NULL},
     "bad.yaml:7: layer.: found an unknown key, allowed: heads, activation, bias, scale"},
    {LAYER("heads: 3\n  kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 5"),
     {NULL},
     "bad.yaml:7: layer.kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...: found an "
     "unknown key, allowed: heads, activation, bias, scale"},
    {LAYER("heads: 3\n  \303\274: 5"),
     {NULL},
     "bad.yaml:7: layer.\303\274: found an unknown key, allowed: heads, activation, bias, scale"},
    {GOOD "training:\n",
     {NULL},
     "bad.yaml:7: training: found nothing, allowed: a mapping with the keys engine, loss, noise, learning_rate, batch, "
     "time, seeds, seed, records, record_spacing, init"},
    {TRAINING("init: random"),
     {NULL},
     "bad.yaml:8: training.init: found random, allowed: a mapping with the keys kind, scale, alignment, residual"},
    {LAYER("heads: 3\n  bias: 0"),
     {NULL},
     "bad.yaml:7: layer.bias: found 0, allowed: a mapping with the keys init, train, per_head"},
    {LAYER("heads: 3\n  bias: {kind: 1}"),
     {NULL},
     "bad.yaml:7: layer.bias.kind: found an unknown key, allowed: init, train, per_head"},
    {LAYER("heads: 3\n  activation: bayes\n  scale: {trian: false}"),
     {NULL},
     "bad.yaml:8: layer.scale.trian: found an unknown key, allowed: init, train; did you mean train?"},
};

static const refused set_cases[] = {
    {GOOD, {"task.tokens"}, "--set task.tokens: found no \"=\", allowed: PATH=VALUE, such as training.time=200"},
    {GOOD,
     {"task.tokens="},
     "--set task.tokens: found nothing after \"=\", allowed: a YAML value, such as training.time=200"},
    {GOOD,
     {"task.tokens= # nothing"},
     "--set task.tokens: found nothing after \"=\", allowed: a YAML value, such as training.time=200"},
    {GOOD,
     {"=5"},
     "--set =5: found an empty name in the path, allowed: names with points between them, such as training.time"},
    {GOOD,
     {".tokens=5"},
     "--set .tokens: found an empty name in the path, allowed: names with points between them, such as training.time"},
    {GOOD,
     {"task.=5"},
     "--set task.: found an empty name in the path, allowed: names with points between them, such as training.time"},
    {GOOD,
     {"task..tokens=5"},
     "--set task..tokens: found an empty name in the path, allowed: names with points between them, such as "
     "training.time"},
    {GOOD, {"task.tokens=1"}, "--set task.tokens: found 1, allowed: a whole number from 2 to 65536"},
    {GOOD,
     {"task.tokns=5"},
     "--set task.tokns: found an unknown key, allowed: tokens, dimension, signal; did you mean tokens?"},
    {GOOD,
     {"tokens=5"},
     "--set tokens: found an unknown key, allowed: task, layer, training, theory; did you mean task.tokens?"},
    {GOOD,
     {"task.tokens.x=5"},
     "--set task.tokens.x: found x in the path below the single value 5, allowed there: nothing"},
    {GOOD, {"task.tokens=[1"}, "--set task.tokens: column 1: found text that is not YAML: ..."},
    {GOOD,
     {"task.tokens=&a 5"},
     "--set task.tokens: found an anchor (&), allowed: mappings, lists and scalars without it"},
    {GOOD,
     {"task.tokens=!!int 5"},
     "--set task.tokens: found a tag (!), allowed: mappings, lists and scalars without it"},
    {GOOD, {"task.tokens=5\n---\n6"}, "--set task.tokens: found a second document, allowed: one"},
    {GOOD,
     {"task.tokens=*a"},
     "--set task.tokens: found an alias (*), allowed: mappings, lists and scalars without it"},
    {GOOD, {"task.tokens=\0115"}, "--set task.tokens: found a tab, allowed: spaces"},
    {GOOD, {"task.tokens=\377"}, "--set task.tokens: found the byte 0xff, allowed: UTF-8 text"},
    {GOOD,
     {"task.tokens='5'"},
     "--set task.tokens: found \"5\", allowed: a whole number from 2 to 65536, without quotes"},
    {GOOD,
     {"task.signal={kind: flipped, strenght: 4}"},
     "--set task.signal: task.signal.strenght: found an unknown key, allowed: kind, strength, probability, mean, "
     "variance, points, weights; did you mean strength?"},
    {GOOD,
     {"task.signal={kind: gaussian}"},
     "--set task.signal: task.signal.mean: found nothing, allowed: a list of F numbers from -1000 to 1000 (required)"},
    {GOOD,
     {"task.signal.kind=gaussian"},
     "bad.yaml:4: task.signal.strength: found a key of kind flipped, allowed for kind gaussian: kind, mean, variance"},
    {GOOD,
     {"task.signal.mean=[1]"},
     "--set task.signal.mean: found a key of kind gaussian, allowed for kind flipped: kind, strength, probability"},
    {GOOD, {"task=5"}, "--set task: found 5, allowed: a mapping with the keys tokens, dimension, signal"},
    {GOOD, {"task.tokens={a: 1, a: 2}"}, "--set task.tokens: found the key a twice (before on line 1), allowed: once"},
    {GOOD,
     {"layer.heads=1000"},
     "bad.yaml:3: task.dimension: found 100, allowed: a whole number of at least 1001 (F + H: 1 features and 1000 "
     "heads)"},
    {GOOD,
     {"training.init={kind: aligned}"},
     "--set training.init: training.init.alignment: found nothing, allowed: a list of H rows of F numbers from -1000 "
     "to 1000 (required)"},
    {GOOD,
     {"training.init.alignment.0.0=1"},
     "--set training.init.alignment.0.0: training.init.alignment: found a key of kind aligned, allowed for kind "
     "random: kind, scale"},
    {GOOD,
     {"training.records=1e6"},
     "--set training.records: found 1000000, allowed: at most 10000, the number of steps (training.time times "
     "task.dimension)"},
    {GOOD,
     {"a.b.c.d.e.f.g.h.i.j.k=1"},
     "--set a.b.c.d.e.f.g.h.i.j.k: found a path of more than 10 names, allowed: at most that many"},
    {GOOD,
     {"task.dimension=3"},
     "--set task.dimension: found 3, allowed: a whole number of at least 4 (F + H: 1 features and 3 heads)"},
    {GOOD,
     {"task.signal.strength.0=1"},
     "--set task.signal.strength.0: found 0 in the path below the single value 4.0, allowed there: nothing"},
    {GOOD,
     {"training.init.alignment=[[1], [2]]"},
     "--set training.init.alignment: found a key of kind aligned, allowed for kind random: kind, scale"},
    {ALIGNED,
     {"training.init.alignment.3.0=1"},
     "--set training.init.alignment.3.0: found 3 in the path, allowed there: an index from 0 to 2 of a list"},
    {ALIGNED,
     {"training.init.alignment.x.0=1"},
     "--set training.init.alignment.x.0: found x in the path, allowed there: an index from 0 to 2 of a list"},
    {ALIGNED,
     {"training.init.alignment.0.1=1"},
     "--set training.init.alignment.0.1: found 1 in the path, allowed there: an index from 0 to 0 of a list"},
    {ALIGNED,
     {"training.init.alignment.0.0=x"},
     "--set training.init.alignment.0.0: found x, allowed: a number from -1000 to 1000"},
    {ALIGNED,
     {"training.init.alignment.0=1"},
     "--set training.init.alignment.0: found 1, allowed: a list of F numbers"},
    {ALIGNED,
     {"training.init.alignment.-1=1"},
     "--set training.init.alignment.-1: found -1 in the path, allowed there: an index from 0 to 2 of a list"},
    {ALIGNED,
     {"training.init.residual=[[1, 0, 0], [0, 1, 0], [0, 0, -1]]"},
     "--set training.init.residual: found a matrix with a negative eigenvalue, allowed: a positive semidefinite "
     "matrix"},
    {GOOD,
     {"task.tokens=6", "layer.heads=0", "task.tokens=7"},
     "--set layer.heads: found 0, allowed: a whole number from 1 to 4096"},
};

#define CHECK(cases) refused_check(cases, sizeof(cases) / sizeof(cases)[0])

static void refuses_text(void **state)
{
    (void)state;
    CHECK(text_cases);
}

static void refuses_keys(void **state)
{
    (void)state;
    CHECK(key_cases);
}

static void refuses_sets(void **state)
{
    (void)state;
    CHECK(set_cases);
}

static void refuses_size(void **state)
{
    (void)state;
    const size_t limit = (size_t)1 << 20;
    const char head[] = GOOD;
    char *text = malloc(limit + 1);
    assert_non_null(text);
    for (size_t i = 0; i <= limit; i++) {
        text[i] = i < sizeof head - 1 ? head[i] : '#';
    }
    hspec_experiment *experiment = NULL;
    hspec_error err;
    assert_int_equal(hspec_experiment_parse(text, limit + 1, "bad.yaml", NULL, 0, &experiment, &err), HSPEC_ECONFIG);
    assert_string_equal(err.message, "bad.yaml: found more than 1048576 bytes, allowed: at most that many");
    assert_int_equal(hspec_experiment_parse(text, limit, "bad.yaml", NULL, 0, &experiment, &err), HSPEC_OK);
    hspec_experiment_free(experiment);
    free(text);
}

static void refuses_nul(void **state)
{
    (void)state;
    const char text[] = "task:\n  tok\0ens: 5\n";
    hspec_experiment *experiment = NULL;
    hspec_error err;
    assert_int_equal(hspec_experiment_parse(text, sizeof text - 1, "bad.yaml", NULL, 0, &experiment, &err),
                     HSPEC_ECONFIG);
    assert_string_equal(err.message, "bad.yaml:2: found a NUL byte, allowed: UTF-8 text");
    assert_null(experiment);
}

static void refuses_many_keys(void **state)
{
    (void)state;
    char text[1024] = "";
    size_t used = 0;
    for (int i = 0; i < 78; i++) {
        const char line[] = {(char)('a' + i / 3), (char)('a' + i % 3), ':', ' ', '1', '\n'};
        memcpy(text + used, line, sizeof line);
        used += sizeof line;
    }
    hspec_experiment *experiment = NULL;
    hspec_error err;
    assert_int_equal(hspec_experiment_parse(text, used, "bad.yaml", NULL, 0, &experiment, &err), HSPEC_ECONFIG);
    assert_string_equal(err.message, "bad.yaml:65: found more than 64 keys in one mapping, allowed: at most that many");
    assert_int_equal(hspec_experiment_parse(text, 64 * 6, "bad.yaml", NULL, 0, &experiment, &err), HSPEC_ECONFIG);
    assert_string_equal(err.message, "bad.yaml:1: aa: found an unknown key, allowed: task, layer, training, theory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_text), cmocka_unit_test(refuses_keys), cmocka_unit_test(refuses_sets),
        cmocka_unit_test(refuses_size), cmocka_unit_test(refuses_nul),  cmocka_unit_test(refuses_many_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
