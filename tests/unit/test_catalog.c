/* SPDX-License-Identifier: MIT */
/* Schema changes: what is refused, what is found, roles, dropping, and a lack of memory at every allocation. */
#include "check.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/publish.h"
#include "store_fixture.h"

static struct field_def field(const char *name, unsigned type)
{
    struct field_def d = {.type = (uint8_t)type};
    memcpy(d.name, name, strlen(name));
    return d;
}

static struct field_def field_as(const char *name, unsigned type, enum role role)
{
    struct field_def d = field(name, type);
    d.role = (uint8_t)role;
    d.role_by_as = true;
    return d;
}

static struct signal_def signal_of(const char *name)
{
    struct signal_def d = {.decay = DECAY_HALF_LIFE, .half_life = 3600LL * 1000000, .n_windows = 2, .windows = {3600, 86400}};
    memcpy(d.name, name, strlen(name));
    return d;
}

static struct kind *make(struct catalog *c, const char *name, unsigned n, const struct field_def *fields)
{
    struct error e = {0};
    assert_int_equal(catalog_create_kind(c, name, false, n, fields, &e), STATUS_OK);
    struct kind *k = catalog_kind(c, name);
    assert_non_null(k);
    return k;
}

#define assert_says(e, words) (strstr((e).text, words) != NULL ? (void)0 : fail_msg("\"%s\" does not say \"%s\"", (e).text, words))

static void names(void **state)
{
    (void)state;
    struct catalog c;
    struct error e = {0};
    char longest[MAX_NAME + 2];
    static const char *const reserved[] = {"key", "score", "text", "taste", "all", "user"};
    assert_int_equal(catalog_init(&c), STATUS_OK);
    assert_int_equal(catalog_create_kind(&c, "", false, 0, NULL, &e), STATUS_INVALID);
    for (size_t i = 0; i < 6; i++) {
        struct field_def f = field(reserved[i], FIELD_INTEGER);
        assert_int_equal(catalog_create_kind(&c, reserved[i], false, 0, NULL, &e), STATUS_INVALID);
        assert_says(e, reserved[i]);
        assert_int_equal(catalog_create_kind(&c, "film", false, 1, &f, &e), STATUS_INVALID);
        assert_null(catalog_kind(&c, "film"));
    }
    memset(longest, 'n', sizeof longest);
    longest[MAX_NAME + 1] = 0;
    assert_int_equal(catalog_create_kind(&c, longest, false, 0, NULL, &e), STATUS_LIMIT);
    longest[MAX_NAME] = 0;
    make(&c, longest, 0, NULL);
    assert_int_equal(catalog_create_kind(&c, "\xff", false, 0, NULL, &e), STATUS_ENCODING);
    make(&c, "Key", 0, NULL); /* names are case-sensitive */
    make(&c, "select from", 0, NULL);
    assert_int_equal(catalog_create_kind(&c, "Key", false, 0, NULL, &e), STATUS_EXISTS);
    struct field_def unended = field("x", FIELD_INTEGER);
    memset(unended.name, 'x', sizeof unended.name);
    assert_int_equal(catalog_create_kind(&c, "film", false, 1, &unended, &e), STATUS_LIMIT);
    catalog_destroy(&c);
}

