/* SPDX-License-Identifier: MIT */
/* What does scoring cost? Nanoseconds per slot of typical expressions, block by block over columns that fit no cache and over one block, at each
 * vector width; and of a page's other steps: a top-k that is offered every score, and diversity.
 *
 * Each block's inputs are copied from the columns, the program runs, every score is offered to a top-20: what an exhaustive scan does, signals
 * read beforehand. Each figure is the best and the median of some rounds. Checked: the vector widths come to the same checksum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rank/diversity.h"
#include "rank/kernels.h"
#include "rank/program.h"
#include "rank/topk.h"

enum { SLOTS = 1 << 20, ROUNDS = 15, REGISTERS = 24 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *what, double *times, double per)
{
    qsort(times, ROUNDS, sizeof *times, by_value);
    printf("%-68s %8.2f %8.2f\n", what, times[0] / per * 1e9, times[ROUNDS / 2] / per * 1e9);
}

/* ---- programs ---- */

/* Columns: views in 24 h, decayed likes, decayed skips, rating; the time of release. */
enum { VIEWS, LIKES, SKIPS, RATING, RELEASED, N_INPUTS, NOW = N_INPUTS, THREE, HALF, TWO, DAY, MONTH, SEVEN, RESULT };
static double *columns[4];
static int64_t *released;
static union lane lanes[REGISTERS];
static uint8_t nulls[REGISTERS][BLOCK_MAX];
static struct reg regs[REGISTERS];

static void make_columns(void)
{
    for (int c = 0; c < 4; c++) {
        columns[c] = malloc(SLOTS * sizeof(double));
        for (uint32_t i = 0; i < SLOTS; i++)
            columns[c][i] = c == RATING ? num_random(c, i) * 10 : floor(1 / (num_random(c, i) + 1e-3)) - 1;
    }
    released = malloc(SLOTS * sizeof *released);
    for (uint32_t i = 0; i < SLOTS; i++)
        released[i] = 1700000000000000 - (int64_t)(num_random(9, i) * 3e15);
}

static void make_registers(void)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        regs[i] = (struct reg){.nulls = nulls[i], .lane = &lanes[i]};
    regs[RELEASED].class = REG_INT;
    reg_fill_int(&regs[NOW], 1700000000000000);
    reg_fill_real(&regs[THREE], 3);
    reg_fill_real(&regs[HALF], 0.5);
    reg_fill_real(&regs[TWO], 2);
    reg_fill_real(&regs[DAY], 24);
    reg_fill_real(&regs[MONTH], 30 * 86400.0);
    reg_fill_int(&regs[SEVEN], 7);
}

struct expression {
    const char *text;
    struct op ops[16];
    unsigned n_ops;
};

#define OP(code_, to_, a_, b_, c_)                                   \
    {                                                                \
        .code = code_, .to = RESULT + to_, .a = a_, .b = b_, .c = c_ \
    }
#define R(n) (RESULT + n)
static struct expression expressions[] = {
    {"3 * velocity(view, 24h) + decay(like)",
     {OP(OP_DIV, 1, VIEWS, DAY, 0), OP(OP_MUL, 1, THREE, R(1), 0), OP(OP_ADD, 0, R(1), LIKES, 0)},
     3},
    {"3 * velocity + decay(like) + 0.5 * recency - 2 * decay(skip) + rating",
     {OP(OP_DIV, 1, VIEWS, DAY, 0), OP(OP_MUL, 1, THREE, R(1), 0), OP(OP_ADD, 1, R(1), LIKES, 0), OP(OP_RECENCY, 2, RELEASED, NOW, MONTH),
      OP(OP_MUL, 2, HALF, R(2), 0), OP(OP_ADD, 1, R(1), R(2), 0), OP(OP_MUL, 2, TWO, SKIPS, 0), OP(OP_SUB, 1, R(1), R(2), 0),
      OP(OP_ADD, 0, R(1), RATING, 0)},
     9},
    {"the same, if(rating >= 7, ..., 0)",
     {OP(OP_DIV, 1, VIEWS, DAY, 0), OP(OP_MUL, 1, THREE, R(1), 0), OP(OP_ADD, 1, R(1), LIKES, 0), OP(OP_RECENCY, 2, RELEASED, NOW, MONTH),
      OP(OP_MUL, 2, HALF, R(2), 0), OP(OP_ADD, 1, R(1), R(2), 0), OP(OP_MUL, 2, TWO, SKIPS, 0), OP(OP_SUB, 1, R(1), R(2), 0),
      OP(OP_ADD, 1, R(1), RATING, 0), OP(OP_GE, 3, RATING, SEVEN, 0), OP(OP_SUB, 2, TWO, TWO, 0), OP(OP_IF, 0, R(3), R(1), R(2))},
     12},
    {"wilson(likes, skips) / (1 + log1p(views))",
     {OP(OP_WILSON, 1, LIKES, SKIPS, 0), OP(OP_LOG1P, 2, VIEWS, 0, 0), OP(OP_SUB, 3, THREE, TWO, 0), OP(OP_ADD, 2, R(2), R(3), 0),
      OP(OP_DIV, 0, R(1), R(2), 0)},
     5},
    {"pow(likes + skips, 0.5)", {OP(OP_ADD, 1, LIKES, SKIPS, 0), OP(OP_POW, 0, R(1), HALF, 0)}, 2},
};

static void load_block(uint32_t slot)
{
    for (int c = 0; c < 4; c++)
        memcpy(lanes[c].real, columns[c] + slot, BLOCK_MAX * sizeof(double));
    memcpy(lanes[RELEASED].integer, released + slot, BLOCK_MAX * sizeof(int64_t));
}

