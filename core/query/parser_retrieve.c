/* SPDX-License-Identifier: MIT */
/* RETRIEVE: a kind and its clauses, in their order. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "query/parser.h"
#include "store/limits.h"

/* ---- what clauses are made of */

/* A whole number of [least, most], or a parameter. */
static struct node *whole_number(struct parser *p, const char *what, int64_t least, int64_t most)
{
    const struct token t = p->token;
    if (t.type != TOKEN_PARAMETER && t.type != TOKEN_INTEGER) {
        expected(p, what);
        return NULL;
    }
    struct node *n = parse_literal(p, what);
    if (n == NULL || n->type == NODE_PARAM)
        return n;
    bool high = n->type == NODE_UINT || n->i > most;
    if (!high && n->i >= least)
        return n;
    fault(p, high ? STATUS_LIMIT : STATUS_RANGE, t.position, "%s is %lld to %lld", what, (long long)least, (long long)most);
    return NULL;
}

bool parse_order(struct parser *p, unsigned *n, struct order_term **order)
{
    do {
        struct node *name = parse_name_node(p, "a field name");
        struct order_term *grown = name != NULL ? arena_grow(p->arena, *order, *n, sizeof *grown) : NULL;
        if (grown == NULL)
            return name != NULL ? no_memory(p) : false;
        if (at(p, TOKEN_LEFT))
            return fault(p, STATUS_SYNTAX, name->position, "ORDER BY takes fields; an expression stands behind USING");
        bool descending = take_word(p, "DESC");
        if (!descending)
            take_word(p, "ASC");
        grown[*n] = (struct order_term){.name = name, .descending = descending};
        *order = grown;
        ++*n;
    } while (take_token(p, TOKEN_COMMA));
    return true;
}

/* ---- USING */

static bool profile_argument(struct parser *p, struct ast_retrieve *r)
{
    struct named_argument a = {0};
    a.name = parse_name(p, "a parameter name", &a.position);
    if (a.name == NULL)
        return false;
    for (unsigned i = 0; i < r->n_arguments; i++)
        if (strcmp(r->arguments[i].name, a.name) == 0)
            return fault(p, STATUS_SYNTAX, a.position, "'%s' is given twice", a.name);
    if (r->n_arguments == MAX_PROFILE_PARAMETERS)
        return fault(p, STATUS_LIMIT, a.position, "a profile has at most %d parameters", MAX_PROFILE_PARAMETERS);
    if (!need_token(p, TOKEN_EQ, "'='"))
        return false;
    if (at(p, TOKEN_TEXT) || at_word(p, "NULL"))
        return expected(p, "a number or a parameter");
    a.value = parse_literal(p, "a number or a parameter");
    if (a.value == NULL)
        return false;
    struct named_argument *grown = arena_grow(p->arena, r->arguments, r->n_arguments, sizeof *grown);
    if (grown == NULL)
        return no_memory(p);
    grown[r->n_arguments++] = a;
    r->arguments = grown;
    return true;
}

/* Is this `name()` or `name(word = `, of a name that is no function's? The name is in hand. */
static bool at_profile_with_arguments(const struct parser *p)
{
    if ((!at(p, TOKEN_NAME) && !at(p, TOKEN_QUOTED)) || peek(p).type != TOKEN_LEFT)
        return false;
    if (at(p, TOKEN_NAME) && function_name(p->lexer.text + p->token.position, p->token.end - p->token.position) != NULL)
        return false;
    struct lexer ahead = p->lexer;
    struct token t;
    lexer_next(&ahead, &t, NULL); /* the parenthesis */
    if (lexer_next(&ahead, &t, NULL) != STATUS_OK || t.type == TOKEN_RIGHT)
        return t.type == TOKEN_RIGHT;
    if (t.type != TOKEN_NAME && t.type != TOKEN_QUOTED)
        return false;
    return lexer_next(&ahead, &t, NULL) == STATUS_OK && t.type == TOKEN_EQ;
}

static bool using_profile(struct parser *p, struct ast_retrieve *r)
{
    r->profile = parse_name(p, "a profile name", &r->profile_position);
    if (r->profile == NULL)
        return false;
    if (!take_token(p, TOKEN_LEFT) || take_token(p, TOKEN_RIGHT))
        return true;
    do {
        if (!profile_argument(p, r))
            return false;
    } while (take_token(p, TOKEN_COMMA));
    return need_token(p, TOKEN_RIGHT, "',' or ')'");
}

static bool parse_using(struct parser *p, struct ast_retrieve *r)
{
    if (at_profile_with_arguments(p))
        return using_profile(p, r);
    bool named = at(p, TOKEN_NAME) || at(p, TOKEN_QUOTED);
    r->score = parse_expression(p);
    if (r->score == NULL)
        return false;
    if (named && r->score->type == NODE_NAME) {
        r->profile = r->score->text;
        r->profile_position = r->score->position;
        r->score = NULL;
    }
    return true;
}

