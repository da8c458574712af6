/* SPDX-License-Identifier: MIT */
/* Shells around what the ABI hands out, so that a handle that was closed, or is of another type, is told from a living one.
 *
 *   caller's handle -> shell { magic, object } -> database or statement
 *
 * A shell's memory is never given back: it always holds a magic number. After a close it rests behind SHELL_REST others before it is used again, so
 * a stale handle is found out for long. Invariant: magic is open's only while object is whole. Progress: looking is wait-free; making and closing
 * take a short lock. */
#ifndef EAGRE_ENGINE_HANDLES_H
#define EAGRE_ENGINE_HANDLES_H

#include <stdint.h>

#include "base/status.h"

enum { SHELL_REST = 4096 };
#define SHELL_DATABASE UINT64_C(0x6561677265206462)
#define SHELL_STATEMENT UINT64_C(0x6561677265207374)
#define SHELL_CLOSED UINT64_C(0x656167726520636c)

struct shell;

struct shell *shell_make(uint64_t magic, void *object); /* NULL: out of memory */
/* The object; NULL with a filled error (CLOSED, or INVALID for what is no such handle). `what` names the argument. */
void *shell_open(const struct shell *s, uint64_t magic, const char *what, struct error *e);
/* Takes the object out: for exactly one of the callers that close. NULL as above. */
void *shell_close(struct shell *s, uint64_t magic, const char *what, struct error *e);

#endif
