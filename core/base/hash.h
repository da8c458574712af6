/* SPDX-License-Identifier: MIT */
/* Keyed hashing. The key is drawn once per process and never leaves it: no order, file or answer depends on it. */
#ifndef EAGRE_BASE_HASH_H
#define EAGRE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t length); /* keyed, resists chosen collisions (SipHash-1-3 or better) */
uint64_t hash_u64(uint64_t value);                    /* keyed, a few nanoseconds */
/* 128 keyed bits, for identity: two texts with the same bits are taken to be the same. hash_degrade() leaves it alone. */
void hash128(const void *data, size_t length, uint64_t out[2]);

/* Test hook: maps every hash_bytes() and hash_u64() to hash % n (n = 0: off), to force collisions. Set before anything is hashed that
 * will be looked up later. */
void hash_degrade(uint64_t n);

/* splitmix64's finaliser of z + golden gamma: unkeyed, for random(seed) and dithering (Steele, Lea, Flood 2014). */
static inline uint64_t mix64(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Unkeyed 64-bit checksum for cursors and encoded records (FNV-1a finished by mix64). */
uint64_t checksum64(const void *data, size_t length);

#endif
