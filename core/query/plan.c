/* SPDX-License-Identifier: MIT */
#include "query/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/reclaim.h"
#include "query/arena.h"
#include "query/builtin_profiles.h"
#include "query/compile.h"
#include "query/lexer.h"

/* ---- Profiles ---------------------------------------------------------------------------------------------------------- */

/* A copy of a profile's text: the kind's own, else the built-in one. NULL text: there is none of that name. */
static status profile_text(struct kind *k, const char *name, char **text, size_t *length)
{
    *text = NULL;
    reclaim_enter(); /* RCU: protects the profile; its text is copied before the section ends */
    const struct profile *own = kind_profile_rcu(k, name);
    const char *source = own ? own->text : builtin_profile(name);
    if (source) {
        *length = strlen(source);
        *text = mem_alloc(*length + 1);
        if (*text)
            memcpy(*text, source, *length + 1);
    }
    reclaim_leave();
    return source && !*text ? STATUS_NO_MEMORY : STATUS_OK;
}

static status load_profile(struct kind *k, const char *name, struct ast **out, struct error *e)
{
    char *text;
    size_t length = 0;
    *out = NULL;
    if (profile_text(k, name, &text, &length))
        return fail(e, STATUS_NO_MEMORY, -1, "no memory for profile '%s'", name);
    if (!text)
        return STATUS_OK;
    status s = parse_statement(text, length, out, NULL, e);
    mem_free(text);
    return s;
}

/* What each parameter of the profile stands for: a node given by name, else the default. */
static status bind_arguments(struct compiler *c, const struct ast *profile, const struct ast_retrieve *r, struct node ***out)
{
    struct node **nodes = arena_alloc(c->arena, sizeof *nodes * (profile->n_parameters + 1));
    if (!nodes)
        return fail(c->error, STATUS_NO_MEMORY, -1, "no memory to compile the statement");
    for (unsigned i = 0; i < r->n_arguments; i++) {
        unsigned j = 0;
        while (j < profile->n_parameters && strcmp(profile->parameters[j].name, r->arguments[i].name) != 0)
            j++;
        if (j == profile->n_parameters)
            return fail(c->error, STATUS_UNKNOWN, r->arguments[i].position, "profile '%s' has no parameter '%s'", profile->name, r->arguments[i].name);
        if (nodes[j])
            return fail(c->error, STATUS_SYNTAX, r->arguments[i].position, "parameter '%s' is given twice", r->arguments[i].name);
        nodes[j] = r->arguments[i].value;
    }
    for (unsigned j = 0; j < profile->n_parameters; j++) {
        if (nodes[j])
            continue;
        if (!profile->parameters[j].has_default)
            return fail(c->error, STATUS_PARAMETER, r->profile_position, "profile '%s' needs its parameter '%s'", profile->name, profile->parameters[j].name);
        if (!(nodes[j] = arena_alloc(c->arena, sizeof **nodes)))
            return fail(c->error, STATUS_NO_MEMORY, -1, "no memory to compile the statement");
        *nodes[j] = (struct node){.type = NODE_REAL, .f = profile->parameters[j].value, .position = r->profile_position};
    }
    *out = nodes;
    return STATUS_OK;
}

/* ---- ORDER BY ---------------------------------------------------------------------------------------------------------- */

static status compile_order(struct compiler *c, unsigned n, const struct order_term *terms)
{
    struct plan *p = c->plan;
    if (n > MAX_ORDER_TERMS)
        return compile_fail(c, STATUS_LIMIT, terms[MAX_ORDER_TERMS].name, "ORDER BY takes at most %d fields", MAX_ORDER_TERMS);
    for (unsigned i = 0; i < n; i++) {
        struct sort_key *k = &p->order[i];
        *k = (struct sort_key){.descending = terms[i].descending, .type = SORT_FIELD};
        const struct node *name = terms[i].name;
        if (strcmp(name->text, "key") == 0) {
            k->type = SORT_KEY;
        } else if (compile_is_created(c, name)) {
            k->type = SORT_FIRST_PUT;
        } else {
            if (!(k->field = compile_field(c, name, "ORDER BY")))
                return c->error ? c->error->code : STATUS_UNKNOWN;
            if (k->field->def.type == FIELD_KEYWORDS || k->field->def.type == FIELD_VECTOR)
                return compile_fail(c, STATUS_TYPE, name, "ORDER BY can not use %s '%s': it has no order", field_type_name(k->field->def.type), k->field->def.name);
        }
        p->n_order = i + 1;
    }
    return STATUS_OK;
}

