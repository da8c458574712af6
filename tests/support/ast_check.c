/* SPDX-License-Identifier: MIT */
#include "ast_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/value.h"

/* ---- shapes */

static const char *operator_name(const struct node *n)
{
    switch (n->type) {
    case NODE_LIST: return "list";
    case NODE_NEG: return "-";
    case NODE_NOT: return "not";
    case NODE_ADD: return "+";
    case NODE_SUB: return "-";
    case NODE_MUL: return "*";
    case NODE_DIV: return "/";
    case NODE_EQ: return "=";
    case NODE_NE: return "!=";
    case NODE_LT: return "<";
    case NODE_LE: return "<=";
    case NODE_GT: return ">";
    case NODE_GE: return ">=";
    case NODE_AND: return "and";
    case NODE_OR: return "or";
    case NODE_IN: return n->negated ? "not-in" : "in";
    case NODE_IS_NULL: return n->negated ? "is-not-null" : "is-null";
    case NODE_CALL: return n->text;
    default: return "?";
    }
}

void node_shape(struct buffer *out, const struct node *n)
{
    switch (n->type) {
    case NODE_NULL: buffer_printf(out, "null"); return;
    case NODE_INT: buffer_printf(out, "%" PRId64, n->i); return;
    case NODE_UINT: buffer_printf(out, "%" PRIu64 "u", n->u); return;
    case NODE_REAL: buffer_printf(out, "%.17gr", n->f); return;
    case NODE_DURATION: buffer_printf(out, "%" PRId64 "us", n->i); return;
    case NODE_TEXT:
        buffer_printf(out, "'");
        buffer_bytes(out, n->text, n->length);
        buffer_printf(out, "'");
        return;
    case NODE_PARAM: buffer_printf(out, "?%" PRId64, n->i); return;
    case NODE_NAME: buffer_printf(out, "%s%s", n->text, n->maybe ? "?" : ""); return;
    default: break;
    }
    buffer_printf(out, "(%s", operator_name(n));
    for (unsigned i = 0; i < n->n_args; i++) {
        buffer_printf(out, " ");
        node_shape(out, n->args[i]);
    }
    buffer_printf(out, ")");
}

/* ---- invariants */

static int arity(const struct node *n) /* -1: any */
{
    switch (n->type) {
    case NODE_CALL:
    case NODE_LIST: return -1;
    case NODE_NEG:
    case NODE_NOT:
    case NODE_IS_NULL: return 1;
    default: return n->type <= NODE_NAME ? 0 : 2;
    }
}

#define REQUIRE(condition)                \
    do {                                  \
        if (!(condition))                 \
            return "broken: " #condition; \
    } while (0)

static const char *check_leaf(const struct ast *a, const struct node *n)
{
    REQUIRE(n->type != NODE_UINT || n->u > INT64_MAX);
    REQUIRE(n->type != NODE_REAL || isfinite(n->f));
    REQUIRE(n->type != NODE_PARAM || (n->i >= 1 && n->i <= a->max_param));
    REQUIRE(n->type != NODE_TEXT || utf8_valid(n->text, n->length));
    REQUIRE(n->type != NODE_NAME || (n->length > 0 && n->length <= MAX_NAME && n->text[n->length] == '\0'));
    REQUIRE(!n->maybe || n->type == NODE_NAME);
    return NULL;
}

static const char *check_node(const struct ast *a, const struct node *n)
{
    REQUIRE(n->position < n->end && n->end <= a->length);
    REQUIRE(n->height <= MAX_DEPTH && (arity(n) != 0 || n->height == 0));
    REQUIRE(arity(n) < 0 || arity(n) == n->n_args);
    const char *wrong = check_leaf(a, n);
    int height = -1;
    for (unsigned i = 0; i < n->n_args && wrong == NULL; i++) {
        const struct node *arg = n->args[i];
        REQUIRE(arg->position >= n->position && arg->end <= n->end);
        REQUIRE(i == 0 || arg->position >= n->args[i - 1]->end);
        height = arg->height > height ? arg->height : height;
        wrong = check_node(a, arg);
    }
    REQUIRE(wrong != NULL || n->height == height + 1);
    return wrong;
}

static bool same_shape(const struct node *a, const struct node *b)
{
    struct buffer x = {0}, y = {0};
    node_shape(&x, a);
    node_shape(&y, b);
    bool same = !x.failed && !y.failed && x.length == y.length && memcmp(x.data, y.data, x.length) == 0;
    buffer_free(&x);
    buffer_free(&y);
    return same;
}

