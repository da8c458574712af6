/* SPDX-License-Identifier: MIT */
/* Keyword dictionary and postings.
 *
 *     entries[id - 1] -> { text, list, gone } -> struct list { set, n, broken | slots[0 .. n) }
 *                                        |                      |              ascending up to `broken`, in any order from there on
 *                                        |                      immutable Roaring set
 *                                        slots that lost the keyword since the set was made; the writer's alone
 *
 * Terms. The *tail* is slots[]. It is *broken* at the first slot that is not above the one before; what lies behind is its loose end, short
 * enough for a cursor to sort on the stack. Items at the end of the kind come with rising slots, so a tail is seldom broken.
 *
 * Narrowing. A list without a set is small and is rebuilt once half of it is stale. Of a set the slots that went are noted, and taken out of a copy
 * a thousand at a time at most, so that no write waits for a walk over millions. Where there is no memory to note one it is counted as stale.
 *
 * Invariants
 *   I1  A list's set never changes. It may be shared with the list that replaces it when only the tail's capacity grew; it is freed with the
 *       last list that has it.
 *   I2  slots[0 .. n) never change while the list can be seen; n only grows.
 *   I3  slots[0 .. min(n, broken)) ascend strictly; n - min(n, broken) <= LOOSE_MAX.
 *   I4  entries[0 .. size) have their text; an id's text never changes.
 *   I5  No set is ever copy-on-write (that is not safe beside readers), and none comes from outside.
 * Ordering guarantees
 *   G1  A slot is in its list before postings_add_w returns; who takes the list or its n after sees it.
 *   G2  Set and tail live behind one pointer: a cursor sees the two of one moment.
 * Progress: readers wait-free (a cursor step is bounded by its batch); writers hold the kind's lock and wait for nothing.
 *
 * Names of CRoaring are those that 0.2.66 and 4.x share; the iterator's, which differ, are given below. It allocates with malloc and can not
 * bear a failure, so mem_room is asked first for a generous estimate. */
#include "store/postings.h"

#include <assert.h>
#include <roaring/roaring.h>
#include <string.h>

#include "base/alloc.h"
#include "base/publish.h"
#include "base/reclaim.h"
#include "store/chunks.h"
#include "store/keymap.h"
#include "store/limits.h"

#ifdef CROARING_DEPRECATED /* 3.x and later: the old names are there still, but marked */
#    define iterator_init roaring_iterator_init
#    define iterator_read roaring_uint32_iterator_read
#else
#    define iterator_init roaring_init_iterator
#    define iterator_read roaring_read_uint32_iterator
#endif

enum {
    LOOSE_MAX = 64,  /* slots behind the break of a tail */
    TAIL_MIN = 64,   /* a tail may always grow to this, */
    TAIL_PART = 8,   /* and to this part of its set */
    TAIL_FIRST = 2,  /* capacity of a new list: most keywords of a free text field are rare */
    GONE_MIN = 64,   /* removals that are noted before a set is made without them, at least */
    GONE_MAX = 1024, /* and at most; an eighth of the set in between */
    BATCH = 256,
};

struct list {
    roaring_bitmap_t *set; /* NULL: none */
    uint32_t set_count, set_max, set_bytes;
    uint32_t capacity;
    uint32_t n;      /* atomic */
    uint32_t broken; /* atomic; UINT32_MAX while all of the tail ascends */
    uint32_t slots[];
};

struct gone {
    uint32_t n, capacity;
    uint32_t slots[];
};

struct entry {
    const struct key_rec *text;
    struct list *list; /* atomic; NULL: no slots */
    /* Under the writer's lock: removals since the list was built, noted and only counted. */
    struct gone *gone;
    uint32_t stale;
};

struct dictionary {
    struct keymap ids;
    struct chunks entries;
    uint32_t size;  /* atomic */
    uint64_t bytes; /* atomic: of the lists, about */
};

/* ---- dictionary ---- */

struct dictionary *dictionary_create(void)
{
    struct dictionary *d = mem_zalloc(sizeof *d);
    if (d == NULL)
        return NULL;
    keymap_init(&d->ids, false);
    chunks_init(&d->entries, sizeof(struct entry));
    return d;
}

static struct entry *entry_of(const struct dictionary *d, uint32_t id)
{
    return chunks_at(&d->entries, id - 1);
}