/* ---- USING ------------------------------------------------------------------------------------------------------------- */

static status compile_score(struct compiler *c, const struct node *n)
{
    struct plan *p = c->plan;
    c->record_terms = p->ast->retrieve.explain;
    status s = compile_number(c, n, &p->score);
    c->record_terms = false;
    p->has_score = s == STATUS_OK;
    return s;
}

static status compile_profile(struct compiler *c, const struct ast *profile, struct node **arguments)
{
    c->profile = profile;
    c->arguments = arguments;
    c->in_profile = true;
    status s = profile->score ? compile_score(c, profile->score) : compile_order(c, profile->n_order, profile->order);
    c->in_profile = false;
    c->profile = NULL; /* its parameters mean nothing in the other clauses */
    return s;
}

static status compile_using(struct compiler *c, struct ast_retrieve *r)
{
    struct plan *p = c->plan;
    if (r->n_order)
        return compile_order(c, r->n_order, r->order);
    if (r->profile) {
        status s = load_profile(p->kind, r->profile, &p->profile, c->error);
        if (s)
            return s;
        if (p->profile) {
            struct node **arguments = NULL;
            s = bind_arguments(c, p->profile, r, &arguments);
            c->blame = r->profile_position;
            return s ? s : compile_profile(c, p->profile, arguments);
        }
        if (r->n_arguments || (!r->score && !kind_field(p->kind, r->profile) && strcmp(r->profile, "created") != 0))
            return fail(c->error, STATUS_UNKNOWN, r->profile_position, "kind '%s' has no profile or field '%s'", p->kind->name, r->profile);
        struct node bare = {.type = NODE_NAME, .position = r->profile_position, .text = r->profile, .length = (uint32_t)strlen(r->profile)};
        bare.end = bare.position + bare.length;
        return compile_score(c, &bare);
    }
    return r->score ? compile_score(c, r->score) : STATUS_OK;
}

/* ---- The other clauses ------------------------------------------------------------------------------------------------- */

/* Matches that stand in WHERE's top-level AND must hold for every row: each can drive the search. */
static void find_required(struct plan *p, const struct section *s, uint16_t reg)
{
    if (reg < FIRST_CONSTANT) {
        if (p->inputs[reg].source == INPUT_MATCH && p->n_required < MAX_INPUTS)
            p->required[p->n_required++] = p->inputs[reg].index;
        return;
    }
    for (unsigned i = 0; i < s->n_ops; i++)
        if (s->ops[i].to == reg && s->ops[i].code == OP_AND) {
            find_required(p, s, s->ops[i].a);
            find_required(p, s, s->ops[i].b);
        }
}

static status compile_where(struct compiler *c, const struct node *n)
{
    struct plan *p = c->plan;
    if (!n)
        return STATUS_OK;
    status s = compile_condition(c, n, &p->where);
    p->has_where = s == STATUS_OK;
    if (!s)
        find_required(p, &p->where, p->where.result);
    return s;
}

static bool is_number_literal(const struct node *n)
{
    return n->type == NODE_INT || n->type == NODE_REAL;
}

static double number_literal(const struct node *n)
{
    return n->type == NODE_INT ? (double)n->i : n->f;
}

