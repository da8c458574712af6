/* SPDX-License-Identifier: MIT */
#include "query/compile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "query/arena.h"
#include "query/functions.h"

/* What an expression came to: a register of a class, or a string to be compared. */
enum operand_class { OPERAND_NUMBER, OPERAND_TRUTH, OPERAND_STRING, OPERAND_CONSTANT };
struct operand {
    uint8_t class;
    bool is_time;          /* compares with dates */
    uint16_t reg;          /* NUMBER, TRUTH */
    const struct field *field; /* STRING; NULL: the key */
    const struct node *node;   /* CONSTANT: a literal or parameter whose type its neighbour decides */
};

static status compile_operand(struct compiler *c, const struct node *n, struct operand *out);

status compile_fail(struct compiler *c, status code, const struct node *n, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!c->in_profile)
        return fail(c->error, code, n->position, "%s", text);
    return fail(c->error, code, c->blame, "profile '%s': %s", c->profile->name, text);
}

static status no_memory(struct compiler *c)
{
    return fail(c->error, STATUS_NO_MEMORY, -1, "no memory to compile the statement");
}

static status too_large(struct compiler *c, const struct node *n, const char *what)
{
    return compile_fail(c, STATUS_LIMIT, n, "the statement uses too many %s", what);
}

/* ---- Registers and operations ------------------------------------------------------------------------------------------ */

static status add_input(struct compiler *c, const struct node *n, const struct input *in, uint16_t *reg)
{
    struct plan *p = c->plan;
    unsigned i = 0;
    while (i < p->n_inputs && (p->inputs[i].source == INPUT_MATCH || memcmp(&p->inputs[i], in, sizeof *in) != 0))
        i++;
    if (i == p->n_inputs) {
        if (i == MAX_INPUTS)
            return too_large(c, n, "fields and signals");
        p->inputs[p->n_inputs++] = *in;
    }
    *reg = (uint16_t)i;
    for (unsigned j = 0; j < c->n_section_inputs; j++)
        if (c->inputs[j] == i)
            return STATUS_OK;
    uint16_t *grown = arena_grow(c->arena, c->inputs, c->n_section_inputs, sizeof *grown);
    if (!grown)
        return no_memory(c);
    c->inputs = grown;
    c->inputs[c->n_section_inputs++] = (uint16_t)i;
    return STATUS_OK;
}

static status add_constant(struct compiler *c, const struct node *n, const struct constant *constant, uint16_t *reg)
{
    struct plan *p = c->plan;
    if (p->n_constants == MAX_CONSTANTS)
        return too_large(c, n, "literals and parameters");
    p->constants[p->n_constants] = *constant;
    *reg = (uint16_t)(FIRST_CONSTANT + p->n_constants++);
    return STATUS_OK;
}

static status add_literal(struct compiler *c, const struct node *n, double v, uint16_t *reg)
{
    struct constant k = {.source = CONSTANT_LITERAL, .expect = EXPECT_NUMBER, .literal = {.type = VALUE_REAL, .f = v}};
    return add_constant(c, n, &k, reg);
}

static status add_now(struct compiler *c, const struct node *n, uint16_t *reg)
{
    struct plan *p = c->plan;
    for (unsigned i = 0; i < p->n_constants; i++)
        if (p->constants[i].source == CONSTANT_NOW) {
            *reg = (uint16_t)(FIRST_CONSTANT + i);
            return STATUS_OK;
        }
    struct constant k = {.source = CONSTANT_NOW, .expect = EXPECT_TIME};
    return add_constant(c, n, &k, reg);
}

static status emit(struct compiler *c, const struct node *n, enum reg_class class, struct op op, uint16_t *to)
{
    if (c->n_results == MAX_RESULTS)
        return too_large(c, n, "operations");
    struct op *grown = arena_grow(c->arena, c->ops, c->n_ops, sizeof *grown);
    if (!grown)
        return no_memory(c);
    c->ops = grown;
    c->result_classes[c->n_results] = (uint8_t)class;
    op.to = (uint16_t)(FIRST_RESULT + c->n_results++);
    c->ops[c->n_ops++] = op;
    *to = op.to;
    return STATUS_OK;
}

static status emit_operand(struct compiler *c, const struct node *n, enum reg_class class, struct op op, struct operand *out)
{
    out->class = class == REG_TRUTH ? OPERAND_TRUTH : OPERAND_NUMBER;
    return emit(c, n, class, op, &out->reg);
}

