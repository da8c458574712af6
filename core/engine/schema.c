/* SPDX-License-Identifier: MIT */
/* Schema changes: a parsed CREATE, ALTER or DROP meets the catalog. */
#include <string.h>

#include "engine/change.h"
#include "query/plan.h"

static bool has_profile(struct kind *k, const char *name)
{
    reclaim_enter(); /* RCU: protects the list of profiles */
    bool found = kind_profile_rcu(k, name) != NULL;
    reclaim_leave();
    return found;
}

static status set_profile(struct database *db, struct ast *a, struct kind *k, struct error *e)
{
    bool there = has_profile(k, a->name), alter = a->type == STATEMENT_ALTER_PROFILE;
    if (there && a->if_exists) /* its text need not mean anything any more */
        return STATUS_EXISTS;
    if (alter && !there)
        return fail(e, STATUS_UNKNOWN, a->name_position, "kind '%s' has no profile '%s' of its own", k->name, a->name);
    status s = plan_check_profile(k, a, e);
    return s ? s : catalog_set_profile(&db->catalog, k, a->name, a->text, alter, e);
}

static status drop_item(struct database *db, const struct ast *a, struct kind *k, struct error *e)
{
    status s = k ? catalog_drop_kind(&db->catalog, k, e) : STATUS_STALE;
    return s == STATUS_STALE ? fail(e, STATUS_UNKNOWN, a->name_position, "there is no kind '%s'", a->name) : s;
}

/* The catalog answers under its lock, so what IF [NOT] EXISTS forgives is looked for in its answer: asked before, it could change in between. */
static bool forgiven(const struct ast *a, status s)
{
    bool drops = a->type == STATEMENT_DROP_ITEM || a->type == STATEMENT_DROP_SIGNAL || a->type == STATEMENT_DROP_PROFILE;
    return a->if_exists && s == (drops ? STATUS_UNKNOWN : STATUS_EXISTS);
}

static status apply_to(struct database *db, struct ast *a, struct kind *k, struct error *e)
{
    switch (a->type) {
    case STATEMENT_CREATE_ITEM: return catalog_create_kind(&db->catalog, a->name, a->integer_keys, a->n_fields, a->fields, e);
    case STATEMENT_ALTER_ITEM: return catalog_add_fields(&db->catalog, k, a->n_fields, a->fields, e);
    case STATEMENT_DROP_ITEM: return drop_item(db, a, k, e);
    case STATEMENT_CREATE_SIGNAL: return catalog_create_signal(&db->catalog, k, &a->signal, e);
    case STATEMENT_DROP_SIGNAL: return catalog_drop_signal(&db->catalog, k, a->name, e);
    case STATEMENT_CREATE_PROFILE: case STATEMENT_ALTER_PROFILE: return set_profile(db, a, k, e);
    case STATEMENT_DROP_PROFILE: return catalog_drop_profile(&db->catalog, k, a->name, e);
    default: return fail(e, STATUS_INVALID, 0, "RETRIEVE gives rows: prepare and run it");
    }
}

static status apply(struct database *db, struct ast *a, struct error *e)
{
    bool of_kind = a->type == STATEMENT_CREATE_ITEM || a->type == STATEMENT_ALTER_ITEM || a->type == STATEMENT_DROP_ITEM;
    const char *name = of_kind ? a->name : a->kind;
    struct kind *k = catalog_kind(&db->catalog, name);
    if (!k && a->type != STATEMENT_CREATE_ITEM && a->type != STATEMENT_DROP_ITEM)
        return fail(e, STATUS_UNKNOWN, of_kind ? a->name_position : a->kind_position, "there is no kind '%s'", name);
    status s = apply_to(db, a, k, e);
    if (!forgiven(a, s))
        return s;
    *e = (struct error){.position = -1};
    return STATUS_OK;
}

status schema_apply(struct database *db, const char *text, size_t length, struct error *e)
{
    struct ast *a;
    struct error unused;
    e = e ? e : &unused;
    status s = parse_statement(text, length, &a, NULL, e);
    if (s)
        return s;
    s = apply(db, a, e);
    if (s && e->position < 0)
        e->position = a->name_position;
    ast_free(a);
    return s;
}
