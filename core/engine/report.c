/* SPDX-License-Identifier: MIT */
/* The schema and the statistics of a database, as JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/publish.h"
#include "engine/database.h"
#include "query/builtin_profiles.h"
#include "store/items.h"

static void json_text(struct buffer *b, const char *text)
{
    buffer_json_string(b, text, strlen(text));
}

static void report_fields(const struct kind *k, struct buffer *b)
{
    buffer_printf(b, "\"fields\":[");
    /* ORDER: acquire: pairs with the release in catalog_add_fields. */
    unsigned n = take(&k->n_fields);
    for (unsigned i = 0; i < n; i++) {
        const struct field_def *f = &k->fields[i]->def;
        buffer_printf(b, "%s{\"name\":", i ? "," : "");
        json_text(b, f->name);
        buffer_printf(b, ",\"type\":\"%s\"", field_type_name(f->type));
        if (f->type == FIELD_VECTOR)
            buffer_printf(b, ",\"dimension\":%u", f->dimension);
        if (f->role != ROLE_NONE)
            buffer_printf(b, ",\"role\":\"%s\"", role_name(f->role));
        buffer_printf(b, "%s}", f->expires ? ",\"expires\":true" : "");
    }
    buffer_printf(b, "]");
}

static void report_signal_def(const struct signal_def *d, struct buffer *b)
{
    buffer_printf(b, "{\"name\":");
    json_text(b, d->name);
    if (d->decay == DECAY_HALF_LIFE)
        buffer_printf(b, ",\"half_life\":%.17g", (double)d->half_life / 1e6);
    else if (d->decay == DECAY_POWER)
        buffer_printf(b, ",\"power\":%.17g", d->power);
    buffer_printf(b, ",\"windows\":[");
    for (unsigned i = 0; i < d->n_windows; i++)
        buffer_printf(b, "%s%u", i ? "," : "", d->windows[i]);
    buffer_printf(b, "],\"forgets\":%s}", d->forgets ? "true" : "false");
}

static void report_profiles(const struct kind *k, struct buffer *b)
{
    const struct profile_list *list = k->profiles; /* under catalog->lock, as all changes of it */
    buffer_printf(b, "\"profiles\":[");
    for (unsigned i = 0; list && i < list->n; i++) {
        buffer_printf(b, "%s{\"name\":", i ? "," : "");
        json_text(b, list->items[i]->name);
        buffer_printf(b, ",\"text\":");
        json_text(b, list->items[i]->text);
        buffer_printf(b, "}");
    }
    buffer_printf(b, "]");
}

static void report_kind(const struct kind *k, struct buffer *b)
{
    buffer_printf(b, "{\"name\":");
    json_text(b, k->name);
    buffer_printf(b, ",\"key\":\"%s\",", k->integer_keys ? "INTEGER" : "STRING");
    report_fields(k, b);
    buffer_printf(b, ",\"signals\":[");
    /* ORDER: acquire: pairs with the release in catalog_create_signal. */
    unsigned n = take(&k->n_signals), shown = 0;
    for (unsigned i = 0; i < n; i++) {
        /* ORDER: acquire: pairs with the release in catalog_drop_signal. */
        if (take(&k->signals[i].dropped))
            continue;
        buffer_printf(b, "%s", shown++ ? "," : "");
        report_signal_def(k->signals[i].def, b);
    }
    buffer_printf(b, "],");
    report_profiles(k, b);
    buffer_printf(b, "}");
}

status database_schema(struct database *db, struct buffer *b)
{
    buffer_printf(b, "{\"kinds\":[");
    pthread_mutex_lock(&db->catalog.lock);
    unsigned shown = 0;
    for (unsigned i = 0; i < db->catalog.n_kinds; i++)
        if (!kind_dropped(db->catalog.kinds[i])) {
            buffer_printf(b, "%s", shown++ ? "," : "");
            report_kind(db->catalog.kinds[i], b);
        }
    pthread_mutex_unlock(&db->catalog.lock);
    buffer_printf(b, "],\"builtin_profiles\":[");
    const char *name;
    for (unsigned i = 0; (name = builtin_profile_name(i)) != NULL; i++) {
        buffer_printf(b, "%s{\"name\":", i ? "," : "");
        json_text(b, name);
        buffer_printf(b, ",\"text\":");
        json_text(b, builtin_profile(name));
        buffer_printf(b, "}");
    }
    buffer_printf(b, "]}");
    return b->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- Statistics --------------------------------------------------------------------------------------------------------- */

static void stats_signals(const struct kind *k, uint64_t slots, struct buffer *b)
{
    /* ORDER: acquire: pairs with the release in catalog_create_signal. */
    unsigned n = take(&k->n_signals), shown = 0;
    uint64_t bytes = 0;
    buffer_printf(b, "\"signals\":[");
    for (unsigned i = 0; i < n; i++) {
        /* ORDER: acquire: pairs with the release in catalog_drop_signal. */
        if (take(&k->signals[i].dropped))
            continue;
        struct signal_stats s;
        signal_statistics(k->signals[i].signal, (uint32_t)slots, &s);
        bytes += s.bytes;
        buffer_printf(b, "%s{\"name\":", shown++ ? "," : "");
        json_text(b, k->signals[i].def->name);
        buffer_printf(b, ",\"cells\":%" PRIu64 ",\"quiet\":%" PRIu64 ",\"rings\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"bytes_per_cell\":%.1f}", s.cells, s.quiet,
                      s.rings, s.bytes, s.cells ? (double)s.bytes / (double)s.cells : 0.0);
    }
    buffer_printf(b, "],\"signal_bytes\":%" PRIu64, bytes);
}

static void stats_kind(const struct kind *k, struct buffer *b)
{
    struct kind_stats s;
    items_statistics(k, &s);
    uint64_t item_bytes = s.row_bytes + s.column_bytes + s.keyword_bytes + s.key_bytes;
    buffer_printf(b, "{\"name\":");
    json_text(b, k->name);
    buffer_printf(b, ",\"items\":%" PRIu64 ",\"slots\":%" PRIu64 ",\"row_bytes\":%" PRIu64 ",\"column_bytes\":%" PRIu64 ",\"keyword_bytes\":%" PRIu64
                  ",\"key_bytes\":%" PRIu64 ",\"bytes_per_item\":%.1f,",
                  s.items, s.slots, s.row_bytes, s.column_bytes, s.keyword_bytes, s.key_bytes,
                  s.items ? (double)item_bytes / (double)s.items : 0.0);
    stats_signals(k, s.slots, b);
    buffer_printf(b, "}");
}

status database_stats(struct database *db, struct buffer *b)
{
    buffer_printf(b, "{\"memory_used\":%" PRIu64 ",\"memory_limit\":%" PRIu64 ",\"retired\":%" PRIu64 ",\"event_id_bytes\":%" PRIu64 ",\"kinds\":[",
                  mem_used(), mem_limit(), reclaim_backlog(), event_ids_bytes(&db->ids));
    pthread_mutex_lock(&db->catalog.lock); /* nothing is dropped while it is counted */
    unsigned shown = 0;
    for (unsigned i = 0; i < db->catalog.n_kinds; i++)
        if (!kind_dropped(db->catalog.kinds[i])) {
            buffer_printf(b, "%s", shown++ ? "," : "");
            stats_kind(db->catalog.kinds[i], b);
        }
    pthread_mutex_unlock(&db->catalog.lock);
    buffer_printf(b, "]}");
    return b->failed ? STATUS_NO_MEMORY : STATUS_OK;
}