/* ---- Constants --------------------------------------------------------------------------------------------------------- */

static const struct node *argument_of(const struct compiler *c, const struct node *n)
{
    if (n->type != NODE_NAME || !c->profile)
        return NULL;
    for (unsigned i = 0; i < c->profile->n_parameters; i++)
        if (strcmp(c->profile->parameters[i].name, n->text) == 0)
            return c->arguments[i];
    return NULL;
}

static bool is_constant(const struct node *n)
{
    switch (n->type) {
    case NODE_NULL: case NODE_INT: case NODE_UINT: case NODE_REAL: case NODE_DURATION: case NODE_TEXT: case NODE_PARAM:
        return true;
    default:
        return false;
    }
}

static struct value literal_value(const struct node *n)
{
    switch (n->type) {
    case NODE_INT: return (struct value){.type = VALUE_INT, .i = n->i};
    case NODE_UINT: return (struct value){.type = VALUE_UINT, .u = n->u};
    case NODE_REAL: return (struct value){.type = VALUE_REAL, .f = n->f};
    case NODE_DURATION:
        if (n->i % MICROS == 0)
            return (struct value){.type = VALUE_INT, .i = n->i / MICROS};
        return (struct value){.type = VALUE_REAL, .f = (double)n->i / (double)MICROS};
    case NODE_TEXT: return (struct value){.type = VALUE_TEXT, .length = n->length, .text = n->text};
    default: return (struct value){.type = VALUE_NULL};
    }
}

/* Literals are checked here; parameters when they are bound. */
static status check_literal(struct compiler *c, const struct node *n, enum constant_expect expect, struct value *v)
{
    if (v->type == VALUE_NULL)
        return STATUS_OK;
    bool number = v->type == VALUE_INT || v->type == VALUE_UINT || v->type == VALUE_REAL;
    switch (expect) {
    case EXPECT_NUMBER:
        if (!number)
            return compile_fail(c, STATUS_TYPE, n, "a number was expected, found text");
        if (v->type == VALUE_UINT)
            *v = (struct value){.type = VALUE_REAL, .f = (double)v->u};
        return STATUS_OK;
    case EXPECT_TIME:
        if (v->type == VALUE_TEXT) {
            int64_t t;
            if (!time_parse(v->text, v->length, &t))
                return compile_fail(c, STATUS_TYPE, n, "a time was expected ('YYYY-MM-DD[ HH:MM[:SS]]'), found '%.40s'", v->text);
            *v = (struct value){.type = VALUE_TIME, .i = t};
        } else if (v->type == VALUE_UINT) {
            *v = (struct value){.type = VALUE_REAL, .f = (double)v->u};
        }
        return STATUS_OK;
    case EXPECT_TEXT:
        if (v->type != VALUE_TEXT)
            return compile_fail(c, STATUS_TYPE, n, "text was expected, found a number");
        return STATUS_OK;
    default:
        if (c->kind->integer_keys ? v->type == VALUE_TEXT || v->type == VALUE_REAL : v->type != VALUE_TEXT)
            return compile_fail(c, STATUS_TYPE, n, "keys of '%s' are %s", c->kind->name, c->kind->integer_keys ? "integers" : "text");
        return STATUS_OK;
    }
}

status compile_constant(struct compiler *c, const struct node *n, enum constant_expect expect, struct constant *out)
{
    const struct node *argument = argument_of(c, n);
    if (argument)
        n = argument;
    *out = (struct constant){.expect = (uint8_t)expect, .position = n->position};
    if (n->type == NODE_PARAM) {
        out->source = CONSTANT_PARAMETER;
        out->parameter = (uint16_t)n->i;
        return STATUS_OK;
    }
    if (!is_constant(n))
        return compile_fail(c, STATUS_TYPE, n, "a literal or a parameter was expected here");
    out->source = CONSTANT_LITERAL;
    out->literal = literal_value(n);
    return check_literal(c, n, expect, &out->literal);
}