static void list_release(void *p)
{
    struct list *list = p;
    if (list->set != NULL)
        roaring_bitmap_free(list->set);
    mem_free(list);
}

/* The set lives on in the list that came after. */
static void list_release_tail(void *p)
{
    mem_free(p);
}

void dictionary_destroy(struct dictionary *d)
{
    for (uint32_t id = 1; id <= d->size; id++) {
        if (entry_of(d, id)->list != NULL)
            list_release(entry_of(d, id)->list);
        mem_free(entry_of(d, id)->gone);
    }
    chunks_destroy(&d->entries);
    keymap_destroy(&d->ids);
    mem_free(d);
}

uint32_t dictionary_size(const struct dictionary *d)
{
    /* ORDER: acquire, pairs with the publish in dictionary_add_w(): entries below it have their text (I4). */
    return take(&d->size);
}

uint32_t dictionary_find(const struct dictionary *d, const char *text, size_t length)
{
    assert(reclaim_reading());
    if (length > MAX_KEYWORD)
        return 0;
    struct key key = {.length = (uint32_t)length, .bytes = text};
    const struct key_rec *rec = keymap_find_rcu(&d->ids, &key);
    if (rec == NULL)
        return 0;
    /* ORDER: acquire, pairs with the publish of the reference in dictionary_add_w(): the id's entry stands. */
    uint32_t id = take(&rec->ref);
    return id == KEY_NONE ? 0 : id;
}

const char *dictionary_text(const struct dictionary *d, uint32_t id, uint32_t *length)
{
    const struct key_rec *rec = entry_of(d, id)->text;
    *length = rec->length;
    return rec->bytes;
}

uint32_t dictionary_add_w(struct dictionary *d, const char *text, size_t length)
{
    struct key key = {.length = (uint32_t)length, .bytes = text};
    struct key_rec *rec = keymap_find_w(&d->ids, &key);
    if (rec != NULL)
        return rec->ref;
    if (d->size == KEY_NONE - 1 || !chunks_ensure_shared(&d->entries, d->size))
        return 0;
    rec = keymap_put_w(&d->ids, &key, d->size + 1);
    if (rec == NULL)
        return 0;
    entry_of(d, d->size + 1)->text = rec;
    /* ORDER: release, pairs with the take in dictionary_size(): the entry's text is set (I4). */
    publish(&d->size, d->size + 1);
    return d->size;
}

/* ---- lists: the writer's side ---- */

static uint32_t tail_limit(const struct list *list)
{
    uint32_t part = list->set_count / TAIL_PART;
    return part > TAIL_MIN ? part : TAIL_MIN;
}

static uint64_t list_bytes(const struct list *list)
{
    return list == NULL ? 0 : sizeof *list + (uint64_t)list->capacity * sizeof *list->slots + list->set_bytes;
}

static struct list *list_make(uint32_t capacity)
{
    struct list *list = mem_alloc(sizeof *list + (size_t)capacity * sizeof *list->slots);
    if (list == NULL)
        return NULL;
    memset(list, 0, sizeof *list);
    list->capacity = capacity;
    list->broken = UINT32_MAX;
    return list;
}

/* Gives a new list, nobody sees it yet, its set. */
static void list_give_set(struct list *list, roaring_bitmap_t *set)
{
    list->set = set;
    list->set_count = (uint32_t)roaring_bitmap_get_cardinality(set);
    list->set_max = roaring_bitmap_maximum(set);
    list->set_bytes = (uint32_t)roaring_bitmap_portable_size_in_bytes(set) + (uint32_t)sizeof *set;
}

/* Is there room for a copy of the set with n more slots? Estimated from above: containers of bits are 8 KiB, those of an array double. */
static bool set_room(const struct list *list, uint32_t n)
{
    uint64_t set = list == NULL ? 0 : list->set_bytes;
    return mem_room(2 * set + 8192 + 64 * (uint64_t)n);
}

/* Puts a list in the place of another. `shared`: the old one's set lives on in the new one. */
static void list_replace(struct dictionary *d, struct entry *entry, struct list *list, bool shared)
{
    struct list *old = entry->list;
    /* ORDER: relaxed: a sum for statistics. */
    add_relaxed(&d->bytes, list_bytes(list) - list_bytes(old));
    /* ORDER: release, pairs with the take in postings_open() and postings_cardinality(): set and tail are filled (G1, G2). */
    publish(&entry->list, list);
    if (old != NULL)
        /* RETIRE: unlinked by the publish above; cursors opened before may walk it; freed after a grace period. */
        reclaim_retire(old, shared ? list_release_tail : list_release);
}

