/* SPDX-License-Identifier: MIT */
/* Atomics of the engine in one place: thin names over the compiler's builtins, which ThreadSanitizer understands.
 *
 * Terms: a writer fills memory, then *publishes* it by one release store; a reader *takes* it by one acquire load and sees
 * everything filled before. *relaxed* accesses carry a value that is meaningful alone (a counter, a cell's word).
 * Each use in the engine carries an ORDER comment naming its partner. */
#ifndef EAGRE_BASE_PUBLISH_H
#define EAGRE_BASE_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define take(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define publish(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define sub_relaxed(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_RELAXED)
#define add_seq(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define sub_seq(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_SEQ_CST)
#define load_seq(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define store_seq(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)
#define swap_acq_rel(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
/* Compare-and-swap, release on success, acquire on failure; *expected gets what was there. */
#define cas(p, expected, v) __atomic_compare_exchange_n((p), (expected), (v), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#define cas_relaxed(p, expected, v) \
    __atomic_compare_exchange_n((p), (expected), (v), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#ifdef EAGRE_TSAN
/* TSan does not model fences and gcc refuses them beside it. All that ours order are atomic accesses, which it does see, and which its build does
 * not move; the machine it runs on (x86) keeps loads in order among loads and stores among stores. */
#    define fence_acquire() __asm__ volatile("" ::: "memory")
#    define fence_release() __asm__ volatile("" ::: "memory")
#else
#    define fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#    define fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

#define CACHE_LINE 64

/* Copies n words that writers may be storing to one by one; each word arrives whole. A plain memcpy of aligned words is
 * that on every machine we build for, but not to a race detector. */
static inline void copy_words(uint64_t *to, const uint64_t *from, size_t n)
{
#ifdef EAGRE_TSAN
    for (size_t i = 0; i < n; i++)
        to[i] = load_relaxed(&from[i]);
#else
    memcpy(to, from, n * sizeof *to);
#endif
}

#endif
