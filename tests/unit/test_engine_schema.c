/* SPDX-License-Identifier: MIT */
/* Schema changes beside each other: what IF [NOT] EXISTS allows never fails, whoever was faster. */
#include <pthread.h>

#include "query_fixture.h"

enum { THREADS = 3, TURNS = 20000 };

static void *make_and_drop(void *unused)
{
    static const char *const texts[] = {"CREATE PROFILE IF NOT EXISTS mine ON page AS n", "DROP PROFILE IF EXISTS mine ON page"};
    eagre_error e = {.struct_size = sizeof e};
    (void)unused;
    for (unsigned i = 0; i < TURNS; i++)
        if (eagre_exec(db, texts[i % 2], strlen(texts[i % 2]), &e) != EAGRE_OK) {
            print_error("%s: %s\n", texts[i % 2], e.text);
            return &db;
        }
    return NULL;
}

static void test_if_exists_beside_another(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    exec("CREATE ITEM page (n INTEGER)");
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_and_drop, NULL), 0);
    void *failed[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], &failed[i]);
    for (unsigned i = 0; i < THREADS; i++)
        assert_null(failed[i]);
}

static void refused(const char *text, eagre_status expected)
{
    if (eagre_exec(db, text, strlen(text), &error) != expected)
        fail_msg("%s: %d was expected, got %d: %s", text, expected, error.code, error.text);
}

/* What it forgives is the thing itself, not what the thing is on. */
static void test_if_exists_forgives_no_more(void **state)
{
    (void)state;
    exec("CREATE ITEM page (n INTEGER); CREATE SIGNAL visit ON page NO DECAY; CREATE PROFILE mine ON page AS n");
    exec("CREATE ITEM IF NOT EXISTS page (m INTEGER); CREATE SIGNAL IF NOT EXISTS visit ON page HALF LIFE 1h");
    exec("CREATE PROFILE IF NOT EXISTS mine ON page AS gone + 1");
    exec("DROP ITEM IF EXISTS other; DROP SIGNAL IF EXISTS other ON page; DROP PROFILE IF EXISTS other ON page");
    refused("CREATE ITEM page (m INTEGER)", EAGRE_EXISTS);
    refused("CREATE SIGNAL visit ON page NO DECAY", EAGRE_EXISTS);
    refused("CREATE PROFILE mine ON page AS n", EAGRE_EXISTS);
    refused("CREATE PROFILE IF NOT EXISTS other ON page AS gone + 1", EAGRE_UNKNOWN);
    refused("CREATE SIGNAL IF NOT EXISTS visit ON other NO DECAY", EAGRE_UNKNOWN);
    refused("DROP SIGNAL IF EXISTS visit ON other", EAGRE_UNKNOWN);
    refused("DROP PROFILE IF EXISTS mine ON other", EAGRE_UNKNOWN);
    refused("DROP ITEM other", EAGRE_UNKNOWN);
    refused("DROP SIGNAL other ON page", EAGRE_UNKNOWN);
    refused("DROP PROFILE other ON page", EAGRE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        case_of(test_if_exists_beside_another),
        case_of(test_if_exists_forgives_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
