/* SPDX-License-Identifier: MIT */
/* The words of the language: which may be names, which are functions, which are kept for later, and what a misspelled one may mean. */
#include <string.h>

#include "query/functions.h"
#include "query/parser.h"

static bool same_word(const char *text, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++)
        if (word[i] == '\0' || to_lower(text[i]) != to_lower(word[i]))
            return false;
    return word[length] == '\0';
}

static const char *find_word(const char *text, size_t length, const char *const *words)
{
    for (; *words != NULL; words++)
        if (same_word(text, length, *words))
            return *words;
    return NULL;
}

/* Words that begin a statement or a clause, or join an expression. All others are names wherever a name is expected. */
static const char *const reserved_words[] = {
    "AFTER",   "ALTER",      "AND",      "AS",        "ASC",     "ASSEMBLE",   "AT",     "BY",      "CLEARS",  "COUNT",
    "CREATE",  "DESC",       "DROP",     "DIVERSITY", "EXCLUDE", "EXHAUSTIVE", "EXISTS", "EXPIRES", "EXPLAIN", "FOR",
    "FORGETS", "IF",         "IN",       "IS",        "LIMIT",   "MARKS",      "NOT",    "NULL",    "ON",      "OR",
    "ORDER",   "REFERENCES", "RETRIEVE", "RETURN",    "SEARCH",  "SUGGEST",    "USING",  "WHERE",   "WINDOWS", NULL,
};

bool is_reserved_word(const char *text, size_t length)
{
    return find_word(text, length, reserved_words) != NULL;
}

const char *function_name(const char *text, size_t length)
{
    const struct function *f;
    for (unsigned i = 0; (f = function_at(i)) != NULL; i++)
        if (same_word(text, length, f->name))
            return f->name;
    return NULL;
}

/* ---- misspellings */

enum { LONGEST_WORD = 15 };

/* Letters to insert, drop, change or swap with their neighbour to get from a to b (optimal string alignment). */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
    unsigned row[LONGEST_WORD + 1][LONGEST_WORD + 1];
    for (unsigned i = 0; i <= n; i++) {
        for (unsigned j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                row[i][j] = i + j;
                continue;
            }
            bool same = to_lower(a[i - 1]) == to_lower(b[j - 1]);
            unsigned best = row[i - 1][j - 1] + !same;
            if (row[i - 1][j] + 1 < best)
                best = row[i - 1][j] + 1;
            if (row[i][j - 1] + 1 < best)
                best = row[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && to_lower(a[i - 1]) == to_lower(b[j - 2]) && to_lower(a[i - 2]) == to_lower(b[j - 1]);
            if (swapped && row[i - 2][j - 2] + 1 < best)
                best = row[i - 2][j - 2] + 1;
            row[i][j] = best;
        }
    }
    return row[n][m];
}

static const char *nearest_word(const char *text, size_t length, const char *const *words)
{
    if (length < 2 || length > LONGEST_WORD)
        return NULL;
    unsigned limit = length < 5 ? 1 : 2;
    const char *best = NULL;
    for (; *words != NULL; words++) {
        size_t n = strlen(*words);
        unsigned d = n <= LONGEST_WORD ? distance(text, length, *words, n) : LONGEST_WORD;
        if (d <= limit) {
            best = *words;
            limit = d - (d > 0);
        }
    }
    return best;
}

bool misspelled(struct parser *p, const char *what, const char *const *words)
{
    if (!at(p, TOKEN_NAME))
        return false;
    const char *near = nearest_word(p->lexer.text + p->token.position, p->token.end - p->token.position, words);
    struct phrase found;
    if (near != NULL)
        fault(p, STATUS_SYNTAX, p->token.position, "%s is no %s; did you mean %s?", token_phrase(p, &p->token, &found), what, near);
    return near != NULL;
}

/* ---- what is kept for later versions */

struct reserved {
    const char *first, *second, *name;
}; /* one word, or two in a row; what to call it, when not by these */

/* The phrase of the list that begins at the token in hand, as a fault. */
static bool refuse(struct parser *p, const struct reserved *list, size_t n, const char *before)
{
    if (!at(p, TOKEN_NAME))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!at_word(p, list[i].first))
            continue;
        struct token next = peek(p);
        const char *second = list[i].second;
        if (second != NULL && !token_is_word(p, &next, second))
            continue;
        bool named = list[i].name != NULL;
        fault(p, STATUS_UNSUPPORTED, p->token.position, "%s%s%s%s is reserved and not available in this version", before,
              named ? list[i].name : list[i].first, second != NULL && !named ? " " : "", second != NULL && !named ? second : "");
        return true;
    }
    return false;
}

bool refuse_reserved(struct parser *p)
{
    static const struct reserved list[] = {
        {.first = "FOR", .second = "USER"},
        {.first = "IN", .second = "COHORT"},
        {.first = "IN", .second = "SCOPE"},
        {.first = "PER", .second = "COHORT"},
        {.first = "ROLLS", .second = "UP", .name = "ROLLS UP TO"},
        {.first = "MARKS"},
        {.first = "CLEARS"},
        {.first = "TASTE"},
        {.first = "AFFINITY"},
        {.first = "REFERENCES"},
        {.first = "WITHIN"},
        {.first = "FUSE"},
        {.first = "NEAR"},
    };
    return refuse(p, list, sizeof list / sizeof *list, "");
}

bool refuse_reserved_statement(struct parser *p)
{
    static const struct reserved list[] = {
        {.first = "SEARCH"},
        {.first = "SUGGEST"},
        {.first = "ASSEMBLE"},
        {.first = "BEGIN", .second = "SESSION"},
        {.first = "END", .second = "SESSION"},
    };
    return refuse(p, list, sizeof list / sizeof *list, "");
}

bool refuse_reserved_object(struct parser *p)
{
    static const struct reserved list[] = {{.first = "USER"}, {.first = "LINK"}, {.first = "COHORT"}, {.first = "SCOPE"}};
    const char *before = token_is_word(p, &p->previous, "CREATE")  ? "CREATE "
                         : token_is_word(p, &p->previous, "ALTER") ? "ALTER "
                                                                   : "DROP ";
    return refuse(p, list, sizeof list / sizeof *list, before);
}