status compile_list(struct compiler *c, const struct node *n, enum constant_expect expect, struct constant_list *out)
{
    *out = (struct constant_list){.expect = (uint8_t)expect, .position = n->position};
    if (n->type == NODE_PARAM) {
        out->parameter = (uint16_t)n->i;
        return STATUS_OK;
    }
    if (n->type == NODE_NAME)
        return compile_fail(c, STATUS_UNSUPPORTED, n, "IN '%s': links are reserved and not available; a list (...) or a parameter was expected", n->text);
    if (n->type != NODE_LIST)
        return compile_fail(c, STATUS_SYNTAX, n, "a list (...) or a parameter was expected");
    out->items = arena_alloc(c->arena, sizeof *out->items * (n->n_args ? n->n_args : 1u));
    if (!out->items)
        return no_memory(c);
    for (unsigned i = 0; i < n->n_args; i++) {
        status s = compile_constant(c, n->args[i], expect, &out->items[i]);
        if (s)
            return s;
    }
    out->n = n->n_args;
    return STATUS_OK;
}

/* ---- Names ------------------------------------------------------------------------------------------------------------- */

const struct field *compile_field(struct compiler *c, const struct node *n, const char *what)
{
    const struct field *f = n->type == NODE_NAME ? kind_field(c->kind, n->text) : NULL;
    if (n->type != NODE_NAME)
        compile_fail(c, STATUS_SYNTAX, n, "%s takes the name of a field", what);
    else if (!f)
        compile_fail(c, STATUS_UNKNOWN, n, "kind '%s' has no field or role '%s'", c->kind->name, n->text);
    return f;
}

bool compile_is_created(const struct compiler *c, const struct node *n)
{
    return n->type == NODE_NAME && strcmp(n->text, "created") == 0 && !kind_field(c->kind, "created");
}

static status field_operand(struct compiler *c, const struct node *n, const struct field *f, struct operand *out)
{
    switch (f->def.type) {
    case FIELD_INTEGER: case FIELD_TIME: case FIELD_REAL: {
        struct input in = {.source = INPUT_FIELD, .field = f, .class = f->def.type == FIELD_REAL ? REG_REAL : REG_INT};
        *out = (struct operand){.class = OPERAND_NUMBER, .is_time = f->def.type == FIELD_TIME};
        return add_input(c, n, &in, &out->reg);
    }
    case FIELD_VECTOR:
        return compile_fail(c, STATUS_TYPE, n, "field '%s' is a vector and can not be compared or computed with", f->def.name);
    default:
        *out = (struct operand){.class = OPERAND_STRING, .field = f};
        return STATUS_OK;
    }
}

static status name_operand(struct compiler *c, const struct node *n, struct operand *out)
{
    if (n->maybe)
        return compile_fail(c, STATUS_SYNTAX, n, "'%s?' can only name a signal", n->text);
    const struct node *argument = argument_of(c, n);
    if (argument) {
        *out = (struct operand){.class = OPERAND_CONSTANT, .node = argument};
        return STATUS_OK;
    }
    if (strcmp(n->text, "key") == 0) {
        *out = (struct operand){.class = OPERAND_STRING, .field = NULL};
        return STATUS_OK;
    }
    if (strcmp(n->text, "score") == 0) {
        if (!c->allow_score)
            return compile_fail(c, STATUS_SYNTAX, n, "'score' can stand in RETURN only");
        struct input in = {.source = INPUT_SCORE, .class = REG_REAL};
        *out = (struct operand){.class = OPERAND_NUMBER};
        return add_input(c, n, &in, &out->reg);
    }
    if (strcmp(n->text, "text") == 0 || strcmp(n->text, "taste") == 0 || strcmp(n->text, "user") == 0)
        return compile_fail(c, STATUS_UNSUPPORTED, n, "'%s' is reserved and not available", n->text);
    const struct field *f = kind_field(c->kind, n->text);
    if (f)
        return field_operand(c, n, f, out);
    if (compile_is_created(c, n)) {
        struct input in = {.source = INPUT_FIRST_PUT, .class = REG_INT};
        *out = (struct operand){.class = OPERAND_NUMBER, .is_time = true};
        return add_input(c, n, &in, &out->reg);
    }
    if (kind_signal_index(c->kind, n->text) >= 0)
        return compile_fail(c, STATUS_TYPE, n, "'%s' is a signal: write decay(%s), count(%s, window), ...", n->text, n->text, n->text);
    return compile_fail(c, STATUS_UNKNOWN, n, "kind '%s' has no field or role '%s'", c->kind->name, n->text);
}

