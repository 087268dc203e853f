// SPDX-License-Identifier: Apache-2.0
// A plan as a picture (plan.h): SVG with nothing from outside, which every browser shows. A node
// stands one column behind the last of its inputs; sources and sinks have thick borders. Thread:
// any.
#include "sql/plan.h"

#include <stdlib.h>
#include <string.h>

enum {
    BOX_WIDTH = 220,
    BOX_HEIGHT = 44,
    GAP_X = 48,
    GAP_Y = 16,
    MARGIN = 8,
    LABEL_CHARACTERS_MAX = 30, // more do not fit into a box
};

struct place {
    uint32_t column;
    uint32_t row;
};

static uint32_t left(struct place place)
{
    return MARGIN + place.column * (BOX_WIDTH + GAP_X);
}

static uint32_t top(struct place place)
{
    return MARGIN + place.row * (BOX_HEIGHT + GAP_Y);
}

static void put_text(struct weir_buffer *out, const char *text, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '&') {
            weir_buffer_printf(out, "&amp;");
        } else if (c == '<') {
            weir_buffer_printf(out, "&lt;");
        } else if (c == '>') {
            weir_buffer_printf(out, "&gt;");
        } else {
            weir_buffer_append_char(out, c < 0x20 ? ' ' : text[i]); // XML has no others
        }
    }
}

// Cut at a character, with an ellipsis, where it is too long for a box.
static void put_label(struct weir_buffer *out, const char *text)
{
    size_t at = 0;
    uint32_t characters = 0;
    while (text[at] != '\0' && characters < LABEL_CHARACTERS_MAX) {
        at++;
        while ((text[at] & 0xC0) == 0x80) {
            at++;
        }
        characters++;
    }
    put_text(out, text, at);
    if (text[at] != '\0') {
        weir_buffer_printf(out, "…");
    }
}

static void put_box(struct weir_buffer *out, const struct weir_plan_node *node, struct place place)
{
    bool is_end = node->kind == WEIR_PLAN_SOURCE || node->kind == WEIR_PLAN_SINK;
    weir_buffer_printf(out, "<g><title>");
    put_text(out, node->name, strlen(node->name));
    weir_buffer_printf(out,
                       "</title><rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"6\"%s/>"
                       "<text x=\"%u\" y=\"%u\" fill=\"#1b1f24\" stroke=\"none\">",
                       left(place), top(place), BOX_WIDTH, BOX_HEIGHT,
                       is_end ? " stroke-width=\"2.5\"" : "", left(place) + 8, top(place) + 18);
    put_label(out, node->name);
    weir_buffer_printf(out, "</text><text x=\"%u\" y=\"%u\" fill=\"#1b1f24\" stroke=\"none\">",
                       left(place) + 8, top(place) + 36);
    if (is_end) {
        weir_buffer_printf(out, "topic ");
        put_label(out, node->table->topic);
    }
    weir_buffer_printf(out, "</text></g>\n");
}

static void put_arrow(struct weir_buffer *out, struct place from, struct place to)
{
    uint32_t x1 = left(from) + BOX_WIDTH;
    uint32_t y1 = top(from) + BOX_HEIGHT / 2;
    uint32_t x2 = left(to);
    uint32_t y2 = top(to) + BOX_HEIGHT / 2;
    weir_buffer_printf(out,
                       "<path d=\"M%u,%u C%u,%u %u,%u %u,%u m-7,-4 l7,4 l-7,4\" fill=\"none\"/>\n",
                       x1, y1, x1 + GAP_X / 2, y1, x2 - GAP_X / 2, y2, x2, y2);
}

void weir_plan_draw(const struct weir_plan *plan, struct weir_buffer *out)
{
    struct place *places = weir_alloc_zero((plan->node_count + 1) * sizeof *places);
    uint32_t *heights = weir_alloc_zero((plan->node_count + 1) * sizeof *heights);
    struct place most = {0};
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        for (uint32_t j = 0; j < node->input_count; j++) {
            uint32_t behind = places[node->inputs[j]->idx].column + 1;
            places[i].column = behind > places[i].column ? behind : places[i].column;
        }
        places[i].row = heights[places[i].column]++;
        most.column = places[i].column > most.column ? places[i].column : most.column;
        most.row = places[i].row > most.row ? places[i].row : most.row;
    }
    weir_buffer_printf(out,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                       "font-family=\"sans-serif\" font-size=\"13\">\n"
                       "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                       "<g fill=\"#f1f3f6\" stroke=\"#1b1f24\">\n",
                       left(most) + BOX_WIDTH + MARGIN, top(most) + BOX_HEIGHT + MARGIN);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        for (uint32_t j = 0; j < plan->nodes[i]->input_count; j++) {
            put_arrow(out, places[plan->nodes[i]->inputs[j]->idx], places[i]);
        }
    }
    for (uint32_t i = 0; i < plan->node_count; i++) {
        put_box(out, plan->nodes[i], places[i]);
    }
    weir_buffer_printf(out, "</g>\n</svg>\n");
    free(places);
    free(heights);
}