static void fields(void **state)
{
    (void)state;
    struct catalog c;
    struct error e = {0};
    catalog_init(&c);
    struct field_def twice[] = {field("a", FIELD_INTEGER), field("a", FIELD_REAL)};
    assert_int_equal(catalog_create_kind(&c, "film", false, 2, twice, &e), STATUS_EXISTS);
    struct field_def vector = field("v", FIELD_VECTOR);
    assert_int_equal(catalog_create_kind(&c, "film", false, 1, &vector, &e), STATUS_RANGE);
    vector.dimension = MAX_DIMENSION + 1;
    assert_int_equal(catalog_create_kind(&c, "film", false, 1, &vector, &e), STATUS_RANGE);
    struct field_def ends[] = {field("u", FIELD_TIME), field("v", FIELD_TIME)};
    ends[0].expires = ends[1].expires = true;
    assert_int_equal(catalog_create_kind(&c, "film", false, 2, ends, &e), STATUS_EXISTS);
    ends[0].type = FIELD_INTEGER;
    assert_int_equal(catalog_create_kind(&c, "film", false, 1, ends, &e), STATUS_TYPE);
    assert_null(catalog_kind(&c, "film"));
    struct kind *k = make(&c, "film", FILM_FIELDS, FILM);
    assert_ptr_equal(k->expires, k->fields[UNTIL]);
    for (unsigned i = 0; i < FILM_FIELDS; i++)
        assert_ptr_equal(kind_field(k, FILM[i].name), k->fields[i]);
    assert_null(kind_field(k, "Title"));
    struct field_def again = field("until", FIELD_TIME), also = field("later", FIELD_TIME);
    also.expires = true;
    assert_int_equal(catalog_add_fields(&c, k, 1, &again, &e), STATUS_EXISTS);
    assert_int_equal(catalog_add_fields(&c, k, 1, &also, &e), STATUS_EXISTS);
    assert_int_equal(k->n_fields, FILM_FIELDS);
    struct field_def many[MAX_FIELDS];
    for (unsigned i = 0; i < MAX_FIELDS; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%u", i);
        many[i] = field(name, i % 7 == FIELD_VECTOR ? FIELD_TEXT : i % 7);
    }
    assert_int_equal(catalog_add_fields(&c, k, MAX_FIELDS - FILM_FIELDS + 1, many, &e), STATUS_LIMIT);
    assert_int_equal(catalog_add_fields(&c, k, MAX_FIELDS - FILM_FIELDS, many, &e), STATUS_OK);
    assert_int_equal(k->n_fields, MAX_FIELDS);
    assert_ptr_equal(kind_field(k, "f100"), k->fields[FILM_FIELDS + 100]);
    assert_true(valid(k));
    catalog_destroy(&c);
}

static void roles(void **state)
{
    (void)state;
    struct catalog c;
    struct error e = {0};
    catalog_init(&c);
    struct field_def named[] = {field("title", FIELD_TEXT), field("author", FIELD_KEYWORD), field("created", FIELD_INTEGER),
                                field("duration", FIELD_REAL)};
    struct kind *k = make(&c, "post", 4, named);
    assert_ptr_equal(kind_role(k, ROLE_TITLE), k->fields[0]);
    assert_ptr_equal(kind_role(k, ROLE_AUTHOR), k->fields[1]);
    assert_null(kind_role(k, ROLE_CREATED)); /* an integer is no time */
    assert_ptr_equal(kind_role(k, ROLE_DURATION), k->fields[3]);
    assert_null(kind_role(k, ROLE_NONE));
    assert_ptr_equal(kind_field(k, "created"), k->fields[2]); /* but a field of that name it is */
    struct field_def headline = field_as("headline", FIELD_KEYWORD, ROLE_TITLE);
    assert_int_equal(catalog_add_fields(&c, k, 1, &headline, &e), STATUS_OK);
    assert_ptr_equal(kind_role(k, ROLE_TITLE), k->fields[4]); /* AS wins over the name */
    assert_ptr_equal(kind_field(k, "title"), k->fields[0]);
    struct field_def second = field_as("second", FIELD_TEXT, ROLE_TITLE);
    assert_int_equal(catalog_add_fields(&c, k, 1, &second, &e), STATUS_EXISTS);
    assert_says(e, "title");
    k = make(&c, "film", FILM_FIELDS, FILM);
    assert_ptr_equal(kind_field(k, "author"), k->fields[DIRECTOR]);
    assert_ptr_equal(kind_field(k, "created"), k->fields[RELEASED]);
    assert_null(kind_field(k, "duration"));
    static const struct {
        enum role role;
        unsigned types;
    } fits[] = {
        {ROLE_TITLE, 1u << FIELD_TEXT | 1u << FIELD_KEYWORD},
        {ROLE_AUTHOR, 1u << FIELD_KEYWORD},
        {ROLE_CREATED, 1u << FIELD_TIME},
        {ROLE_DURATION, 1u << FIELD_INTEGER | 1u << FIELD_REAL},
    };
    for (size_t i = 0; i < 4; i++)
        for (unsigned type = FIELD_INTEGER; type <= FIELD_VECTOR; type++) {
            struct field_def d = field_as("x", type, fits[i].role);
            d.dimension = 3;
            bool right = fits[i].types >> type & 1;
            char name[32];
            snprintf(name, sizeof name, "kind%zu_%u", i, type);
            assert_int_equal(catalog_create_kind(&c, name, false, 1, &d, &e), right ? STATUS_OK : STATUS_TYPE);
        }
    assert_int_equal(role_by_name("author"), ROLE_AUTHOR);
    assert_int_equal(role_by_name("Author"), ROLE_NONE);
    assert_int_equal(role_by_name(""), ROLE_NONE);
    assert_string_equal(field_type_name(FIELD_KEYWORDS), "KEYWORDS");
    catalog_destroy(&c);
}