/* ---- Conversions between operands -------------------------------------------------------------------------------------- */

/* A number of either class, for arithmetic and comparisons. */
static status to_number(struct compiler *c, const struct node *n, struct operand *o, enum constant_expect expect)
{
    switch (o->class) {
    case OPERAND_NUMBER:
        return STATUS_OK;
    case OPERAND_TRUTH:
        return emit_operand(c, n, REG_REAL, (struct op){.code = OP_TRUTH_REAL, .a = o->reg}, o);
    case OPERAND_CONSTANT: {
        struct constant k;
        status s = compile_constant(c, o->node, expect, &k);
        if (s)
            return s;
        o->class = OPERAND_NUMBER;
        return add_constant(c, n, &k, &o->reg);
    }
    default:
        return compile_fail(c, STATUS_TYPE, n, "a number was expected, found %s '%s'", o->field ? "text field" : "the", o->field ? o->field->def.name : "key");
    }
}

static status number_argument(struct compiler *c, const struct node *n, uint16_t *reg)
{
    struct operand o;
    status s = compile_operand(c, n, &o);
    if (!s)
        s = to_number(c, n, &o, EXPECT_NUMBER);
    *reg = o.reg;
    return s;
}

static status truth_argument(struct compiler *c, const struct node *n, uint16_t *reg)
{
    struct operand o;
    status s = compile_operand(c, n, &o);
    if (!s && o.class != OPERAND_TRUTH)
        s = compile_fail(c, STATUS_TYPE, n, "a condition was expected (a comparison, IN, IS NULL, AND, OR, NOT), found a value");
    *reg = o.reg;
    return s;
}

/* ---- Predicates on text and keys --------------------------------------------------------------------------------------- */

static status emit_match(struct compiler *c, const struct node *n, const struct match *m, struct operand *out)
{
    struct plan *p = c->plan;
    if (p->n_matches == MAX_INPUTS)
        return too_large(c, n, "comparisons of text");
    p->matches[p->n_matches] = *m;
    struct input in = {.source = INPUT_MATCH, .class = REG_TRUTH, .index = (uint16_t)p->n_matches++};
    *out = (struct operand){.class = OPERAND_TRUTH};
    return add_input(c, n, &in, &out->reg);
}

static struct match match_on(const struct field *f, enum match_test test)
{
    struct match m = {.test = (uint8_t)test, .field = f, .subject = MATCH_KEY};
    if (f)
        m.subject = f->def.type == FIELD_TEXT ? MATCH_TEXT : f->def.type == FIELD_KEYWORD ? MATCH_KEYWORD : MATCH_KEYWORDS;
    return m;
}

static status compile_match(struct compiler *c, const struct node *n, const struct field *f, enum match_test test, const struct node *operand,
                            struct operand *out)
{
    struct match m = match_on(f, test);
    if (m.subject == MATCH_KEYWORDS && test != TEST_EQ)
        return compile_fail(c, STATUS_TYPE, n, "'%s' is a set of keywords: it takes =, !=, IN and IS NULL", f->def.name);
    struct constant *k = arena_alloc(c->arena, sizeof *k);
    if (!k)
        return no_memory(c);
    status s = compile_constant(c, operand, f ? EXPECT_TEXT : EXPECT_KEY, k);
    if (s)
        return s;
    m.operand = (struct constant_list){.expect = k->expect, .position = k->position, .n = 1, .items = k};
    return emit_match(c, n, &m, out);
}

static status negate(struct compiler *c, const struct node *n, struct operand *o)
{
    return emit_operand(c, n, REG_TRUTH, (struct op){.code = OP_NOT, .a = o->reg}, o);
}

/* ---- Comparisons and logic --------------------------------------------------------------------------------------------- */