/* ---- the other clauses */

static bool parse_order_by(struct parser *p, struct ast_retrieve *r)
{
    return need_word(p, "BY") && parse_order(p, &r->n_order, &r->order);
}

static bool parse_where(struct parser *p, struct ast_retrieve *r)
{
    r->where = parse_expression(p);
    return r->where != NULL;
}

static bool parse_exclude(struct parser *p, struct ast_retrieve *r)
{
    if (at(p, TOKEN_PARAMETER)) {
        r->exclude = parse_parameter(p);
        return r->exclude != NULL;
    }
    if (!at(p, TOKEN_LEFT))
        return expected(p, "a list of keys in parentheses or a parameter");
    r->exclude = parse_list(p);
    if (r->exclude == NULL)
        return false;
    for (unsigned i = 0; i < r->exclude->n_args; i++) {
        const struct node *key = r->exclude->args[i];
        bool fits = key->type == NODE_TEXT || key->type == NODE_PARAM || key->type == NODE_UINT || (key->type == NODE_INT && key->i >= 0);
        if (!fits)
            return fault(p, STATUS_TYPE, key->position, "a key is a text, a whole number from 0 on, or a parameter");
    }
    return true;
}

static bool diversity_share(struct parser *p, struct diversity_term *d)
{
    const size_t position = p->token.position;
    if (!at(p, TOKEN_PARAMETER) && !at(p, TOKEN_INTEGER) && !at(p, TOKEN_REAL))
        return expected(p, "a number above 0 and up to 1, or a parameter");
    d->share = parse_literal(p, "a number");
    if (d->share == NULL || d->share->type == NODE_PARAM)
        return d->share != NULL;
    double share = d->share->type == NODE_REAL ? d->share->f : d->share->type == NODE_INT ? (double)d->share->i : 2.0;
    return (share > 0 && share <= 1) || fault(p, STATUS_RANGE, position, "SHARE takes a number above 0 and up to 1");
}

static bool diversity_rule(struct parser *p, struct diversity_term *d)
{
    d->name = parse_name_node(p, "a field name");
    if (d->name == NULL)
        return false;
    if (take_word(p, "SHARE"))
        return diversity_share(p, d);
    if (!at(p, TOKEN_PARAMETER) && !at(p, TOKEN_INTEGER))
        return expected(p, "a whole number (as in 2 PER 10) or SHARE");
    d->most = whole_number(p, "the number before PER", 1, MAX_DIVERSITY_WINDOW);
    if (d->most == NULL || !need_word(p, "PER"))
        return false;
    if (at_word(p, "COHORT"))
        return fault(p, STATUS_UNSUPPORTED, p->previous.position, "PER COHORT is reserved and not available in this version");
    d->window = whole_number(p, "the number behind PER", 1, MAX_DIVERSITY_WINDOW);
    return d->window != NULL;
}

static bool parse_diversity(struct parser *p, struct ast_retrieve *r)
{
    do {
        struct diversity_term d = {0};
        if (!diversity_rule(p, &d))
            return false;
        struct diversity_term *grown = arena_grow(p->arena, r->diversity, r->n_diversity, sizeof *grown);
        if (grown == NULL)
            return no_memory(p);
        grown[r->n_diversity++] = d;
        r->diversity = grown;
    } while (take_token(p, TOKEN_COMMA));
    return true;
}

static bool parse_return(struct parser *p, struct ast_retrieve *r)
{
    do {
        struct return_term term = {.expression = parse_expression(p)};
        const struct node *n = term.expression;
        if (n == NULL)
            return false;
        uint32_t position;
        term.name = take_word(p, "AS") ? parse_name(p, "a column name", &position)
                                       : arena_text(p->arena, p->lexer.text + n->position, n->end - n->position);
        struct return_term *grown = term.name != NULL ? arena_grow(p->arena, r->returns, r->n_returns, sizeof *grown) : NULL;
        if (grown == NULL)
            return no_memory(p); /* unless the name was the fault */
        grown[r->n_returns++] = term;
        r->returns = grown;
    } while (take_token(p, TOKEN_COMMA));
    return true;
}

static bool parse_count(struct parser *p, struct ast_retrieve *r)
{
    (void)p;
    r->count = true;
    return true;
}

static bool parse_limit(struct parser *p, struct ast_retrieve *r)
{
    if (!at(p, TOKEN_INTEGER) && !at(p, TOKEN_PARAMETER))
        return expected(p, "a whole number or a parameter");
    r->limit = whole_number(p, "LIMIT", 0, MAX_LIMIT);
    return r->limit != NULL;
}

static bool parse_after(struct parser *p, struct ast_retrieve *r)
{
    if (!at(p, TOKEN_PARAMETER) && !at_word(p, "NULL"))
        return expected(p, "a parameter (a cursor travels as one) or NULL");
    r->after = parse_literal(p, "a parameter");
    return r->after != NULL;
}

