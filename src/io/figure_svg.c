/* SPDX-License-Identifier: MIT */
#include "io/figure_svg.h"

#include <string.h>

#include "core/status.h"
#include "io/text.h"

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

hspec_status hspec_figure_svg_name(const char *path, const char *content, char **name, hspec_error *err)
{
    hspec_text text = {0};
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t length = dot ? (size_t)(dot - base) : strlen(base);
    hspec_text_add(&text, "%s", length > 0 && is_letter(base[0]) ? "" : "figure_"); /* an id starts with a letter */
    for (size_t i = 0; i < length; i++) {
        int allowed = is_letter(base[i]) || (base[i] >= '0' && base[i] <= '9'); /* gnuplot takes no '-' */
        hspec_text_append(&text, allowed ? base + i : "_", 1);
    }
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (const char *c = content; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    }
    hspec_text_add(&text, "_%08x", (unsigned)(hash ^ (hash >> 32)));
    *name = hspec_text_take(&text);
    return *name ? HSPEC_OK : hspec_error_memory(err, length + 20);
}

/* How many bytes of `svg` the text takes if it stands there, else 0. */
static size_t stands(const char *svg, size_t size, const char *text)
{
    size_t length = strlen(text);
    return length <= size && memcmp(svg, text, length) == 0 ? length : 0;
}

/* Where the id begins if `svg` begins with one of the ways in which gnuplot writes it, else 0. */
static size_t before_id(const char *svg, size_t size)
{
    static const char *const ways[] = {" id=\"", " id='", "href=\"#", "href='#", "url(#"};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        size_t length = stands(svg, size, ways[k]);
        if (length > 0) {
            return length;
        }
    }
    return 0;
}

hspec_status hspec_figure_svg_finish(const char *svg, size_t size, const char *name, char **bytes, size_t *new_size,
                                     hspec_error *err)
{
    hspec_text out = {0};
    size_t done = 0;
    int in_tag = 0; /* words of the figure are left alone */
    for (size_t i = 0; i < size; i++) {
        in_tag = svg[i] == '<' ? 1 : svg[i] == '>' ? 0 : in_tag;
        size_t id = in_tag ? before_id(svg + i, size - i) : 0;
        if (id > 0 && !stands(svg + i + id, size - i - id, name)) {
            hspec_text_append(&out, svg + done, i + id - done);
            hspec_text_add(&out, "%s_", name);
            done = i + id;
        } else if (stands(svg + i, size - i, "<text>")) {
            hspec_text_append(&out, svg + done, i - done);
            hspec_text_add(&out, "<text xml:space=\"preserve\"");
            done = i + strlen("<text");
        }
    }
    hspec_text_append(&out, svg + done, size - done);
    size_t length = out.length;
    char *result = hspec_text_take(&out);
    if (!result) {
        return hspec_error_memory(err, 2 * size);
    }
    *bytes = result;
    *new_size = length;
    return HSPEC_OK;
}