static status compile_comparison(struct compiler *c, const struct node *n, struct operand *out)
{
    static const uint16_t codes[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE};
    static const uint8_t tests[] = {TEST_EQ, TEST_EQ, TEST_LT, TEST_LE, TEST_GT, TEST_GE};
    static const uint8_t mirrored[] = {TEST_EQ, TEST_EQ, TEST_GT, TEST_GE, TEST_LT, TEST_LE};
    struct operand a, b;
    status s = compile_operand(c, n->args[0], &a);
    if (!s)
        s = compile_operand(c, n->args[1], &b);
    if (s)
        return s;
    unsigned which = (unsigned)(n->type - NODE_EQ);
    if (a.class == OPERAND_STRING || b.class == OPERAND_STRING) {
        bool left = a.class == OPERAND_STRING;
        const struct operand *subject = left ? &a : &b, *other = left ? &b : &a;
        if (other->class != OPERAND_CONSTANT)
            return compile_fail(c, STATUS_TYPE, n->args[left], "text and keys compare with a literal or a parameter");
        s = compile_match(c, n, subject->field, left ? tests[which] : mirrored[which], other->node, out);
        return s || n->type != NODE_NE ? s : negate(c, n, out);
    }
    bool time = a.is_time || b.is_time;
    s = to_number(c, n->args[0], &a, time ? EXPECT_TIME : EXPECT_NUMBER);
    if (!s)
        s = to_number(c, n->args[1], &b, time ? EXPECT_TIME : EXPECT_NUMBER);
    if (s)
        return s;
    return emit_operand(c, n, REG_TRUTH, (struct op){.code = codes[which], .a = a.reg, .b = b.reg}, out);
}

static status compile_in(struct compiler *c, const struct node *n, struct operand *out)
{
    struct operand a;
    status s = compile_operand(c, n->args[0], &a);
    if (s)
        return s;
    if (a.class == OPERAND_STRING) {
        struct match m = match_on(a.field, TEST_IN);
        s = compile_list(c, n->args[1], a.field ? EXPECT_TEXT : EXPECT_KEY, &m.operand);
        if (!s)
            s = emit_match(c, n, &m, out);
    } else {
        struct plan *p = c->plan;
        if (p->n_lists == MAX_INPUTS)
            return too_large(c, n, "lists");
        s = to_number(c, n->args[0], &a, EXPECT_NUMBER);
        if (!s)
            s = compile_list(c, n->args[1], a.is_time ? EXPECT_TIME : EXPECT_NUMBER, &p->lists[p->n_lists]);
        if (!s)
            s = emit_operand(c, n, REG_TRUTH, (struct op){.code = OP_IN, .a = a.reg, .list = (uint16_t)p->n_lists++}, out);
    }
    return s || !n->negated ? s : negate(c, n, out);
}

static status compile_is_null(struct compiler *c, const struct node *n, struct operand *out)
{
    struct operand a = {.class = OPERAND_STRING};
    const struct field *f = n->args[0]->type == NODE_NAME ? kind_field(c->kind, n->args[0]->text) : NULL;
    bool vector = f && f->def.type == FIELD_VECTOR; /* it can not be computed with, but it may be missing */
    if (vector)
        a.field = f;
    status s = vector ? STATUS_OK : compile_operand(c, n->args[0], &a);
    if (!s && a.class == OPERAND_STRING) {
        struct match m = match_on(a.field, TEST_NULL);
        s = emit_match(c, n, &m, out);
    } else if (!s) {
        if (a.class == OPERAND_CONSTANT)
            s = to_number(c, n->args[0], &a, EXPECT_NUMBER);
        if (!s)
            s = emit_operand(c, n, REG_TRUTH, (struct op){.code = OP_IS_NULL, .a = a.reg}, out);
    }
    return s || !n->negated ? s : negate(c, n, out);
}

static status compile_logic(struct compiler *c, const struct node *n, struct operand *out)
{
    struct op op = {.code = n->type == NODE_AND ? OP_AND : n->type == NODE_OR ? OP_OR : OP_NOT};
    status s = truth_argument(c, n->args[0], &op.a);
    if (!s && n->type != NODE_NOT)
        s = truth_argument(c, n->args[1], &op.b);
    return s ? s : emit_operand(c, n, REG_TRUTH, op, out);
}

static status compile_arithmetic(struct compiler *c, const struct node *n, struct operand *out)
{
    static const uint16_t codes[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV};
    struct op op = {.code = n->type == NODE_NEG ? (uint16_t)OP_NEG : codes[n->type - NODE_ADD]};
    status s = number_argument(c, n->args[0], &op.a);
    if (!s && n->type != NODE_NEG)
        s = number_argument(c, n->args[1], &op.b);
    return s ? s : emit_operand(c, n, REG_REAL, op, out);
}

/* ---- Functions --------------------------------------------------------------------------------------------------------- */