static status compile_diversity(struct compiler *c, const struct ast_retrieve *r)
{
    struct plan *p = c->plan;
    for (unsigned i = 0; i < r->n_diversity; i++) {
        const struct diversity_term *t = &r->diversity[i];
        if (i == MAX_DIVERSITY_RULES)
            return compile_fail(c, STATUS_LIMIT, t->name, "DIVERSITY takes at most %d rules", MAX_DIVERSITY_RULES);
        struct diversity_clause *d = &p->diversity[i];
        *d = (struct diversity_clause){.field = compile_field(c, t->name, "DIVERSITY")};
        if (!d->field)
            return c->error ? c->error->code : STATUS_UNKNOWN;
        unsigned type = d->field->def.type;
        if (type != FIELD_KEYWORD && type != FIELD_KEYWORDS && type != FIELD_INTEGER)
            return compile_fail(c, STATUS_TYPE, t->name, "DIVERSITY takes a KEYWORD, KEYWORDS or INTEGER field; '%s' is %s", d->field->def.name, field_type_name(type));
        if (t->share && is_number_literal(t->share))
            d->share = number_literal(t->share);
        if (t->most && t->most->type == NODE_INT)
            d->most = (uint32_t)t->most->i;
        if (t->window && t->window->type == NODE_INT)
            d->window = (uint32_t)t->window->i;
        if (t->share ? !(d->share > 0 && d->share <= 1) : d->most == 0 || d->window == 0)
            return compile_fail(c, STATUS_RANGE, t->name, "DIVERSITY '%s': n PER w needs whole numbers from 1, SHARE a number above 0 and at most 1", d->field->def.name);
        p->n_diversity = i + 1;
    }
    return STATUS_OK;
}

static status compile_return(struct compiler *c, const struct return_term *t, struct return_column *out)
{
    const struct node *n = t->expression;
    *out = (struct return_column){.name = t->name};
    if (n->type == NODE_NAME && !n->maybe) {
        out->field = kind_field(c->kind, n->text);
        out->type = out->field ? RETURN_FIELD : strcmp(n->text, "key") == 0 ? RETURN_KEY : strcmp(n->text, "score") == 0 ? RETURN_SCORE : RETURN_EXPRESSION;
        if (out->type != RETURN_EXPRESSION)
            return STATUS_OK;
    }
    bool is_time;
    status s = compile_time(c, n, &out->section, &is_time);
    out->type = is_time ? RETURN_INT_REGISTER : RETURN_EXPRESSION;
    return s || is_time ? s : compile_number(c, n, &out->section);
}

static status compile_returns(struct compiler *c, const struct ast_retrieve *r)
{
    struct plan *p = c->plan;
    if (r->n_returns > MAX_RETURNS)
        return compile_fail(c, STATUS_LIMIT, r->returns[MAX_RETURNS].expression, "RETURN takes at most %d columns", MAX_RETURNS);
    c->allow_score = true;
    status s = STATUS_OK;
    for (unsigned i = 0; i < r->n_returns && !s; i++) {
        for (unsigned j = 0; j < i; j++)
            if (strcmp(r->returns[i].name, r->returns[j].name) == 0)
                return compile_fail(c, STATUS_EXISTS, r->returns[i].expression, "RETURN names two columns '%.60s': tell them apart by AS", r->returns[i].name);
        s = compile_return(c, &r->returns[i], &p->returns[i]);
        p->n_returns = i + 1;
    }
    c->allow_score = false;
    return s;
}

static status compile_page(struct compiler *c, const struct ast_retrieve *r)
{
    struct plan *p = c->plan;
    status s = STATUS_OK;
    if (r->exclude)
        s = compile_list(c, r->exclude, EXPECT_KEY, &p->exclude);
    p->has_exclude = r->exclude != NULL;
    if (!s && r->limit)
        s = compile_constant(c, r->limit, EXPECT_NUMBER, &p->limit);
    p->has_limit = r->limit != NULL;
    if (!s && r->after && r->after->type != NODE_NULL) {
        if (r->after->type != NODE_PARAM)
            return compile_fail(c, STATUS_SYNTAX, r->after, "AFTER takes a parameter (a cursor) or NULL");
        s = compile_constant(c, r->after, EXPECT_TEXT, &p->after);
        p->has_after = true;
    }
    if (!s && r->at)
        s = compile_constant(c, r->at, EXPECT_TIME, &p->at);
    p->has_at = r->at != NULL;
    return s;
}

