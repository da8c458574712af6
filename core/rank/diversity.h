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

/* Tokens of candidate i under rule r: tokens[offsets[i * n_rules + r] .. offsets[i * n_rules + r + 1]). A token said twice counts once. */
struct diversity_input {
    unsigned n_rules;
    const struct diversity_rule *rules;
    size_t n;                /* candidates, best first */
    const uint32_t *offsets; /* n * n_rules + 1 */
    const uint64_t *tokens;
    bool complete; /* no candidate ranks behind these: relaxing is allowed when none of them fits */
    /* Rows of the pages before, oldest first (for PER windows), laid out in the same way. */
    size_t n_history;
    const uint32_t *history_offsets; /* not read when n_history is 0 */
    const uint64_t *history_tokens;
    size_t most_passed_over; /* bound on candidates passed over: when one more would have to be, the best of them is placed (relaxed) */
};

struct diversity_output {
    uint32_t *chosen; /* caller's, room for limit: indexes of candidates, in order of their places */
    size_t n;         /* places filled: fewer than limit when the candidates ran out */
    size_t frontier;  /* candidates [0, frontier) were looked at: each is chosen or passed over (at most most_passed_over) */
    bool relaxed;
    bool starved; /* stopped below limit because more candidates are needed (not complete and none fits) */
};

/* Bytes of scratch memory that diversity_place needs for this input. About 60 for each token and 16 for each candidate. */
size_t diversity_scratch(const struct diversity_input *in, size_t limit);

/* `scratch`: `bytes` >= diversity_scratch(in, limit) bytes, aligned to 8; its content does not matter. Needs fewer than 2^31 candidates, tokens and
 * places. */
void diversity_place(const struct diversity_input *in, size_t limit, struct diversity_output *out, void *scratch, size_t bytes);

#endif
