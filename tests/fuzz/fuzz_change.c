/* SPDX-License-Identifier: MIT */
/* Any bytes are records of changes, or are refused; what is applied leaves a database in which every invariant holds. An input is records one after another,
 * each with its length before it (two bytes). A libFuzzer target: scripts/fuzz.sh builds and runs it. */
#include "engine/change.h"
#include "engine/handles.h"
#include "host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char schema[] = "CREATE ITEM film (title TEXT, director KEYWORD, genres KEYWORDS, released TIME, minutes INTEGER, rating "
                             "REAL, look VECTOR(2), until TIME EXPIRES);"
                             "CREATE ITEM thing (n INTEGER) KEY INTEGER; CREATE SIGNAL view ON film HALF LIFE 1d WINDOWS 1h FORGETS; "
                             "CREATE SIGNAL hits ON thing NO DECAY";

static const char *const questions[] = {
    "RETRIEVE film USING decay(view) + count(view, 1h) + age(released) + minutes * rating RETURN title, genres, last(view), look COUNT "
    "LIMIT 50",
    "RETRIEVE film ORDER BY title, minutes DESC WHERE director = 'a' OR genres = 'b'",
    "RETRIEVE thing USING sum(hits, all) + n",
    "RETRIEVE thing ORDER BY n, created",
};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void apply(struct database *db, const uint8_t *bytes, size_t length)
{
    struct arena *arena = arena_create();
    uint8_t *record = malloc(length + 1); /* a look beyond it is found out but for one byte; malloc(0) may be NULL */
    struct change c;
    struct error e = {0};
    memcpy(record, bytes, length);
    if (change_decode(db, record, length, arena, &c)) {
        /* Slots far away would only take memory for all those before them. */
        bool near = c.type == CHANGE_SCHEMA || c.slot == SLOT_ANY || c.slot < db->catalog.kinds[c.kind]->n_slots + 3000;
        if (near && change_check(db, &c, &e) == STATUS_OK)
            change_apply(db, &c, &e);
    }
    free(record);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    eagre_options o = {.struct_size = sizeof o, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = 1700000000000000};
    eagre_error e = {.struct_size = sizeof e};
    eagre_db *handle;
    struct answer a = {0};
    require(eagre_open(&o, &handle, &e) == EAGRE_OK && eagre_exec(handle, schema, sizeof schema - 1, &e) == EAGRE_OK, e.text);
    struct database *db = shell_open((struct shell *)handle, SHELL_DATABASE, "db", NULL);
    while (size >= 2) {
        size_t length = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2;
        size -= 2;
        length = length < size ? length : size;
        apply(db, data, length);
        data += length;
        size -= length;
    }
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        answer_query(&a, handle, questions[i], NULL, 0, &e);
    require(eagre_validate(handle, &e) == EAGRE_OK, e.text);
    answer_free(&a);
    require(eagre_close(handle) == EAGRE_OK, "close");
    return 0;
}