/* The signal named by an argument. *index < 0: it may be missing (name?) and is. */
static status signal_argument(struct compiler *c, const struct node *n, int *index)
{
    if (n->type != NODE_NAME)
        return compile_fail(c, STATUS_SYNTAX, n, "the name of a signal was expected");
    *index = kind_signal_index(c->kind, n->text);
    if (*index < 0)
        return n->maybe ? STATUS_OK : compile_fail(c, STATUS_UNKNOWN, n, "kind '%s' has no signal '%s'", c->kind->name, n->text);
    struct plan *p = c->plan;
    for (unsigned i = 0; i < p->n_signals; i++)
        if (p->signals[i] == *index)
            return STATUS_OK;
    p->signals[p->n_signals++] = (uint16_t)*index;
    return STATUS_OK;
}

static status window_argument(struct compiler *c, const struct node *n, int signal, bool all, uint8_t *window, double *seconds)
{
    *window = SIGNAL_ALL;
    *seconds = 0;
    if (n->type == NODE_NAME && strcmp(n->text, "all") == 0)
        return all ? STATUS_OK : compile_fail(c, STATUS_TYPE, n, "'all' has no length: a window such as 24h was expected");
    if (n->type != NODE_DURATION)
        return compile_fail(c, STATUS_TYPE, n, "a window was expected, such as 24h%s", all ? " or all" : "");
    *seconds = (double)n->i / (double)MICROS;
    if (signal < 0)
        return STATUS_OK;
    const struct signal_def *def = c->kind->signals[signal].def;
    for (unsigned i = 0; i < def->n_windows; i++)
        if ((int64_t)def->windows[i] * MICROS == n->i) {
            *window = (uint8_t)i;
            return STATUS_OK;
        }
    return compile_fail(c, STATUS_UNKNOWN, n, "signal '%s' of '%s' has no window of %lld s; declare it in WINDOWS", def->name, c->kind->name,
                        (long long)(n->i / MICROS));
}

/* A reading of a signal as a register; a missing signal reads as 0. */
static status reading(struct compiler *c, const struct node *n, int signal, enum signal_reading what, uint8_t window, uint16_t *reg)
{
    if (signal < 0)
        return add_literal(c, n, 0.0, reg);
    struct input in = {.source = INPUT_SIGNAL, .class = what == READ_LAST ? REG_INT : REG_REAL, .reading = (uint8_t)what, .window = window,
                       .index = (uint16_t)signal};
    return add_input(c, n, &in, reg);
}

static status call_signal(struct compiler *c, const struct node *n, const struct function *f, struct operand *out)
{
    int signal = -1;
    uint8_t window = SIGNAL_ALL, window_b = SIGNAL_ALL;
    double seconds = 0, seconds_b = 0;
    *out = (struct operand){.class = OPERAND_NUMBER};
    status s = signal_argument(c, n->args[0], &signal);
    bool all = f->id == FUNCTION_COUNT_EVENTS || f->id == FUNCTION_SUM;
    if (!s && n->n_args > 1)
        s = window_argument(c, n->args[1], signal, all, &window, &seconds);
    if (!s && n->n_args > 2)
        s = window_argument(c, n->args[2], signal, false, &window_b, &seconds_b);
    if (s)
        return s;
    struct op op = {0};
    switch (f->id) {
    case FUNCTION_DECAY:
        return reading(c, n, signal, READ_DECAY, SIGNAL_ALL, &out->reg);
    case FUNCTION_LAST:
        out->is_time = true;
        if (signal >= 0)
            return reading(c, n, signal, READ_LAST, SIGNAL_ALL, &out->reg);
        return add_constant(c, n, &(struct constant){.source = CONSTANT_LITERAL, .expect = EXPECT_TIME}, &out->reg);
    case FUNCTION_COUNT_EVENTS:
        return reading(c, n, signal, READ_COUNT, window, &out->reg);
    case FUNCTION_SUM:
        return reading(c, n, signal, READ_SUM, window, &out->reg);
    case FUNCTION_VELOCITY:
        op.code = OP_DIV;
        s = reading(c, n, signal, READ_COUNT, window, &op.a);
        if (!s)
            s = add_literal(c, n, seconds / 3600.0, &op.b);
        return s ? s : emit_operand(c, n, REG_REAL, op, out);
    default: /* FUNCTION_RISE */
        op.code = OP_RISE;
        op.immediate = seconds / seconds_b;
        s = reading(c, n, signal, READ_COUNT, window, &op.a);
        if (!s)
            s = reading(c, n, signal, READ_COUNT, window_b, &op.b);
        return s ? s : emit_operand(c, n, REG_REAL, op, out);
    }
}