static void offer_block(struct topk *best, uint32_t slot)
{
    for (uint32_t i = 0; i < BLOCK_MAX; i++) {
        double score = lanes[RESULT].real[i];
        if (!topk_full(best) || score > topk_worst(best)->score)
            topk_offer(best, &(struct candidate){.score = score, .slot = slot + i});
    }
}

static void bench_program(struct expression *e)
{
    double alone[ROUNDS], whole[ROUNDS];
    load_block(0);
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (uint32_t slot = 0; slot < SLOTS; slot += BLOCK_MAX)
            program_run(e->ops, e->n_ops, regs, NULL, BLOCK_MAX);
        alone[round] = seconds() - start;
        struct candidate memory[20];
        struct topk best;
        topk_init(&best, memory, 20, NULL, NULL);
        start = seconds();
        for (uint32_t slot = 0; slot < SLOTS; slot += BLOCK_MAX) {
            load_block(slot);
            program_run(e->ops, e->n_ops, regs, NULL, BLOCK_MAX);
            offer_block(&best, slot);
        }
        whole[round] = seconds() - start;
    }
    print(e->text, alone, SLOTS);
    print("    with 5 columns from memory and a top-20", whole, SLOTS);
}

/* ---- kernels ---- */

static double from_a[BLOCK_MAX], from_b[BLOCK_MAX], to[BLOCK_MAX];

static uint64_t bench_kernels(enum kernel_level level)
{
    const struct kernels *k = kernels_at(level);
    const char *width = level == KERNELS_PORTABLE ? "portable" : "wide";
    if (!k) {
        printf("%s kernels: not on this CPU\n", width);
        return 0;
    }
    const struct {
        const char *name;
        kernel_binary *run;
    } kernels[] = {{"a + b", k->add},     {"a * b", k->multiply}, {"a / b", k->divide}, {"recency of an age", k->recency},
                   {"wilson", k->wilson}, {"pow", k->power}};
    uint64_t sum = 0;
    for (size_t j = 0; j < sizeof kernels / sizeof *kernels; j++) {
        double times[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            double start = seconds();
            for (int i = 0; i < 400; i++)
                kernels[j].run(to, from_a, from_b, BLOCK_MAX);
            times[round] = seconds() - start;
        }
        char what[80];
        snprintf(what, sizeof what, "kernel %s, %s", kernels[j].name, width);
        print(what, times, 400.0 * BLOCK_MAX);
        for (int i = 0; i < BLOCK_MAX; i++)
            sum = mix64(sum ^ bits_of(to[i]));
    }
    return sum;
}

/* ---- top-k, diversity ---- */

static void bench_topk(size_t k)
{
    struct candidate *memory = malloc(k * sizeof *memory);
    double times[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        struct topk best;
        topk_init(&best, memory, k, NULL, NULL);
        double start = seconds();
        for (uint32_t i = 0; i < SLOTS; i++)
            topk_offer(&best, &(struct candidate){.score = columns[RATING][i], .slot = i});
        topk_sort(&best);
        times[round] = seconds() - start;
    }
    char what[80];
    snprintf(what, sizeof what, "top-%zu offered everything, sorted", k);
    print(what, times, SLOTS);
    free(memory);
}

/* `crowd` of 100 candidates have the same author; the others one of 1,000. Nanoseconds per place. */
static void bench_diversity(size_t limit, size_t n, unsigned crowd)
{
    uint32_t *offsets = malloc((n + 1) * sizeof *offsets), *chosen = malloc(limit * sizeof *chosen);
    uint64_t *tokens = malloc(n * sizeof *tokens);
    for (uint32_t i = 0; i < n; i++) {
        offsets[i] = i;
        tokens[i] = mix64(i) % 100 < crowd ? 0 : 1 + mix64(i + 77) % 1000;
    }
    offsets[n] = (uint32_t)n;
    const struct diversity_rule rule = {2, 10};
    struct diversity_input in = {
        .n_rules = 1, .rules = &rule, .n = n, .offsets = offsets, .tokens = tokens, .complete = true, .most_passed_over = 1000};
    size_t bytes = diversity_scratch(&in, limit);
    void *scratch = malloc(bytes);
    double times[ROUNDS];
    struct diversity_output out = {.chosen = chosen};
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        diversity_place(&in, limit, &out, scratch, bytes);
        times[round] = seconds() - start;
    }
    char what[80];
    snprintf(what, sizeof what, "diversity 2 PER 10, %zu places of %zu, %u %% one author%s", limit, n, crowd,
             out.relaxed ? ", relaxed" : "");
    print(what, times, (double)out.n);
    free(offsets), free(chosen), free(tokens), free(scratch);
}

int main(void)
{
    make_columns();
    make_registers();
    for (int i = 0; i < BLOCK_MAX; i++) {
        from_a[i] = columns[LIKES][i];
        from_b[i] = columns[SKIPS][i];
    }
    printf("%-68s %8s %8s\n", "nanoseconds per slot (diversity: per place)", "best", "median");
    for (size_t e = 0; e < sizeof expressions / sizeof *expressions; e++)
        bench_program(&expressions[e]);
    uint64_t portable = bench_kernels(KERNELS_PORTABLE), wide = bench_kernels(KERNELS_WIDE);
    if (wide && wide != portable) {
        printf("the vector widths differ\n");
        return 1;
    }
    bench_topk(20);
    bench_topk(1000);
    bench_diversity(20, 100, 10);
    bench_diversity(100, 1000, 50);
    bench_diversity(100000, 200000, 10);
    bench_diversity(100000, 200000, 50);
    return 0;
}
