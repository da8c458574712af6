/* SPDX-License-Identifier: MIT */
/* What the files of the ABI share: a caller's arguments become the engine's, errors go back. */
#ifndef EAGRE_ABI_ARGUMENTS_H
#define EAGRE_ABI_ARGUMENTS_H

#include "eagre/eagre.h"
#include "engine/database.h"
#include "query/result.h"

/* Copies as much of the detail as the caller's struct has room for; returns s. */
eagre_status give_error(const struct error *from, eagre_status s, eagre_error *to);
status wrong_argument(struct error *e, const char *text);
status refuse_forked(struct error *e);
/* The database behind a handle, kept until database_leave. NULL: a filled error. */
struct database *use_database(const eagre_db *handle, struct error *e);

/* The caller's block of bytes; base NULL: offsets are addresses. */
struct heap { const uint8_t *base; size_t length; };
const void *heap_at(const struct heap *h, uint64_t offset, uint64_t bytes); /* NULL: outside */

/* Lists are translated into memory that lives until the call ends. */
struct scratch { struct value *lists; size_t used, capacity; };
bool plain_value(const struct heap *h, const eagre_value *from, struct value *to); /* no list */
bool take_value(const struct heap *h, const eagre_value *from, struct scratch *s, struct value *to);
/* n values, with their lists, in memory that the caller frees; NULL: a filled error. */
struct value *take_values(const struct heap *h, const eagre_value *from, uint32_t n, const char *what, struct error *e);
status take_key(const struct heap *h, const eagre_value *from, struct value *to, struct error *e);

/* An options struct begins with its size, may be longer than the library knows, and is zero there. */
status check_options(const void *options, uint32_t known, const char *what, struct error *e);

/* The caller's buffer for an answer. */
status read_output(void *out, size_t capacity, size_t *needed, struct output *o, struct error *e);

#endif
