/* SPDX-License-Identifier: MIT */
/* Fills input registers for the rows in hand.
 *
 * Two ways that give the same values: from the columns of consecutive slots (fast; the caller checks the block's sequence word afterwards), and from
 * the rows' immutable records (for scattered slots, and for a block whose sequence word moved). Signals are read cell by cell in both: each of
 * their values is true at one moment during the call. Inside the caller's read section; wait-free. */
#include <math.h>
#include <string.h>

#include "query/run.h"

/* After a kernel filled the values: nulls where `null(i)`. */
static void no_nulls(struct reg *reg)
{
    reg->has_null = false;
}

static void set_int(struct reg *reg, unsigned i, bool null, int64_t v)
{
    reg->lane->integer[i] = null ? 0 : v;
    reg->nulls[i] = null;
    reg->has_null |= null;
}

static void set_real(struct reg *reg, unsigned i, bool null, double v)
{
    reg->lane->real[i] = null ? 0 : v;
    reg->nulls[i] = null;
    reg->has_null |= null;
}

/* ---- Inputs that do not differ between the two ways -------------------------------------------------------------------- */

static void gather_signal(struct run *r, const struct input *in, struct reg *reg, unsigned n, bool consecutive)
{
    struct signal *s = r->signals[in->index];
    bool last = in->reading == READ_LAST;
    double *f = last ? NULL : reg->lane->real;
    int64_t *t = last ? reg->lane->integer : NULL;
    reg->has_null = false;
    if (consecutive)
        signal_read_block(s, in->reading, in->window, r->now, r->slots[0], n, f, t);
    else
        signal_read_slots(s, in->reading, in->window, r->now, r->slots, n, f, t);
    for (unsigned i = 0; last && i < n; i++)
        set_int(reg, i, reg->lane->integer[i] == INT64_MIN, reg->lane->integer[i]);
}

static void gather_first_put(struct run *r, struct reg *reg, unsigned n)
{
    reg->has_null = false;
    for (unsigned i = 0; i < n; i++)
        set_int(reg, i, !r->rows[i], r->rows[i] ? r->rows[i]->first_put : 0);
}

static void gather_plain(struct run *r, const struct input *in, struct reg *reg, unsigned n)
{
    no_nulls(reg);
    if (in->source == INPUT_SLOT)
        for (unsigned i = 0; i < n; i++)
            reg->lane->integer[i] = (int64_t)r->slots[i];
    else if (in->source == INPUT_SCORE)
        memcpy(reg->lane->real, r->scores, n * sizeof(double));
}

/* ---- From columns ------------------------------------------------------------------------------------------------------ */

static void field_from_column(struct run *r, const struct field *f, struct reg *reg, uint32_t slot, unsigned n)
{
    reg->has_null = false;
    if (f->def.type == FIELD_REAL) {
        block_reals(f, slot, n, reg->lane->real);
        for (unsigned i = 0; i < n; i++)
            set_real(reg, i, isnan(reg->lane->real[i]), reg->lane->real[i]);
        return;
    }
    block_ints(f, slot, n, reg->lane->integer);
    for (unsigned i = 0; i < n; i++) {
        bool ask = reg->lane->integer[i] == INT64_MIN, null = ask;
        if (ask && r->rows[i] && f->def.type == FIELD_INTEGER)
            null = row_null(r->rows[i], f->index);
        set_int(reg, i, null, reg->lane->integer[i]);
    }
}

void gather_block(struct run *r, const struct section *s, uint32_t slot, unsigned n)
{
    for (unsigned j = 0; j < s->n_inputs; j++) {
        const struct input *in = &r->plan->inputs[s->inputs[j]];
        struct reg *reg = &r->regs[s->inputs[j]];
        if (in->source == INPUT_FIELD) {
            field_from_column(r, in->field, reg, slot, n);
        } else if (in->source == INPUT_SIGNAL) {
            gather_signal(r, in, reg, n, true);
        } else if (in->source == INPUT_FIRST_PUT) {
            gather_first_put(r, reg, n);
        } else if (in->source != INPUT_MATCH) {
            gather_plain(r, in, reg, n);
        } else if (r->plan->matches[in->index].subject == MATCH_KEYWORD) {
            block_keywords(r->plan->matches[in->index].field, slot, n, r->keyword_ids);
            match_keyword_ids(r, in->index, r->keyword_ids, n, reg->nulls);
        } else {
            match_rows(r, in->index, n, reg->nulls);
        }
    }
}

/* ---- From records ------------------------------------------------------------------------------------------------------ */

static void field_from_rows(struct run *r, const struct field *f, struct reg *reg, unsigned n)
{
    reg->has_null = false;
    for (unsigned i = 0; i < n; i++) {
        bool null = !r->rows[i] || row_null(r->rows[i], f->index);
        if (f->def.type == FIELD_REAL)
            set_real(reg, i, null, null ? 0 : row_real(r->rows[i], f->index));
        else
            set_int(reg, i, null, null ? 0 : row_int(r->rows[i], f->index));
    }
}

void gather_rows(struct run *r, const struct section *s, unsigned n)
{
    for (unsigned j = 0; j < s->n_inputs; j++) {
        const struct input *in = &r->plan->inputs[s->inputs[j]];
        struct reg *reg = &r->regs[s->inputs[j]];
        if (in->source == INPUT_FIELD)
            field_from_rows(r, in->field, reg, n);
        else if (in->source == INPUT_SIGNAL)
            gather_signal(r, in, reg, n, false);
        else if (in->source == INPUT_FIRST_PUT)
            gather_first_put(r, reg, n);
        else if (in->source == INPUT_MATCH)
            match_rows(r, in->index, n, reg->nulls);
        else
            gather_plain(r, in, reg, n);
    }
}

void run_section(struct run *r, const struct section *s, unsigned n)
{
    program_run(s->ops, s->n_ops, r->regs, r->lists, n);
}