/* Appends to a tail that has room for it. */
static void list_append(struct list *list, uint32_t slot)
{
    uint32_t n = list->n;
    if (list->broken == UINT32_MAX && n > 0 && slot <= list->slots[n - 1])
        /* ORDER: relaxed: a reader of the older n sees it at n or beyond, which changes nothing for it; the publish below covers the rest. */
        store_relaxed(&list->broken, n);
    list->slots[n] = slot;
    /* ORDER: release, pairs with the take of n in postings_open(): slots[n] and `broken` are stored (I2, I3). */
    publish(&list->n, n + 1);
}

/* The same list with room for more at its tail. */
static struct list *list_grown(const struct list *old)
{
    uint32_t limit = tail_limit(old), capacity = old->capacity > limit / 2 ? limit : old->capacity * 2;
    struct list *list = list_make(capacity);
    if (list == NULL)
        return NULL;
    uint32_t bound = list->capacity;
    *list = *old;
    list->capacity = bound;
    memcpy(list->slots, old->slots, old->n * sizeof *old->slots);
    return list;
}

/* A new list whose set holds all of the old one and the slot. */
static struct list *list_merged(const struct list *old, uint32_t slot)
{
    if (!set_room(old, old->n + 1))
        return NULL;
    struct list *list = list_make(TAIL_MIN / 4);
    if (list == NULL)
        return NULL;
    roaring_bitmap_t *set = old->set == NULL ? roaring_bitmap_create() : roaring_bitmap_copy(old->set);
    roaring_bitmap_add_many(set, old->n, old->slots);
    roaring_bitmap_add(set, slot);
    list_give_set(list, set);
    return list;
}

bool postings_add_w(struct dictionary *d, uint32_t id, uint32_t slot)
{
    struct entry *entry = entry_of(d, id);
    struct list *old = entry->list, *list;
    if (old == NULL) {
        list = list_make(TAIL_FIRST);
        if (list == NULL)
            return false;
        list_append(list, slot);
        list_replace(d, entry, list, false);
        return true;
    }
    uint32_t n = old->n;
    if (n > 0 && old->slots[n - 1] == slot)
        return true;
    bool breaks = n > 0 && (old->broken != UINT32_MAX || slot < old->slots[n - 1]);
    bool loose_full = breaks && old->broken != UINT32_MAX && n - old->broken >= LOOSE_MAX;
    if (n < old->capacity && !loose_full) {
        list_append(old, slot);
        return true;
    }
    if (n < tail_limit(old) && !loose_full) {
        list = list_grown(old);
        if (list == NULL)
            return false;
        list_append(list, slot);
        list_replace(d, entry, list, true);
        return true;
    }
    list = list_merged(old, slot);
    if (list == NULL)
        return false;
    list_replace(d, entry, list, false);
    return true;
}

/* What is kept of a list: in `few` while that is enough, in a set when it is not. */
struct kept {
    uint32_t few[TAIL_MIN];
    uint32_t n; /* in few; not used once there is a set */
    roaring_bitmap_t *set;
};

static void keep_batch(struct kept *kept, const uint32_t *slots, uint32_t n)
{
    if (kept->set == NULL && kept->n + n <= TAIL_MIN) {
        memcpy(kept->few + kept->n, slots, n * sizeof *slots);
        kept->n += n;
        return;
    }
    if (kept->set == NULL) {
        kept->set = roaring_bitmap_create();
        roaring_bitmap_add_many(kept->set, kept->n, kept->few);
    }
    roaring_bitmap_add_many(kept->set, n, slots);
}