static void signals(void **state)
{
    (void)state;
    struct catalog c;
    struct error e = {0};
    catalog_init(&c);
    struct kind *k = make(&c, "film", FILM_FIELDS, FILM);
    struct signal_def view = signal_of("view"), like = signal_of("like");
    assert_int_equal(catalog_create_signal(&c, k, &view, &e), STATUS_OK);
    assert_int_equal(catalog_create_signal(&c, k, &like, &e), STATUS_OK);
    assert_int_equal(catalog_create_signal(&c, k, &view, &e), STATUS_EXISTS);
    assert_int_equal(kind_signal_index(k, "view"), 0);
    assert_int_equal(kind_signal_index(k, "like"), 1);
    assert_int_equal(kind_signal_index(k, "skip"), -1);
    struct signal_def bad = signal_of("all");
    assert_int_equal(catalog_create_signal(&c, k, &bad, &e), STATUS_INVALID);
    bad = signal_of("bad");
    bad.half_life = 29 * 1000000;
    assert_int_equal(catalog_create_signal(&c, k, &bad, &e), STATUS_RANGE);
    bad = signal_of("bad");
    bad.decay = DECAY_POWER;
    assert_int_equal(catalog_create_signal(&c, k, &bad, &e), STATUS_RANGE);
    bad = signal_of("bad");
    bad.windows[0] = 61;
    assert_int_equal(catalog_create_signal(&c, k, &bad, &e), STATUS_RANGE);
    bad.windows[0] = bad.windows[1] = 60;
    assert_int_equal(catalog_create_signal(&c, k, &bad, &e), STATUS_INVALID);
    assert_int_equal(catalog_drop_signal(&c, k, "skip", &e), STATUS_UNKNOWN);
    reclaim_enter();
    assert_string_equal(signal_definition(kind_signal_rcu(k, 0))->name, "view");
    reclaim_leave();
    assert_int_equal(catalog_drop_signal(&c, k, "view", &e), STATUS_OK);
    reclaim_enter();
    assert_null(kind_signal_rcu(k, 0));
    assert_non_null(kind_signal_rcu(k, 1));
    reclaim_leave();
    assert_int_equal(kind_signal_index(k, "view"), -1);
    assert_int_equal(catalog_create_signal(&c, k, &view, &e), STATUS_OK);
    assert_int_equal(kind_signal_index(k, "view"), 2);
    assert_string_equal(k->signals[0].def->name, "view"); /* the shell stays */
    reclaim_barrier();
    assert_true(valid(k));
    catalog_destroy(&c);
}