static bool parse_at(struct parser *p, struct ast_retrieve *r)
{
    static const char *const what = "a moment (microseconds since 1970, a text like '2026-01-31 12:00', or a parameter)";
    const size_t position = p->token.position;
    bool negative = at(p, TOKEN_MINUS) && peek(p).type == TOKEN_INTEGER;
    if (!at(p, TOKEN_INTEGER) && !at(p, TOKEN_TEXT) && !at(p, TOKEN_PARAMETER) && !negative)
        return expected(p, what);
    r->at = parse_literal(p, what);
    if (r->at == NULL)
        return false;
    int64_t moment;
    if (r->at->type == NODE_TEXT && !time_parse(r->at->text, r->at->length, &moment))
        return fault(p, STATUS_TYPE, position, "this is no moment: expected 'YYYY-MM-DD[ HH:MM[:SS[.ffffff]]][Z]'");
    bool outside = r->at->type == NODE_UINT || (r->at->type == NODE_INT && (r->at->i < TIME_MIN_US || r->at->i > TIME_MAX_US));
    return !outside || fault(p, STATUS_RANGE, position, "a moment lies between the years 0001 and 9999");
}

static bool parse_exhaustive(struct parser *p, struct ast_retrieve *r)
{
    (void)p;
    r->exhaustive = true;
    return true;
}

/* ---- their order */

static const struct clause {
    const char *word, *name;
    bool (*parse)(struct parser *, struct ast_retrieve *);
    bool expression; /* ends in one: an operator may follow */
} clauses[] = {
    {"USING", "USING", parse_using, true},
    {"ORDER", "ORDER BY", parse_order_by, false},
    {"WHERE", "WHERE", parse_where, true},
    {"EXCLUDE", "EXCLUDE", parse_exclude, false},
    {"DIVERSITY", "DIVERSITY", parse_diversity, false},
    {"RETURN", "RETURN", parse_return, true},
    {"COUNT", "COUNT", parse_count, false},
    {"LIMIT", "LIMIT", parse_limit, false},
    {"AFTER", "AFTER", parse_after, false},
    {"AT", "AT", parse_at, false},
    {"EXHAUSTIVE", "EXHAUSTIVE", parse_exhaustive, false},
};
enum { N_CLAUSES = sizeof clauses / sizeof *clauses, USING = 0, ORDER_BY = 1 };

/* What stands here is no clause: says which could, and which was meant. `next` is the first that still may come. */
static bool clause_expected(struct parser *p, unsigned next)
{
    if (p->failed != STATUS_OK || refuse_reserved(p))
        return false;
    char list[160];
    const char *words[N_CLAUSES + 1] = {NULL};
    size_t used = 0;
    list[0] = '\0';
    for (unsigned i = 0; i < N_CLAUSES; i++) {
        words[i] = clauses[i].word;
        if (i >= next)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", clauses[i].name);
    }
    if (misspelled(p, "clause", words))
        return false;
    struct phrase found, after;
    bool operators = next > 0 && clauses[next - 1].expression;
    return fault(p, STATUS_SYNTAX, p->token.position, "expected %s%s%sthe end after %s, found %s", operators ? "an operator, " : "", list,
                 used > 0 ? " or " : "", token_phrase(p, &p->previous, &after), token_phrase(p, &p->token, &found));
}

/* May clause i stand here, behind those in the set `seen`? */
static bool check_order(struct parser *p, unsigned i, unsigned seen)
{
    const size_t position = p->token.position;
    if (seen & 1u << i)
        return fault(p, STATUS_SYNTAX, position, "%s is given twice", clauses[i].name);
    if ((i == USING && (seen & 1u << ORDER_BY)) || (i == ORDER_BY && (seen & 1u << USING)))
        return fault(p, STATUS_SYNTAX, position, "USING and ORDER BY exclude each other: a score or an order of fields");
    for (unsigned later = i + 1; later < N_CLAUSES; later++)
        if (seen & 1u << later)
            return fault(p, STATUS_SYNTAX, position, "%s must come before %s", clauses[i].name, clauses[later].name);
    return true;
}

bool parse_retrieve(struct parser *p, struct ast_retrieve *r)
{
    r->kind = parse_name(p, "a kind name", &r->kind_position);
    if (r->kind == NULL)
        return false;
    unsigned seen = 0, next = 0;
    while (!at_end(p)) {
        unsigned i = 0;
        while (i < N_CLAUSES && !at_word(p, clauses[i].word))
            i++;
        if (i == N_CLAUSES)
            return clause_expected(p, next);
        if (!check_order(p, i, seen))
            return false;
        advance(p);
        if (!clauses[i].parse(p, r))
            return false;
        seen |= 1u << i;
        next = i == USING ? ORDER_BY + 1 : i + 1;
    }
    return true;
}