/* The list without its stale slots; *empty when nothing is left. NULL otherwise: no memory. */
static struct list *list_rebuilt(const struct dictionary *d, uint32_t id, bool (*keep)(void *, uint32_t, uint32_t), void *context,
                                 bool *empty)
{
    struct kept kept = {.n = 0, .set = NULL};
    struct postings_cursor cursor;
    uint32_t slots[BATCH], n;
    postings_open(d, id, &cursor);
    while ((n = postings_next(&cursor, slots, BATCH)) != 0) {
        uint32_t m = 0;
        for (uint32_t i = 0; i < n; i++)
            if (keep(context, id, slots[i]))
                slots[m++] = slots[i];
        keep_batch(&kept, slots, m);
    }
    *empty = kept.set == NULL && kept.n == 0;
    if (*empty)
        return NULL;
    struct list *list = list_make(kept.set == NULL ? kept.n + TAIL_FIRST : TAIL_MIN / 4);
    if (list == NULL) {
        if (kept.set != NULL)
            roaring_bitmap_free(kept.set);
        return NULL;
    }
    if (kept.set != NULL) {
        list_give_set(list, kept.set);
        return list;
    }
    memcpy(list->slots, kept.few, kept.n * sizeof *kept.few);
    list->n = kept.n;
    return list;
}

static uint64_t gone_bytes(const struct gone *gone)
{
    return gone == NULL ? 0 : sizeof *gone + (uint64_t)gone->capacity * sizeof *gone->slots;
}

static bool grow_gone(struct dictionary *d, struct entry *entry)
{
    uint64_t bytes = gone_bytes(entry->gone);
    uint32_t capacity = entry->gone == NULL ? GONE_MIN / 4 : entry->gone->capacity * 2;
    struct gone *gone = mem_realloc(entry->gone, sizeof *gone + capacity * sizeof *gone->slots);
    if (gone == NULL)
        return false;
    if (entry->gone == NULL)
        gone->n = 0;
    gone->capacity = capacity;
    entry->gone = gone;
    /* ORDER: relaxed: a sum for statistics. */
    add_relaxed(&d->bytes, gone_bytes(gone) - bytes);
    return true;
}

/* Notes a removal; false when there is no room for it. */
static bool note_gone(struct dictionary *d, struct entry *entry, uint32_t slot)
{
    const struct gone *gone = entry->gone;
    if (gone == NULL || gone->n == gone->capacity)
        if ((gone != NULL && gone->capacity >= GONE_MAX) || !grow_gone(d, entry))
            return false;
    entry->gone->slots[entry->gone->n++] = slot;
    return true;
}

/* Nothing noted is in the list any more. */
static void forget_gone(struct dictionary *d, struct entry *entry)
{
    if (entry->gone == NULL)
        return;
    entry->gone->n = 0;
    if (entry->list != NULL && entry->list->set != NULL)
        return;
    /* ORDER: relaxed: a sum for statistics. */
    sub_relaxed(&d->bytes, gone_bytes(entry->gone));
    mem_free(entry->gone);
    entry->gone = NULL;
}

/* A list of a set that nobody else has; *empty: of none, since it is empty. NULL otherwise: no memory. Takes the set. */
static struct list *list_of_set(roaring_bitmap_t *set, bool *empty)
{
    uint64_t n = roaring_bitmap_get_cardinality(set);
    struct list *list = NULL;
    *empty = n == 0;
    if (n > TAIL_MIN / 2) {
        list = list_make(TAIL_MIN / 4);
        if (list != NULL) {
            list_give_set(list, set);
            return list;
        }
    } else if (n > 0) {
        list = list_make((uint32_t)n + TAIL_FIRST);
        if (list != NULL) {
            roaring_bitmap_to_uint32_array(set, list->slots);
            list->n = (uint32_t)n;
        }
    }
    roaring_bitmap_free(set);
    return list;
}

/* The list without the slots that are noted, unless they have the keyword again. */
static struct list *list_without(const struct entry *entry, uint32_t id, bool (*keep)(void *, uint32_t, uint32_t), void *context,
                                 bool *empty)
{
    const struct list *old = entry->list;
    roaring_bitmap_t *set = roaring_bitmap_copy(old->set);
    roaring_bitmap_add_many(set, old->n, old->slots);
    for (uint32_t i = 0; i < entry->gone->n; i++)
        if (!keep(context, id, entry->gone->slots[i]))
            roaring_bitmap_remove(set, entry->gone->slots[i]);
    return list_of_set(set, empty);
}

static uint32_t gone_limit(const struct list *list)
{
    uint32_t half = (list->set_count + list->n) / 2 + 1, part = list->set_count / 8;
    uint32_t limit = part < GONE_MIN ? GONE_MIN : part > GONE_MAX ? GONE_MAX : part;
    return half < limit ? half : limit;
}