/* age(t) and recency(t, half-life): t is a TIME field, created, or last(s). */
static status call_time(struct compiler *c, const struct node *n, const struct function *f, struct operand *out)
{
    struct operand t;
    struct op op = {.code = f->id == FUNCTION_AGE ? OP_AGE : OP_RECENCY};
    status s = compile_operand(c, n->args[0], &t);
    if (!s && (t.class != OPERAND_NUMBER || !t.is_time))
        s = compile_fail(c, STATUS_TYPE, n->args[0], "%s takes a TIME field or last(signal)", n->text);
    if (!s)
        s = add_now(c, n, &op.b);
    if (!s && f->id == FUNCTION_RECENCY) {
        if (n->args[1]->type != NODE_DURATION || n->args[1]->i <= 0)
            return compile_fail(c, STATUS_TYPE, n->args[1], "recency takes a half-life above 0, such as 30d");
        s = add_literal(c, n, (double)n->args[1]->i / (double)MICROS, &op.c);
    }
    op.a = t.reg;
    return s ? s : emit_operand(c, n, REG_REAL, op, out);
}

static status call_numbers(struct compiler *c, const struct node *n, const struct function *f, struct operand *out)
{
    struct op op = {.code = (uint16_t)f->op};
    status s = STATUS_OK;
    if (f->id == FUNCTION_IF) {
        s = truth_argument(c, n->args[0], &op.a);
        if (!s)
            s = number_argument(c, n->args[1], &op.b);
        if (!s)
            s = number_argument(c, n->args[2], &op.c);
        return s ? s : emit_operand(c, n, REG_REAL, op, out);
    }
    s = number_argument(c, n->args[0], &op.a);
    if (!s && f->id == FUNCTION_RANDOM) {
        struct input in = {.source = INPUT_SLOT, .class = REG_INT};
        s = add_input(c, n, &in, &op.b);
    } else if (!s && n->n_args > 1) {
        s = number_argument(c, n->args[1], &op.b);
    }
    if (!s)
        s = emit_operand(c, n, REG_REAL, op, out);
    for (unsigned i = 2; !s && i < n->n_args; i++) { /* min and max of more than two */
        op.a = out->reg;
        s = number_argument(c, n->args[i], &op.b);
        if (!s)
            s = emit_operand(c, n, REG_REAL, op, out);
    }
    return s;
}

static status compile_call(struct compiler *c, const struct node *n, struct operand *out)
{
    const struct function *f = function_by_name(n->text);
    if (!f)
        return compile_fail(c, STATUS_UNKNOWN, n, "there is no function '%s'", n->text);
    if (f->family == FAMILY_RESERVED)
        return compile_fail(c, STATUS_UNSUPPORTED, n, "function '%s' is reserved and not available", n->text);
    if (n->n_args < f->least || n->n_args > f->most)
        return compile_fail(c, STATUS_SYNTAX, n, "%s has the form %s", n->text, f->form);
    switch (f->family) {
    case FAMILY_SIGNAL: return call_signal(c, n, f, out);
    case FAMILY_TIME: return call_time(c, n, f, out);
    default: return call_numbers(c, n, f, out);
    }
}

/* ---- Expressions ------------------------------------------------------------------------------------------------------- */

/* EXPLAIN shows every part of the score but literals: its text and its register. */
static status record_term(struct compiler *c, const struct node *n, const struct operand *o)
{
    struct plan *p = c->plan;
    struct term *grown = arena_grow(c->arena, p->terms, p->n_terms, sizeof *grown);
    if (!grown)
        return no_memory(c);
    p->terms = grown;
    const char *text = c->in_profile ? c->profile->text : p->ast->text;
    p->terms[p->n_terms++] = (struct term){.reg = o->reg, .depth = (uint16_t)c->depth, .text = text + n->position, .length = n->end - n->position};
    return STATUS_OK;
}

