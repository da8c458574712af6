/* SPDX-License-Identifier: MIT */
/* Keyed hashing: SipHash with 1 round per word and 3 at the end (Aumasson, Bernstein 2012), and a faster mix for integers.
 *
 * The key is drawn before the first use, in a constructor, and never changes: no atomics are needed. */
#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

#include "base/publish.h"

static uint64_t secret[4]; /* 0, 1: SipHash's key; 2, 3: hash_u64's */
static uint64_t degraded;  /* of hash_degrade; 0: off */

/* Constructors with a number run before those without, so all others may hash. */
__attribute__((constructor(101))) static void draw_secret(void)
{
    if (getrandom(secret, sizeof secret, GRND_NONBLOCK) == (ssize_t)sizeof secret)
        return;
    /* The kernel has no entropy yet. It gave every process 16 random bytes at its start, which is what is left. */
    const void *given = (const void *)getauxval(AT_RANDOM);
    struct timespec t = {0};
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t z[2] = {(uint64_t)t.tv_nsec, (uint64_t)t.tv_sec};
    if (given != NULL)
        memcpy(z, given, sizeof z);
    for (size_t i = 0; i < 4; i++)
        secret[i] = mix64(z[i & 1] + mix64(z[(i + 1) & 1] + i) + (uint64_t)t.tv_nsec);
}

static uint64_t degrade(uint64_t hash)
{
    /* ORDER: relaxed: set by a test before the threads that hash. */
    uint64_t n = load_relaxed(&degraded);
    return __builtin_expect(n == 0, 1) ? hash : hash % n;
}

static inline uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static inline uint64_t word(const uint8_t *at)
{
    uint64_t w;
    memcpy(&w, at, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return w;
}

/* Leaves the state before the last rounds; `wide` makes the 128-bit variant's other state. */
static inline void sip_absorb(uint64_t v[4], const void *data, size_t length, uint64_t wide)
{
    v[0] = secret[0] ^ 0x736f6d6570736575u;
    v[1] = secret[1] ^ 0x646f72616e646f6du ^ wide;
    v[2] = secret[0] ^ 0x6c7967656e657261u;
    v[3] = secret[1] ^ 0x7465646279746573u;
    const uint8_t *at = data;
    for (size_t left = length / 8; left > 0; left--, at += 8) {
        uint64_t m = word(at);
        v[3] ^= m;
        sip_round(v);
        v[0] ^= m;
    }
    uint64_t last = (uint64_t)length << 56;
    for (size_t i = 0; i < (length & 7); i++)
        last |= (uint64_t)at[i] << (8 * i);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
}

static inline uint64_t sip_finish(uint64_t v[4])
{
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_bytes(const void *data, size_t length)
{
    uint64_t v[4];
    sip_absorb(v, data, length, 0);
    v[2] ^= 0xff;
    return degrade(sip_finish(v));
}

void hash128(const void *data, size_t length, uint64_t out[2])
{
    uint64_t v[4];
    sip_absorb(v, data, length, 0xee);
    v[2] ^= 0xee;
    out[0] = sip_finish(v);
    v[1] ^= 0xdd;
    out[1] = sip_finish(v);
}

/* Both halves of the product, folded: every bit of the value reaches every bit of the result in two rounds. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_u64(uint64_t value)
{
    uint64_t x = fold(value ^ secret[2], 0x9e3779b97f4a7c15u);
    return degrade(fold(x ^ secret[3], 0xd6e8feb86659fd93u));
}

void hash_degrade(uint64_t n)
{
    /* ORDER: relaxed: see degrade(). */
    store_relaxed(&degraded, n);
}

uint64_t checksum64(const void *data, size_t length)
{
    const uint8_t *at = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ at[i]) * 0x100000001b3u;
    return mix64(h);
}