void postings_remove_w(struct dictionary *d, uint32_t id, uint32_t slot, bool (*keep)(void *context, uint32_t id, uint32_t slot),
                       void *context)
{
    struct entry *entry = entry_of(d, id);
    const struct list *old = entry->list;
    if (old == NULL)
        return;
    if (old->set == NULL || !note_gone(d, entry, slot))
        entry->stale++;
    bool all = entry->stale > (old->set_count + old->n) / 2, empty = false;
    if (!all && (entry->gone == NULL || entry->gone->n < gone_limit(old)))
        return;
    if (!set_room(old, old->n))
        return;
    struct list *list = all ? list_rebuilt(d, id, keep, context, &empty) : list_without(entry, id, keep, context, &empty);
    if (list == NULL && !empty)
        return;
    list_replace(d, entry, list, false);
    if (all || empty)
        entry->stale = 0;
    forget_gone(d, entry);
}

/* ---- readers ---- */

uint64_t postings_cardinality(const struct dictionary *d, uint32_t id)
{
    /* ORDER: acquire, pairs with the publish in list_replace(): the list is filled. */
    const struct list *list = take(&entry_of(d, id)->list);
    /* ORDER: relaxed: a bound, nobody reads slots by it. */
    return list == NULL ? 0 : (uint64_t)list->set_count + load_relaxed(&list->n);
}

struct cursor {
    roaring_uint32_iterator_t set; /* not initialised without a set */
    const struct list *list;
    uint32_t at, ascending;   /* next of the tail's ascending part, and its length */
    uint32_t loose_at, loose; /* the same of the sorted loose end */
    uint32_t loose_slots[LOOSE_MAX];
};
_Static_assert(sizeof(struct cursor) <= sizeof(struct postings_cursor), "a cursor fits into what callers give it");
_Static_assert(_Alignof(struct cursor) <= _Alignof(struct postings_cursor), "and stands aligned there");

static void sort_slots(uint32_t *slots, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t slot = slots[i], j = i;
        for (; j > 0 && slots[j - 1] > slot; j--)
            slots[j] = slots[j - 1];
        slots[j] = slot;
    }
}

void postings_open(const struct dictionary *d, uint32_t id, struct postings_cursor *opaque)
{
    struct cursor *c = (struct cursor *)opaque;
    /* ORDER: acquire, pairs with the publish in list_replace(): set and tail are filled (G2). */
    const struct list *list = take(&entry_of(d, id)->list);
    c->list = list;
    c->at = c->ascending = c->loose_at = c->loose = 0;
    if (list == NULL)
        return;
    /* ORDER: acquire, pairs with the publish in list_append(): slots[0 .. n) and the break among them are stored. */
    uint32_t n = take(&list->n);
    /* ORDER: relaxed: covered by the acquire above; a later break lies at n or beyond. */
    uint32_t broken = load_relaxed(&list->broken);
    c->ascending = broken < n ? broken : n;
    c->loose = n - c->ascending;
    memcpy(c->loose_slots, list->slots + c->ascending, c->loose * sizeof *c->loose_slots);
    sort_slots(c->loose_slots, c->loose);
    if (list->set != NULL)
        iterator_init(list->set, &c->set);
}

#define NO_SLOT UINT64_MAX

/* The smallest slot of the tail that was not given yet. */
static uint64_t tail_head(const struct cursor *c)
{
    uint64_t head = NO_SLOT;
    if (c->at < c->ascending)
        head = c->list->slots[c->at];
    if (c->loose_at < c->loose && c->loose_slots[c->loose_at] < head)
        head = c->loose_slots[c->loose_at];
    return head;
}

static void tail_pass(struct cursor *c, uint32_t slot)
{
    while (c->at < c->ascending && c->list->slots[c->at] == slot)
        c->at++;
    while (c->loose_at < c->loose && c->loose_slots[c->loose_at] == slot)
        c->loose_at++;
}

