/* SPDX-License-Identifier: MIT */
/* Memory reclamation by RCU (liburcu, bp flavour). The only file that includes urcu is reclaim.c.
 *
 * Readers bracket what they touch with reclaim_enter / reclaim_leave inside ONE call of the ABI. A writer unlinks an object,
 * then retires it: it is freed after every section that could have seen it has ended. */
#ifndef EAGRE_BASE_RECLAIM_H
#define EAGRE_BASE_RECLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Registers the calling thread; implied by the first reclaim_enter, which may then wait for a grace period. Attached threads'
 * sections never wait. Safe to call again. */
void reclaim_attach(void);

void reclaim_enter(void);
void reclaim_leave(void);
bool reclaim_reading(void); /* is this thread inside a section? for assertions */

/* Reserves room for the calling thread's next n retires, and makes the maintenance thread if it is not there yet. False: out of memory
 * or no thread could be made; the write must then be refused before it changed anything. Unused room is kept for the thread. A call
 * within a write that has reserved may reserve again: 64 retires beyond the largest single n are always covered.
 *
 * Never inside a section: when too much waits for release it releases a batch itself, which takes a grace period. So a writer is slowed to
 * the pace of reclamation and memory stays bounded. Holding a lock is fine as long as no section and no release takes that lock. */
bool reclaim_reserve(unsigned n);

/* RETIRE: `p` is already unlinked; `release(p)` runs after a grace period on the maintenance thread (or in reclaim_barrier, or in the
 * reclaim_reserve of any thread). Uses reserved room, so it can not fail. Never blocks for a grace period; takes a short lock.
 * `release` frees: it takes no lock, reserves nothing and retires nothing. */
void reclaim_retire(void *p, void (*release)(void *));

/* Waits until everything retired before has been released. Never inside a section. */
void reclaim_barrier(void);
/* Waits for one grace period. Never inside a section. */
void reclaim_synchronize(void);

uint64_t reclaim_backlog(void); /* objects retired and not yet released */

/* Periodic work: `tick(context)` is called by the maintenance thread about every 100 ms while registered and the thread exists.
 * Unregister waits for a running tick to end (a tick may unregister itself, which does not wait). Registering never starts the thread.
 * A tick may do what any writer may: reserve, retire, take the engine's locks. */
struct reclaim_task {
    void (*tick)(void *context);
    void *context;
    struct reclaim_task *next;
};
void reclaim_task_add(struct reclaim_task *task);
void reclaim_task_remove(struct reclaim_task *task);

/* fork: true in a child of the process that loaded the library. Calls of the ABI answer EAGRE_FORKED then and touch nothing. */
bool reclaim_forked(void);

#endif