/* ---- The whole --------------------------------------------------------------------------------------------------------- */

/* What a cursor is bound to: the statement's tokens but for AFTER and its cursor, so that blanks do not matter and the first page may be asked for
 * without AFTER. */
static uint64_t statement_hash(const struct ast *ast)
{
    struct lexer lx = {.text = ast->text, .length = ast->length};
    struct token t;
    uint64_t h = 0;
    while (lexer_next(&lx, &t, NULL) == STATUS_OK && t.type != TOKEN_END) {
        size_t n = t.end - t.position;
        if (t.type == TOKEN_NAME && n == 5 && strncasecmp(ast->text + t.position, "AFTER", n) == 0)
            lexer_next(&lx, &t, NULL);
        else
            h = mix64(h ^ checksum64(ast->text + t.position, n));
    }
    return h;
}

static status plan_compile(struct plan *p, const struct catalog *catalog, struct error *e)
{
    struct ast *ast = p->ast;
    struct ast_retrieve *r = &ast->retrieve;
    p->kind = catalog_kind(catalog, r->kind);
    if (!p->kind)
        return fail(e, STATUS_UNKNOWN, r->kind_position, "there is no kind '%s'", r->kind);
    p->text_hash = statement_hash(ast);
    struct error scratch;
    struct compiler *c = mem_zalloc(sizeof *c);
    if (!c)
        return fail(e, STATUS_NO_MEMORY, -1, "no memory to compile the statement");
    c->plan = p;
    c->kind = p->kind;
    c->arena = ast->arena;
    c->error = e ? e : &scratch;
    status s = compile_using(c, r);
    if (!s)
        s = compile_where(c, r->where);
    if (!s)
        s = compile_diversity(c, r);
    if (!s)
        s = compile_returns(c, r);
    if (!s)
        s = compile_page(c, r);
    if (!s)
        s = compile_finish(c);
    mem_free(c);
    return s;
}

status plan_create(const struct catalog *catalog, struct ast *ast, struct plan **out, struct error *e)
{
    struct plan *p = mem_zalloc(sizeof *p);
    if (!p)
        return fail(e, STATUS_NO_MEMORY, -1, "no memory to compile the statement");
    p->ast = ast;
    status s = plan_compile(p, catalog, e);
    if (s) {
        p->ast = NULL;
        plan_free(p);
        return s;
    }
    *out = p;
    return STATUS_OK;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    ast_free(p->profile);
    ast_free(p->ast);
    mem_free(p);
}

status plan_check_profile(struct kind *k, struct ast *profile, struct error *e)
{
    struct error scratch;
    struct plan *p = mem_zalloc(sizeof *p);
    struct compiler *c = mem_zalloc(sizeof *c);
    struct node **arguments = mem_zarray(profile->n_parameters + 1, sizeof *arguments);
    struct node zero = {.type = NODE_REAL};
    status s = STATUS_OK;
    if (!p || !c || !arguments) {
        s = fail(e, STATUS_NO_MEMORY, -1, "no memory to check the profile");
    } else {
        for (unsigned i = 0; i < profile->n_parameters; i++)
            arguments[i] = &zero;
        p->ast = profile;
        p->kind = k;
        *c = (struct compiler){.plan = p, .kind = k, .arena = profile->arena, .error = e ? e : &scratch, .profile = profile, .arguments = arguments};
        s = profile->score ? compile_score(c, profile->score) : compile_order(c, profile->n_order, profile->order);
    }
    mem_free(p);
    mem_free(c);
    mem_free(arguments);
    return s;
}