static status compile_node(struct compiler *c, const struct node *n, struct operand *out)
{
    switch (n->type) {
    case NODE_NAME: return name_operand(c, n, out);
    case NODE_CALL: return compile_call(c, n, out);
    case NODE_NEG: case NODE_ADD: case NODE_SUB: case NODE_MUL: case NODE_DIV: return compile_arithmetic(c, n, out);
    case NODE_EQ: case NODE_NE: case NODE_LT: case NODE_LE: case NODE_GT: case NODE_GE: return compile_comparison(c, n, out);
    case NODE_AND: case NODE_OR: case NODE_NOT: return compile_logic(c, n, out);
    case NODE_IN: return compile_in(c, n, out);
    case NODE_IS_NULL: return compile_is_null(c, n, out);
    case NODE_LIST: return compile_fail(c, STATUS_SYNTAX, n, "a list can stand after IN only");
    default:
        *out = (struct operand){.class = OPERAND_CONSTANT, .node = n};
        return STATUS_OK;
    }
}

static status compile_operand(struct compiler *c, const struct node *n, struct operand *out)
{
    *out = (struct operand){0};
    c->depth++;
    status s = compile_node(c, n, out);
    c->depth--;
    if (!s && c->record_terms && (out->class == OPERAND_NUMBER || out->class == OPERAND_TRUTH))
        s = record_term(c, n, out);
    return s;
}

static void section_begin(struct compiler *c)
{
    c->ops = NULL;
    c->inputs = NULL;
    c->n_ops = c->n_section_inputs = 0;
}

static void section_end(struct compiler *c, uint16_t result, struct section *out)
{
    *out = (struct section){.ops = c->ops, .n_ops = c->n_ops, .result = result, .inputs = c->inputs, .n_inputs = c->n_section_inputs};
}

status compile_number(struct compiler *c, const struct node *n, struct section *out)
{
    uint16_t reg;
    section_begin(c);
    status s = number_argument(c, n, &reg);
    if (!s)
        s = emit(c, n, REG_REAL, (struct op){.code = OP_REAL, .a = reg}, &reg);
    section_end(c, reg, out);
    return s;
}

status compile_condition(struct compiler *c, const struct node *n, struct section *out)
{
    uint16_t reg;
    section_begin(c);
    status s = truth_argument(c, n, &reg);
    section_end(c, reg, out);
    return s;
}

status compile_time(struct compiler *c, const struct node *n, struct section *out, bool *is_time)
{
    bool last = n->type == NODE_CALL && strcmp(n->text, "last") == 0;
    *is_time = last || compile_is_created(c, n);
    if (!*is_time)
        return STATUS_OK;
    struct operand o;
    section_begin(c);
    status s = compile_operand(c, n, &o);
    section_end(c, o.reg, out);
    return s;
}

/* ---- Numbering --------------------------------------------------------------------------------------------------------- */

static uint16_t place(const struct plan *p, uint16_t reg)
{
    if (reg >= FIRST_RESULT)
        return (uint16_t)(p->n_inputs + p->n_constants + (reg - FIRST_RESULT));
    if (reg >= FIRST_CONSTANT)
        return (uint16_t)(p->n_inputs + (reg - FIRST_CONSTANT));
    return reg;
}

static void place_section(const struct plan *p, struct section *s)
{
    for (unsigned i = 0; i < s->n_ops; i++) {
        struct op *op = &s->ops[i];
        op->to = place(p, op->to);
        op->a = place(p, op->a);
        op->b = place(p, op->b);
        op->c = place(p, op->c);
    }
    s->result = place(p, s->result);
}

status compile_finish(struct compiler *c)
{
    struct plan *p = c->plan;
    p->n_registers = p->n_inputs + p->n_constants + c->n_results;
    for (unsigned i = 0; i < p->n_inputs; i++)
        p->classes[i] = p->inputs[i].class;
    for (unsigned i = 0; i < p->n_constants; i++)
        p->classes[p->n_inputs + i] = REG_REAL;
    memcpy(p->classes + p->n_inputs + p->n_constants, c->result_classes, c->n_results);
    if (p->has_where)
        place_section(p, &p->where);
    if (p->has_score)
        place_section(p, &p->score);
    for (unsigned i = 0; i < p->n_returns; i++)
        place_section(p, &p->returns[i].section);
    for (unsigned i = 0; i < p->n_terms; i++)
        p->terms[i].reg = place(p, p->terms[i].reg);
    return STATUS_OK;
}
