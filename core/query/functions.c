/* SPDX-License-Identifier: MIT */
#include "query/functions.h"

#include <stddef.h>
#include <string.h>

#include "rank/program.h"

static const struct function functions[] = {
    {"decay", FAMILY_SIGNAL, FUNCTION_DECAY, 1, 1, 0, "decay(signal)"},
    {"count", FAMILY_SIGNAL, FUNCTION_COUNT_EVENTS, 2, 2, 0, "count(signal, window)"},
    {"sum", FAMILY_SIGNAL, FUNCTION_SUM, 2, 2, 0, "sum(signal, window)"},
    {"velocity", FAMILY_SIGNAL, FUNCTION_VELOCITY, 2, 2, 0, "velocity(signal, window)"},
    {"rise", FAMILY_SIGNAL, FUNCTION_RISE, 3, 3, 0, "rise(signal, short window, long window)"},
    {"last", FAMILY_SIGNAL, FUNCTION_LAST, 1, 1, 0, "last(signal)"},
    {"age", FAMILY_TIME, FUNCTION_AGE, 1, 1, 0, "age(time)"},
    {"recency", FAMILY_TIME, FUNCTION_RECENCY, 2, 2, 0, "recency(time, half-life)"},
    {"if", FAMILY_NUMBERS, FUNCTION_IF, 3, 3, OP_IF, "if(condition, a, b)"},
    {"random", FAMILY_NUMBERS, FUNCTION_RANDOM, 1, 1, OP_RANDOM, "random(seed)"},
    {"min", FAMILY_NUMBERS, FUNCTION_PLAIN, 2, 16, OP_MIN, "min(a, b, ...) with 2 to 16 arguments"},
    {"max", FAMILY_NUMBERS, FUNCTION_PLAIN, 2, 16, OP_MAX, "max(a, b, ...) with 2 to 16 arguments"},
    {"abs", FAMILY_NUMBERS, FUNCTION_PLAIN, 1, 1, OP_ABS, "abs(x)"},
    {"sign", FAMILY_NUMBERS, FUNCTION_PLAIN, 1, 1, OP_SIGN, "sign(x)"},
    {"sqrt", FAMILY_NUMBERS, FUNCTION_PLAIN, 1, 1, OP_SQRT, "sqrt(x)"},
    {"log1p", FAMILY_NUMBERS, FUNCTION_PLAIN, 1, 1, OP_LOG1P, "log1p(x)"},
    {"exp", FAMILY_NUMBERS, FUNCTION_PLAIN, 1, 1, OP_EXP, "exp(x)"},
    {"pow", FAMILY_NUMBERS, FUNCTION_PLAIN, 2, 2, OP_POW, "pow(a, b)"},
    {"wilson", FAMILY_NUMBERS, FUNCTION_PLAIN, 2, 2, OP_WILSON, "wilson(positive, negative)"},
    {"similarity", FAMILY_RESERVED, FUNCTION_NONE, 0, 0, 0, ""},
    {"affinity", FAMILY_RESERVED, FUNCTION_NONE, 0, 0, 0, ""},
};

const struct function *function_at(unsigned i)
{
    return i < sizeof functions / sizeof *functions ? &functions[i] : NULL;
}

const struct function *function_by_name(const char *name)
{
    const struct function *f;
    for (unsigned i = 0; (f = function_at(i)) != NULL; i++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}
