/* SPDX-License-Identifier: MIT */
/* Diversity: greedy placement down a ranking under rules "at most n with the same value in any w consecutive rows" and "at most n on the page".
 *
 * Each place takes the best remaining candidate that breaks no rule; if none of the candidates offered fits, the best remaining one is placed and the
 * answer is marked relaxed. Values are opaque 64-bit tokens (a keyword's id, a number); a candidate has 0..m of them per rule (0: never limited).
 * Pure functions on plain arrays. */
#ifndef EAGRE_RANK_DIVERSITY_H
#define EAGRE_RANK_DIVERSITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diversity_rule {
    uint32_t most;   /* at most so many ... */
    uint32_t window; /* ... in any so many consecutive rows; 0: on the whole page */
};

/* Tokens of candidate i under rule r: tokens[offsets[i * n_rules + r] .. offsets[i * n_rules + r + 1]). */
struct diversity_input {
    unsigned n_rules;
    const struct diversity_rule *rules;
    size_t n;                 /* candidates, best first */
    const uint32_t *offsets;  /* n * n_rules + 1 */
    const uint64_t *tokens;
    bool complete;            /* no candidate ranks behind these: relaxing is allowed when none of them fits */
    /* Rows of the pages before, oldest first (for PER windows), laid out in the same way. */
    size_t n_history;
    const uint32_t *history_offsets;
    const uint64_t *history_tokens;
    size_t most_passed_over;  /* bound on candidates passed over; beyond it the best of them is placed (relaxed) */
};

struct diversity_output {
    uint32_t *chosen;  /* caller's, room for limit: indexes of candidates, in order of their places */
    size_t n;          /* places filled */
    size_t frontier;   /* candidates [0, frontier) were looked at: each is chosen or was passed over */
    bool relaxed;
    bool starved;      /* stopped because more candidates are needed (not complete and none fits) */
};

/* `scratch`: n bytes. */
void diversity_place(const struct diversity_input *in, size_t limit, struct diversity_output *out, uint8_t *scratch);

#endif