static unsigned count_below(const uint32_t *slots, unsigned n, uint64_t limit)
{
    unsigned low = 0;
    while (low < n) {
        unsigned middle = low + (n - low) / 2;
        if (slots[middle] < limit)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Reads the set's slots below `limit`: steps double while all of one lie below; one that goes beyond is taken back and read again shorter. */
static unsigned read_below(roaring_uint32_iterator_t *set, uint64_t limit, uint32_t *slots, unsigned capacity)
{
    unsigned n = 0, step = limit == NO_SLOT ? BATCH : 1;
    while (n < capacity && set->has_value && set->current_value < limit) {
        roaring_uint32_iterator_t before = *set;
        unsigned got = iterator_read(set, slots + n, step < capacity - n ? step : capacity - n);
        if (slots[n + got - 1] < limit) {
            n += got;
            step = step < BATCH ? step * 2 : BATCH;
            continue;
        }
        *set = before;
        return n + iterator_read(set, slots + n, count_below(slots + n, got, limit));
    }
    return n;
}

unsigned postings_next(struct postings_cursor *opaque, uint32_t *slots, unsigned capacity)
{
    struct cursor *c = (struct cursor *)opaque;
    unsigned n = 0;
    if (c->list == NULL)
        return 0;
    bool has_set = c->list->set != NULL;
    while (n < capacity) {
        uint64_t head = tail_head(c);
        if (has_set && c->set.has_value && c->set.current_value <= head) {
            if (head > c->list->set_max)
                n += read_below(&c->set, NO_SLOT, slots + n, capacity - n);
            else if (c->set.current_value == head) {
                n += iterator_read(&c->set, slots + n, 1);
                tail_pass(c, (uint32_t)head);
            } else
                n += read_below(&c->set, head, slots + n, capacity - n);
        } else if (head != NO_SLOT) {
            slots[n++] = (uint32_t)head;
            tail_pass(c, (uint32_t)head);
        } else
            break;
    }
    return n;
}

/* ---- statistics and checks ---- */

uint64_t dictionary_bytes(const struct dictionary *d)
{
    /* ORDER: relaxed: a sum for statistics. */
    uint64_t lists = load_relaxed(&d->bytes);
    return sizeof *d + lists + keymap_bytes(&d->ids) + chunks_bytes(&d->entries);
}

static bool list_validate(const struct list *list, uint32_t id, struct error *e)
{
    uint32_t ascending = list->n < list->broken ? list->n : list->broken;
    if (list->n > list->capacity)
        return fail(e, STATUS_INTERNAL, -1, "keyword %u: its tail is longer than its room", id), false;
    for (uint32_t i = 1; i < ascending; i++)
        if (list->slots[i] <= list->slots[i - 1])
            return fail(e, STATUS_INTERNAL, -1, "keyword %u: its tail does not ascend", id), false;
    if (list->n - ascending > LOOSE_MAX)
        return fail(e, STATUS_INTERNAL, -1, "keyword %u: its tail's loose end is too long", id), false;
    if (list->set != NULL && roaring_bitmap_get_cardinality(list->set) != list->set_count)
        return fail(e, STATUS_INTERNAL, -1, "keyword %u: its set's count is wrong", id), false;
    if (list->set != NULL && roaring_bitmap_maximum(list->set) != list->set_max)
        return fail(e, STATUS_INTERNAL, -1, "keyword %u: its set's maximum is wrong", id), false;
    return true;
}

bool dictionary_validate(const struct dictionary *d, struct error *e)
{
    if (!keymap_validate(&d->ids, e))
        return false;
    uint64_t bytes = 0;
    for (uint32_t id = 1; id <= d->size; id++) {
        const struct entry *entry = entry_of(d, id);
        uint32_t length;
        const char *text = dictionary_text(d, id, &length);
        if (dictionary_find(d, text, length) != id)
            return fail(e, STATUS_INTERNAL, -1, "keyword %u is not found by its text", id), false;
        if (entry->list != NULL && !list_validate(entry->list, id, e))
            return false;
        if (entry->gone != NULL && (entry->list == NULL || entry->list->set == NULL || entry->gone->n > entry->gone->capacity))
            return fail(e, STATUS_INTERNAL, -1, "keyword %u: removals are noted of no set, or too many", id), false;
        bytes += list_bytes(entry->list) + gone_bytes(entry->gone);
    }
    if (bytes != d->bytes)
        return fail(e, STATUS_INTERNAL, -1, "the keyword lists' bytes do not add up"), false;
    return true;
}