static void profiles(void **state)
{
    (void)state;
    struct catalog c;
    struct error e = {0};
    catalog_init(&c);
    struct kind *k = make(&c, "film", FILM_FIELDS, FILM);
    reclaim_enter();
    assert_null(kind_profile_rcu(k, "evening"));
    reclaim_leave();
    assert_int_equal(catalog_set_profile(&c, k, "evening", "one", true, &e), STATUS_UNKNOWN);
    assert_int_equal(catalog_set_profile(&c, k, "evening", "one", false, &e), STATUS_OK);
    assert_int_equal(catalog_set_profile(&c, k, "evening", "two", false, &e), STATUS_EXISTS);
    assert_int_equal(catalog_set_profile(&c, k, "morning", "three", false, &e), STATUS_OK);
    assert_int_equal(catalog_set_profile(&c, k, "score", "four", false, &e), STATUS_INVALID);
    reclaim_enter();
    const struct profile *held = kind_profile_rcu(k, "evening");
    assert_string_equal(held->text, "one");
    reclaim_leave();
    assert_int_equal(catalog_set_profile(&c, k, "evening", "two", true, &e), STATUS_OK);
    reclaim_enter();
    assert_string_equal(kind_profile_rcu(k, "evening")->text, "two");
    assert_string_equal(kind_profile_rcu(k, "morning")->text, "three");
    reclaim_leave();
    assert_int_equal(k->profiles->n, 2);
    assert_int_equal(catalog_drop_profile(&c, k, "evening", &e), STATUS_OK);
    assert_int_equal(catalog_drop_profile(&c, k, "evening", &e), STATUS_UNKNOWN);
    assert_int_equal(k->profiles->n, 1);
    assert_int_equal(catalog_drop_profile(&c, k, "morning", &e), STATUS_OK);
    assert_int_equal(k->profiles->n, 0);
    catalog_destroy(&c);
}

static void dropping_kinds(void **state)
{
    (void)state;
    struct catalog c;
    struct error e = {0};
    struct item_change done;
    catalog_init(&c);
    for (int round = 0; round < 20; round++) {
        struct kind *k = make(&c, "film", FILM_FIELDS, FILM);
        struct signal_def view = signal_of("view"), like = signal_of("like");
        assert_int_equal(catalog_create_signal(&c, k, &view, &e), STATUS_OK);
        assert_int_equal(catalog_create_signal(&c, k, &like, &e), STATUS_OK);
        assert_int_equal(catalog_drop_signal(&c, k, "view", &e), STATUS_OK);
        assert_int_equal(catalog_set_profile(&c, k, "evening", "one", false, &e), STATUS_OK);
        struct value genre = v_text("drama");
        for (int i = 0; i < 300; i++) {
            char key[16];
            struct change ch = {0};
            snprintf(key, sizeof key, "%d", i);
            set(&ch, TITLE, v_text(key));
            set(&ch, GENRES, v_list(&genre, 1));
            assert_int_equal(put_change(k, v_text(key), &ch, false, 1, &done, &e), STATUS_OK);
            if (i % 3 == 0) /* ends of grace periods are on their way when the kind goes */
                assert_int_equal(delete_key(k, v_text(key), 1, &e), STATUS_OK);
        }
        reclaim_enter();
        const struct row *held = find(k, v_text("1"), 1);
        assert_non_null(held);
        reclaim_leave();
        assert_int_equal(catalog_drop_kind(&c, k, &e), STATUS_OK);
        assert_true(kind_dropped(k));
        assert_null(catalog_kind(&c, "film"));
        assert_int_equal(catalog_drop_kind(&c, k, &e), STATUS_STALE);
        struct change empty = {0};
        assert_int_equal(put_change(k, v_text("1"), &empty, false, 1, &done, &e), STATUS_STALE);
        assert_int_equal(delete_key(k, v_text("1"), 1, &e), STATUS_STALE);
        assert_int_equal(catalog_add_fields(&c, k, 1, &FILM[0], &e), STATUS_STALE);
        assert_int_equal(catalog_create_signal(&c, k, &view, &e), STATUS_STALE);
        assert_int_equal(catalog_set_profile(&c, k, "p", "q", false, &e), STATUS_STALE);
        assert_int_equal(sweep(k, 1, 100), 0);
        assert_int_equal(items_count(k, 1), 0);
        struct kind_stats stats;
        items_statistics(k, &stats);
        assert_int_equal(stats.items, 0);
        reclaim_enter();
        assert_null(find(k, v_text("1"), 1));
        assert_null(items_at_rcu(k, 1, 1, 1));
        assert_null(kind_signal_rcu(k, 1));
        assert_null(kind_profile_rcu(k, "evening"));
        reclaim_leave();
        assert_true(valid(k));
        if (round % 2 == 0)
            reclaim_barrier();
        assert_string_equal(k->name, "film");
        assert_string_equal(k->fields[TITLE]->def.name, "title"); /* statements may hold these */
    }
    catalog_destroy(&c);
}

