/* SPDX-License-Identifier: MIT */
#include <eagre/eagre.h>
#include <stdio.h>
#include <string.h>

#define TEXT(s) {EAGRE_TEXT, sizeof(s) - 1, {.at = (uintptr_t)(s)}}

int main(void)
{
    static const char schema[] = "CREATE ITEM film (title TEXT); CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 24h";
    static const char top[] = "RETRIEVE film USING decay(view) LIMIT 10";
    eagre_value key = TEXT("alien-1979"), field = TEXT("title"), title = TEXT("Alien");
    eagre_error error = {.struct_size = sizeof error};
    eagre_db *db = NULL;
    eagre_stmt *query = NULL;
    uint32_t view;
    size_t needed;
    _Alignas(8) char block[4096]; /* the answer: yours, flat, nothing to free */

    if (eagre_open(NULL, &db, &error) || eagre_exec(db, schema, strlen(schema), &error) ||
        eagre_put(db, "film", &key, 1, &field, &title, NULL, 0, 0, &error) ||
        eagre_signal_id(db, "view", NULL, &view, &error) ||
        eagre_signal_key(db, view, &key, 1.0, EAGRE_NOW, NULL, NULL, 0, &error) ||
        eagre_prepare(db, top, strlen(top), &query, &error) ||
        eagre_run(query, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, &error))
        return fprintf(stderr, "%s: %s\n", eagre_status_name(error.code), error.text), 1;

    const eagre_result *result = (const void *)block;
    const uint64_t *keys = (const void *)(block + result->keys_at);
    const double *scores = (const void *)(block + result->scores_at);
    for (uint32_t i = 0; i < result->n_rows; i++)
        printf("%.3f %.*s\n", scores[i], (int)(keys[i + 1] - keys[i]), block + result->key_bytes_at + keys[i]);
    eagre_finalize(query);
    eagre_close(db);
    return 0;
}
