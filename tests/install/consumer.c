/* SPDX-License-Identifier: MIT
 * A program outside the project, built against an installed headspec: attention of one head over three tokens. */
#include <headspec.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    hspec_error err = {0};
    hspec_layer_params params = hspec_layer_default(1);
    hspec_layer *layer = NULL;
    double chi[3] = {0.0, log(3.0), log(6.0)}, a[3] = {0}, sum = 0.0;
    if (strcmp(hspec_status_version(), HSPEC_VERSION) != 0) {
        (void)fprintf(stderr, "header %s, library %s\n", HSPEC_VERSION, hspec_status_version());
        return 1;
    }
    if (hspec_layer_create(&params, 3, &layer, &err) != HSPEC_OK ||
        hspec_layer_attention(layer, chi, NULL, 1.0, a, &err) != HSPEC_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        hspec_layer_free(layer);
        return 1;
    }
    hspec_layer_free(layer);
    for (int l = 0; l < 3; l++) {
        sum += fabs(a[l] - (double[]){0.1, 0.3, 0.6}[l]);
    }
    (void)printf("%.3f %.3f %.3f\n", a[0], a[1], a[2]);
    return sum < 1e-12 ? 0 : 1;
}