/* ---- a section that began before a drop ---- */

static struct {
    struct kind *k;
    int step; /* atomic: 1: it holds what it found; 2: all was dropped */
} held;

static void *hold_on(void *unused)
{
    uint32_t length;
    (void)unused;
    reclaim_enter();
    const struct row *row = find(held.k, v_text("key"), 1);
    struct signal *signal = kind_signal_rcu(held.k, 0);
    const struct profile *profile = kind_profile_rcu(held.k, "evening");
    publish(&held.step, 1);
    while (take(&held.step) < 2)
        continue;
    if (memcmp(row_text(row, TITLE, &length), "title", 5) != 0 || strcmp(signal_definition(signal)->name, "view") != 0 ||
        strcmp(profile->text, "one") != 0 || *(struct row **)chunks_at(&held.k->rows, 0) != row)
        abort();
    reclaim_leave();
    return NULL;
}

static void what_a_section_holds(void **state)
{
    (void)state;
    struct catalog c;
    struct error e = {0};
    struct item_change done;
    struct change ch = {0};
    struct signal_def view = signal_of("view");
    pthread_t thread;
    catalog_init(&c);
    held.k = make(&c, "film", FILM_FIELDS, FILM);
    set(&ch, TITLE, v_text("title"));
    assert_int_equal(catalog_create_signal(&c, held.k, &view, &e), STATUS_OK);
    assert_int_equal(catalog_set_profile(&c, held.k, "evening", "one", false, &e), STATUS_OK);
    assert_int_equal(put_change(held.k, v_text("key"), &ch, false, 1, &done, &e), STATUS_OK);
    assert_int_equal(pthread_create(&thread, NULL, hold_on, NULL), 0);
    while (take(&held.step) < 1)
        continue;
    assert_int_equal(catalog_drop_signal(&c, held.k, "view", &e), STATUS_OK);
    assert_int_equal(catalog_set_profile(&c, held.k, "evening", "two", true, &e), STATUS_OK);
    assert_int_equal(catalog_drop_kind(&c, held.k, &e), STATUS_OK);
    uint64_t waiting = reclaim_backlog();
    publish(&held.step, 2);
    pthread_join(thread, NULL);
    assert_true(waiting >= 4);
    reclaim_barrier();
    assert_int_equal(reclaim_backlog(), 0);
    catalog_destroy(&c);
}

static void too_many_kinds(void **state)
{
    (void)state;
    struct catalog c;
    struct error e = {0};
    catalog_init(&c);
    for (unsigned i = 0; i < MAX_KINDS; i++) {
        struct kind *k = make(&c, "film", 0, NULL);
        assert_int_equal(k->id, i);
        assert_int_equal(catalog_drop_kind(&c, k, &e), STATUS_OK);
    }
    assert_int_equal(catalog_create_kind(&c, "film", false, 0, NULL, &e), STATUS_LIMIT);
    catalog_destroy(&c);
}

