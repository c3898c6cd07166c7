/* SPDX-License-Identifier: MIT
 * The experiment that a command line names, with its --set. */
#include "cli/load.h"

#include <stdlib.h>

#include "core/status.h"

hspec_status hspec_load_experiment(const hspec_arguments *arguments, hspec_experiment **experiment,
                                   hspec_signal **signal, hspec_error *err)
{
    const char **sets = NULL;
    size_t count = 0;
    HSPEC_TRY(hspec_options_list(arguments, "set", &sets, &count, err));
    hspec_experiment *loaded = NULL;
    hspec_status status = hspec_experiment_load(arguments->positional[0], sets, count, &loaded, err);
    free(sets);
    if (status != HSPEC_OK) {
        return status;
    }
    status = hspec_signal_create(&loaded->signal, signal, err);
    if (status != HSPEC_OK) {
        hspec_experiment_free(loaded);
        return hspec_error_prefix(err, status, "%s", arguments->positional[0]);
    }
    loaded->task.signal = *signal;
    *experiment = loaded;
    return HSPEC_OK;
}
