/* SPDX-License-Identifier: MIT
 * The table of all keys of an experiment file. It drives the reader, its messages, the defaults, `--help`, the
 * starting experiment of `headspec new` and the reference page: a new key is one row here. */
#ifndef HSPEC_IO_CONFIG_TABLE_H
#define HSPEC_IO_CONFIG_TABLE_H

#include <stddef.h>

#include "headspec.h"

typedef enum hspec_config_type {
    HSPEC_CONFIG_SECTION,  /* mapping of the rows below it */
    HSPEC_CONFIG_KINDS,    /* section whose key `kind` decides which of its rows are allowed */
    HSPEC_CONFIG_CHOICE,   /* section without `kind`: the keys that are there decide */
    HSPEC_CONFIG_SIZE,     /* size_t */
    HSPEC_CONFIG_SEED,     /* uint64_t */
    HSPEC_CONFIG_REAL,     /* double, finite */
    HSPEC_CONFIG_SWITCH,   /* int, true or false */
    HSPEC_CONFIG_NAME,     /* an enum, by name */
    HSPEC_CONFIG_VECTOR,   /* const double *, [columns] */
    HSPEC_CONFIG_MATRIX,   /* const double *, [rows][columns] */
    HSPEC_CONFIG_DIAGONAL, /* a number (times I) at `diagonal`, or a MATRIX */
} hspec_config_type;

/** Lengths that several keys share. The first key that is read sets one, the others must agree. */
typedef enum hspec_config_length {
    HSPEC_LENGTH_NONE,
    HSPEC_LENGTH_F, /* hidden features of the signal */
    HSPEC_LENGTH_K, /* support points of a discrete signal */
    HSPEC_LENGTH_H, /* heads */
} hspec_config_length;

typedef struct hspec_config_name {
    const char *name, *sentence;
} hspec_config_name;

typedef struct hspec_config_names {
    size_t count;
    const hspec_config_name *items; /* by value of the enum */
} hspec_config_names;

typedef struct hspec_config_row {
    const char *path; /* "task.tokens"; "" is the whole file */
    hspec_config_type type;
    const char *unit; /* NULL: a pure number */
    double low, high; /* range of a number, or of each number of a list */
    int low_open;     /* `low` itself is not allowed */
    int high_open;
    const char *fallback;            /* default as YAML; NULL: required, or a section, or see `absent` */
    const char *absent;              /* what leaving the key out means when no YAML value says it */
    const char *example;             /* YAML for the starting experiment and for messages, where there is no default */
    const char *sentence;            /* lower case, no full stop */
    const hspec_config_names *names; /* NAME, CHOICE */
    unsigned kinds;                  /* bits of the kinds of its section that read it; 0: all */
    unsigned activations;            /* bits of the activations that read it; 0: all */
    unsigned engines;                /* bits of the engines that read it; 0: all */
    hspec_config_length rows, columns;
    size_t offset;   /* in hspec_experiment */
    size_t diagonal; /* in hspec_experiment */
} hspec_config_row;

extern const hspec_config_row hspec_config_table_rows[];
extern const size_t hspec_config_table_count;

/** The row of a path, or NULL. */
const hspec_config_row *hspec_config_table_find(const char *path);
/** The next row directly below `section`, after `previous` (NULL: the first), or NULL. */
const hspec_config_row *hspec_config_table_next(const hspec_config_row *section, const hspec_config_row *previous);
/** The section that holds a row; NULL for the whole file. */
const hspec_config_row *hspec_config_table_parent(const hspec_config_row *row);
/** The last name of its path. */
const char *hspec_config_table_key(const hspec_config_row *row);
int hspec_config_table_is_section(const hspec_config_row *row);
/** Must it be there (for its kind)? A section must if it holds a required key. */
int hspec_config_table_required(const hspec_config_row *row);
/** Do the activation and the engine of the experiment read it? */
int hspec_config_table_read_by(const hspec_config_row *row, const hspec_experiment *experiment);
/** The names of the kinds of a KINDS or CHOICE section. */
const hspec_config_names *hspec_config_table_kinds(const hspec_config_row *section);
/** The range of each number of a MATRIX. That of a DIAGONAL holds for its single number; off the diagonal of its matrix
 *  there may be negative ones. */
void hspec_config_table_item_range(const hspec_config_row *row, double *low, double *high);
/** "F", "K", "H" or "1". */
const char *hspec_config_table_length(hspec_config_length length);

extern const hspec_config_names hspec_config_table_activations, hspec_config_table_signals, hspec_config_table_engines;

#endif