/* One change of each sort, with the n-th allocation failing; all changes are tried until they succeed. */
static bool change_all(struct catalog *c, uint64_t n)
{
    struct error e = {0};
    struct signal_def view = signal_of("view");
    struct field_def more[] = {field("more", FIELD_KEYWORD), field("number", FIELD_INTEGER)};
    bool failed = false;
    mem_fail_at(n, false);
#define TRY(call)                                                           \
    for (status s; (s = (call)) != STATUS_OK;) {                            \
        assert_int_equal(s, STATUS_NO_MEMORY);                              \
        assert_false(failed); /* once it was refused, trying again helps */ \
        failed = true;                                                      \
        if (catalog_kind(c, "film") != NULL)                                \
            assert_true(valid(catalog_kind(c, "film")));                    \
    }
    TRY(catalog_create_kind(c, "film", false, FILM_FIELDS, FILM, &e));
    struct kind *k = catalog_kind(c, "film");
    struct change ch = {0};
    struct item_change done;
    set(&ch, TITLE, v_text("x"));
    TRY(put_change(k, v_text("x"), &ch, false, 1, &done, &e));
    TRY(catalog_add_fields(c, k, 2, more, &e));
    TRY(catalog_create_signal(c, k, &view, &e));
    TRY(catalog_set_profile(c, k, "evening", "one", false, &e));
    TRY(catalog_set_profile(c, k, "evening", "two", true, &e));
    TRY(catalog_drop_profile(c, k, "evening", &e));
    TRY(catalog_drop_signal(c, k, "view", &e));
    TRY(catalog_drop_kind(c, k, &e));
#undef TRY
    mem_fail_at(0, false);
    return failed;
}

static void without_memory(void **state)
{
    (void)state;
    uint64_t n = 1, quiet = 0;
    for (; quiet < 10 && n < 2000; n++) {
        struct catalog c;
        catalog_init(&c);
        quiet = change_all(&c, n) ? 0 : quiet + 1;
        catalog_destroy(&c);
    }
    assert_true(n > 40 && n < 2000);
    reclaim_barrier();
}

/* ---- lookups beside schema changes ---- */

static struct {
    struct catalog c;
    int running; /* atomic: threads that have begun */
    bool over;   /* atomic */
} race;

static void *look_up(void *unused)
{
    (void)unused;
    uintptr_t rounds = 0;
    add_seq(&race.running, 1);
    while (!take(&race.over)) {
        struct kind *k = catalog_kind(&race.c, "film");
        rounds++;
        if (k == NULL)
            continue;
        for (unsigned i = 0; i < FILM_FIELDS; i++)
            if (kind_field(k, FILM[i].name) != k->fields[i])
                abort();
        reclaim_enter();
        const struct profile *p = kind_profile_rcu(k, "evening");
        if (p != NULL && strcmp(p->text, "one") != 0 && strcmp(p->text, "two") != 0)
            abort();
        int index = kind_signal_index(k, "view");
        struct signal *s = index < 0 ? NULL : kind_signal_rcu(k, (unsigned)index);
        if (s != NULL && strcmp(signal_definition(s)->name, "view") != 0)
            abort();
        reclaim_leave();
    }
    return (void *)rounds;
}

static void lookups_beside_changes(void **state)
{
    (void)state;
    pthread_t threads[2];
    struct error e = {0};
    struct signal_def view = signal_of("view");
    void *rounds;
    catalog_init(&race.c);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, NULL), 0);
    while (take(&race.running) < 2)
        continue;
    for (int i = 0; i < 200; i++) {
        struct kind *k = make(&race.c, "film", FILM_FIELDS, FILM);
        for (int j = 0; j < 5; j++) {
            assert_int_equal(catalog_set_profile(&race.c, k, "evening", j % 2 == 0 ? "one" : "two", j > 0, &e), STATUS_OK);
            assert_int_equal(catalog_create_signal(&race.c, k, &view, &e), STATUS_OK);
            assert_int_equal(catalog_drop_signal(&race.c, k, "view", &e), STATUS_OK);
        }
        struct field_def more = field("more", FIELD_REAL);
        assert_int_equal(catalog_add_fields(&race.c, k, 1, &more, &e), STATUS_OK);
        assert_int_equal(catalog_drop_kind(&race.c, k, &e), STATUS_OK);
    }
    publish(&race.over, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &rounds);
        assert_true((uintptr_t)rounds > 0);
    }
    catalog_destroy(&race.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(fields),
        cmocka_unit_test(roles),
        cmocka_unit_test(signals),
        cmocka_unit_test(profiles),
        cmocka_unit_test(dropping_kinds),
        cmocka_unit_test(what_a_section_holds),
        cmocka_unit_test(too_many_kinds),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(lookups_beside_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
