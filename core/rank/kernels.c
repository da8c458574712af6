/* SPDX-License-Identifier: MIT */
#include "rank/kernels.h"

#include "rank/program.h"

/* An element depends on the same element of each operand only, so the order of the iterations is free; the compilers have to be told, since `to`
 * may be an operand. */
#ifdef __clang__
#    pragma clang diagnostic ignored "-Wpass-failed" /* a loop that stays scalar is slower, not wrong */
#    define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#    define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* for (i = 0; i < n; i++) statement. Whole chunks first: at -O2 gcc makes vector code of a loop only if its length is known. */
enum { CHUNK = 16 };
#define EACH(i, n, ...)                                  \
    do {                                                 \
        size_t start_ = 0;                               \
        for (; start_ + CHUNK <= (n); start_ += CHUNK) { \
            INDEPENDENT                                  \
            for (size_t j_ = 0; j_ < CHUNK; j_++) {      \
                size_t i = start_ + j_;                  \
                __VA_ARGS__;                             \
            }                                            \
        }                                                \
        for (size_t i = start_; i < (n); i++) {          \
            __VA_ARGS__;                                 \
        }                                                \
    } while (0)

#define KERNEL(name) name##_portable
#define KERNEL_TABLE portable
#include "rank/kernels_body.h"
#undef KERNEL
#undef KERNEL_TABLE

/* AVX2 has no fused multiply-add (that is another extension), so nothing can be contracted. */
#ifdef __x86_64__
#    define HAVE_WIDE 1
#    ifdef __clang__
#        pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#    else
#        pragma GCC push_options
#        pragma GCC target("avx2")
#    endif
#    define KERNEL(name) name##_wide
#    define KERNEL_TABLE wide
#    include "rank/kernels_body.h"
#    ifdef __clang__
#        pragma clang attribute pop
#    else
#        pragma GCC pop_options
#    endif
#else
#    define HAVE_WIDE 0
#endif

const struct kernels *kernels_at(enum kernel_level level)
{
    if (level == KERNELS_PORTABLE)
        return &portable;
#if HAVE_WIDE
    if (level == KERNELS_WIDE && __builtin_cpu_supports("avx2"))
        return &wide;
#endif
    return NULL;
}

const struct kernels *kernels_best(void)
{
    const struct kernels *k = kernels_at(KERNELS_WIDE);
    return k != NULL ? k : &portable;
}