/* The text of an expression, alone behind RETURN, is the same expression. */
static const char *check_text(const struct ast *a, const struct node *n)
{
    struct buffer text = {0};
    if (a->length > MAX_STATEMENT - 64)
        return NULL;
    buffer_printf(&text, "RETRIEVE k RETURN ");
    buffer_bytes(&text, a->text + n->position, n->end - n->position);
    struct ast *again = NULL;
    struct error e = {0};
    status s = parse_statement((const char *)text.data, text.length, &again, NULL, &e);
    const char *wrong = NULL;
    if (s != STATUS_OK)
        wrong = "the text of a node does not parse";
    else if (again->retrieve.n_returns != 1 || !same_shape(n, again->retrieve.returns[0].expression))
        wrong = "the text of a node parses to something else";
    else if (strlen(again->retrieve.returns[0].name) != n->end - n->position)
        wrong = "a column is not called by its text";
    ast_free(again);
    buffer_free(&text);
    return wrong;
}

static const char *check_expression(const struct ast *a, const struct node *n)
{
    const char *wrong = n != NULL ? check_node(a, n) : NULL;
    return n != NULL && wrong == NULL ? check_text(a, n) : wrong;
}

static const char *check_retrieve(const struct ast *a, const struct ast_retrieve *r)
{
    REQUIRE((r->score != NULL) + (r->profile != NULL) + (r->n_order > 0) <= 1);
    REQUIRE(r->kind == a->kind && strlen(r->kind) <= MAX_NAME);
    const char *wrong = check_expression(a, r->score);
    wrong = wrong != NULL ? wrong : check_expression(a, r->where);
    for (unsigned i = 0; i < r->n_returns && wrong == NULL; i++)
        wrong = check_expression(a, r->returns[i].expression);
    for (unsigned i = 0; i < r->n_order && wrong == NULL; i++)
        wrong = check_node(a, r->order[i].name);
    for (unsigned i = 0; i < r->n_arguments && wrong == NULL; i++)
        wrong = check_node(a, r->arguments[i].value);
    for (unsigned i = 0; i < r->n_diversity; i++) {
        const struct diversity_term *d = &r->diversity[i];
        REQUIRE(d->name != NULL && (d->share != NULL) == (d->most == NULL) && (d->most != NULL) == (d->window != NULL));
    }
    const struct node *single[] = {r->exclude, r->limit, r->after, r->at};
    for (unsigned i = 0; i < 4 && wrong == NULL; i++)
        wrong = single[i] != NULL ? check_node(a, single[i]) : NULL;
    return wrong;
}

static const char *check_signal(const struct signal_def *s)
{
    REQUIRE(s->n_windows <= MAX_WINDOWS && s->name[0] != '\0');
    for (unsigned i = 0; i < s->n_windows; i++) {
        REQUIRE(s->windows[i] >= 60 && s->windows[i] <= 366 * 86400 && s->windows[i] % 60 == 0);
        REQUIRE(i == 0 || s->windows[i] > s->windows[i - 1]);
    }
    REQUIRE(s->decay != DECAY_HALF_LIFE || s->half_life >= 30000000);
    REQUIRE(s->decay != DECAY_POWER || (s->power > 0 && s->power <= 10));
    return NULL;
}

static const char *check_fields(const struct ast *a)
{
    REQUIRE(a->n_fields >= 1 && a->n_fields <= MAX_FIELDS);
    for (unsigned i = 0; i < a->n_fields; i++) {
        const struct field_def *f = &a->fields[i];
        REQUIRE(a->field_positions[i] < a->length);
        REQUIRE(f->role == ROLE_NONE || role_fits(f->role, f->type));
        REQUIRE(!f->role_by_as || f->role != ROLE_NONE);
        REQUIRE(!f->expires || f->type == FIELD_TIME);
        REQUIRE((f->type == FIELD_VECTOR) == (f->dimension > 0) && f->dimension <= MAX_DIMENSION);
        for (unsigned j = 0; j < i; j++)
            REQUIRE(strcmp(f->name, a->fields[j].name) != 0);
    }
    return NULL;
}

const char *ast_check(const struct ast *a)
{
    REQUIRE(a->length <= MAX_STATEMENT && a->text[a->length] == '\0' && strlen(a->text) == a->length);
    REQUIRE(a->max_param <= MAX_PARAMETER);
    if (a->type == STATEMENT_RETRIEVE)
        return check_retrieve(a, &a->retrieve);
    REQUIRE(a->name != NULL && strlen(a->name) <= MAX_NAME);
    bool on_kind = a->type != STATEMENT_CREATE_ITEM && a->type != STATEMENT_ALTER_ITEM && a->type != STATEMENT_DROP_ITEM;
    REQUIRE(on_kind == (a->kind != NULL));
    if (a->type == STATEMENT_CREATE_SIGNAL)
        return check_signal(&a->signal);
    if (a->type == STATEMENT_CREATE_ITEM || a->type == STATEMENT_ALTER_ITEM)
        return check_fields(a);
    if (a->type == STATEMENT_CREATE_PROFILE || a->type == STATEMENT_ALTER_PROFILE) {
        REQUIRE((a->score != NULL) == (a->n_order == 0));
        REQUIRE(a->max_param == 0 && a->n_parameters <= MAX_PROFILE_PARAMETERS);
        return check_expression(a, a->score);
    }
    return NULL;
}
