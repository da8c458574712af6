/* SPDX-License-Identifier: MIT */
/* Expressions: OR, AND, NOT, comparison (not chained), + -, * /, unary -, and what stands between them. */
#include "query/parser.h"
#include "store/limits.h"

/* ---- nodes */

static struct node *new_node(struct parser *p, enum node_type type, size_t position)
{
    struct node *n = p->failed == STATUS_OK ? arena_alloc(p->arena, sizeof *n) : NULL;
    if (n == NULL) {
        no_memory(p);
        return NULL;
    }
    n->type = (uint8_t)type;
    n->position = (uint32_t)position;
    n->end = (uint32_t)p->previous.end;
    return n;
}

static bool too_deep(struct parser *p, size_t position)
{
    return fault(p, STATUS_LIMIT, position, "the expression is nested deeper than %d", MAX_DEPTH);
}

/* Appends an argument. Height is checked here, so no tree is ever higher than MAX_DEPTH; `position` is where the fault would be. */
static bool add_argument(struct parser *p, struct node *n, struct node *argument, size_t position)
{
    if (argument == NULL)
        return false;
    struct node **args = arena_grow(p->arena, n->args, n->n_args, sizeof *args);
    if (args == NULL)
        return no_memory(p);
    n->args = args;
    n->args[n->n_args++] = argument;
    if (argument->height >= MAX_DEPTH)
        return too_deep(p, position);
    if (argument->height >= n->height)
        n->height = (uint8_t)(argument->height + 1);
    return true;
}

/* A node over one or two others; its text is theirs, from the first's start (or `position`, of a prefix) to the last token taken. */
static struct node *join(struct parser *p, enum node_type type, size_t position, size_t operator_position, struct node *a, struct node *b)
{
    if (a == NULL || p->failed != STATUS_OK)
        return NULL;
    struct node *n = new_node(p, type, position);
    if (n == NULL || !add_argument(p, n, a, operator_position) || (b != NULL && !add_argument(p, n, b, operator_position)))
        return NULL;
    return n;
}

static struct node *binary(struct parser *p, enum node_type type, size_t operator_position, struct node *a, struct node *b)
{
    return a != NULL && b != NULL ? join(p, type, a->position, operator_position, a, b) : NULL;
}

/* ---- literals */

/* The number in hand, negative where a '-' was taken before it. */
static struct node *number(struct parser *p, size_t position, bool negative)
{
    const struct token t = p->token;
    const uint64_t past_int = (uint64_t)INT64_MAX + 1;
    if (negative && t.type == TOKEN_INTEGER && t.u > past_int) {
        fault(p, STATUS_RANGE, position, "a negative whole number is at least -9223372036854775808");
        return NULL;
    }
    advance(p);
    bool big = t.type == TOKEN_INTEGER && t.u >= past_int && !negative;
    enum node_type type = big ? NODE_UINT : t.type == TOKEN_INTEGER ? NODE_INT : t.type == TOKEN_REAL ? NODE_REAL : NODE_DURATION;
    struct node *n = new_node(p, type, position);
    if (n == NULL)
        return NULL;
    if (big)
        n->u = t.u;
    else if (t.type == TOKEN_INTEGER)
        n->i = negative ? (int64_t)(0 - t.u) : (int64_t)t.u;
    else if (t.type == TOKEN_REAL)
        n->f = negative ? -t.f : t.f;
    else
        n->i = negative ? -t.i : t.i;
    return n;
}

static bool at_number(const struct parser *p)
{
    return at(p, TOKEN_INTEGER) || at(p, TOKEN_REAL) || at(p, TOKEN_DURATION);
}

static struct node *text_node(struct parser *p)
{
    const struct token t = p->token;
    advance(p);
    struct node *n = new_node(p, NODE_TEXT, t.position);
    char *text = n != NULL ? arena_alloc(p->arena, t.end - t.position) : NULL;
    if (text == NULL) {
        no_memory(p);
        return NULL;
    }
    n->length = (uint32_t)token_unquote(&p->lexer, &t, text);
    n->text = text;
    return n;
}

struct node *parse_parameter(struct parser *p)
{
    const struct token t = p->token;
    if (p->in_profile) {
        fault(p, STATUS_SYNTAX, t.position, "a profile can not use ?%lld; give it a named parameter: CREATE PROFILE name(p) ON ...",
              (long long)t.i);
        return NULL;
    }
    advance(p);
    struct node *n = new_node(p, NODE_PARAM, t.position);
    if (n == NULL)
        return NULL;
    n->i = t.i;
    if ((uint64_t)t.i > p->max_param)
        p->max_param = (unsigned)t.i;
    return n;
}

struct node *parse_literal(struct parser *p, const char *what)
{
    const size_t position = p->token.position;
    if (at(p, TOKEN_PARAMETER))
        return parse_parameter(p);
    if (at(p, TOKEN_TEXT))
        return text_node(p);
    if (take_word(p, "NULL"))
        return new_node(p, NODE_NULL, position);
    bool negative = take_token(p, TOKEN_MINUS);
    if (at_number(p))
        return number(p, position, negative);
    expected(p, negative ? "a number" : what);
    return NULL;
}

struct node *parse_list(struct parser *p)
{
    const size_t position = p->token.position;
    if (!need_token(p, TOKEN_LEFT, "'('"))
        return NULL;
    struct node *list = new_node(p, NODE_LIST, position);
    if (list == NULL)
        return NULL;
    while (!at(p, TOKEN_RIGHT)) {
        if (list->n_args > 0 && !need_token(p, TOKEN_COMMA, "',' or ')'"))
            return NULL;
        if (!add_argument(p, list, parse_literal(p, list->n_args > 0 ? "a value" : "a value or ')'"), position))
            return NULL;
    }
    advance(p);
    list->end = (uint32_t)p->previous.end;
    return list;
}

bool parse_number(struct parser *p, double *out)
{
    const size_t position = p->token.position;
    bool negative = take_token(p, TOKEN_MINUS);
    if (!at_number(p))
        return expected(p, "a number");
    struct node *n = number(p, position, negative);
    if (n == NULL)
        return false;
    *out = n->type == NODE_REAL ? n->f : n->type == NODE_UINT ? (double)n->u : (double)n->i;
    if (n->type == NODE_DURATION)
        *out /= 1e6;
    return true;
}

struct node *parse_name_node(struct parser *p, const char *what)
{
    uint32_t position;
    const char *name = parse_name(p, what, &position);
    struct node *n = name != NULL ? new_node(p, NODE_NAME, position) : NULL;
    if (n == NULL)
        return NULL;
    n->text = name;
    while (name[n->length] != '\0')
        n->length++;
    return n;
}

/* ---- operands */

/* Counts a level of nesting that begins at the token in hand; the caller counts it down when it is through. */
static bool enter(struct parser *p)
{
    return ++p->depth <= MAX_DEPTH || too_deep(p, p->token.position);
}

/* An argument of a function: an expression, or `signal?`. */
static struct node *argument(struct parser *p)
{
    bool named = at(p, TOKEN_QUOTED) || at(p, TOKEN_NAME);
    if (!named || peek(p).type != TOKEN_QUESTION)
        return parse_expression(p);
    struct node *n = parse_name_node(p, "a signal name");
    if (n == NULL)
        return NULL;
    advance(p);
    n->maybe = true;
    n->end = (uint32_t)p->previous.end;
    return n;
}

/* name(argument, ...) with the name in hand. */
static struct node *call(struct parser *p)
{
    const struct token t = p->token;
    const char *text = p->lexer.text + t.position;
    size_t length = t.end - t.position;
    const char *function = function_name(text, length);
    if (length > MAX_NAME)
        fault(p, STATUS_LIMIT, t.position, "a name has at most %d bytes, this one has %zu", MAX_NAME, length);
    if (!enter(p))
        return NULL;
    advance(p);
    advance(p);
    struct node *n = new_node(p, NODE_CALL, t.position);
    if (n == NULL)
        return NULL;
    n->text = function != NULL ? function : arena_text(p->arena, text, length);
    n->length = (uint32_t)length;
    if (n->text == NULL) {
        no_memory(p);
        return NULL;
    }
    while (!at(p, TOKEN_RIGHT)) {
        if (n->n_args > 0 && !need_token(p, TOKEN_COMMA, "an operator, ',' or ')'"))
            return NULL;
        if (!add_argument(p, n, argument(p), t.position))
            return NULL;
    }
    advance(p);
    n->end = (uint32_t)p->previous.end;
    p->depth--;
    return n;
}

/* ( expression ). The parentheses belong to the node's text. */
static struct node *group(struct parser *p)
{
    const size_t position = p->token.position;
    if (!enter(p))
        return NULL;
    advance(p);
    struct node *n = parse_expression(p);
    if (n == NULL || !need_token(p, TOKEN_RIGHT, "an operator or ')'"))
        return NULL;
    n->position = (uint32_t)position;
    n->end = (uint32_t)p->previous.end;
    p->depth--;
    return n;
}

static bool at_call(const struct parser *p)
{
    if (!at(p, TOKEN_NAME) || peek(p).type != TOKEN_LEFT)
        return false;
    const char *text = p->lexer.text + p->token.position;
    size_t length = p->token.end - p->token.position;
    return function_name(text, length) != NULL || !is_reserved_word(text, length); /* `count` and `if` are both */
}

static struct node *operand(struct parser *p)
{
    switch (p->token.type) {
    case TOKEN_LEFT: return group(p);
    case TOKEN_NAME:
        if (at_call(p))
            return call(p);
        if (is_reserved_word(p->lexer.text + p->token.position, p->token.end - p->token.position))
            break; /* NULL, or a fault */
        return parse_name_node(p, "an expression");
    case TOKEN_QUOTED: return parse_name_node(p, "an expression");
    case TOKEN_QUESTION: fault(p, STATUS_SYNTAX, p->token.position, "a parameter has a number: ?1"); return NULL;
    default: break;
    }
    return parse_literal(p, "an expression");
}

static struct node *unary(struct parser *p)
{
    const size_t position = p->token.position;
    if (!at(p, TOKEN_MINUS))
        return operand(p);
    if (!enter(p))
        return NULL;
    advance(p);
    struct node *n = at_number(p) ? number(p, position, true) : join(p, NODE_NEG, position, position, unary(p), NULL);
    p->depth--;
    return n;
}

/* ---- operators */

static unsigned strength(enum token_type type)
{
    return type == TOKEN_PLUS || type == TOKEN_MINUS ? 1 : type == TOKEN_STAR || type == TOKEN_SLASH ? 2 : 0;
}

/* Operators of at least this strength, by precedence climbing. */
static struct node *arithmetic(struct parser *p, unsigned least)
{
    struct node *left = unary(p);
    while (left != NULL && strength(p->token.type) >= least) {
        const struct token t = p->token;
        advance(p);
        enum node_type type = t.type == TOKEN_PLUS    ? NODE_ADD
                              : t.type == TOKEN_MINUS ? NODE_SUB
                              : t.type == TOKEN_STAR  ? NODE_MUL
                                                      : NODE_DIV;
        left = binary(p, type, t.position, left, arithmetic(p, strength(t.type) + 1));
    }
    return left;
}

static bool at_comparison(const struct parser *p)
{
    return (p->token.type >= TOKEN_EQ && p->token.type <= TOKEN_GE) || at_word(p, "IN") || at_word(p, "IS") || at_word(p, "NOT");
}

/* What IN looks in: a list, a list as a parameter, a link. */
static struct node *in_operand(struct parser *p)
{
    if (at(p, TOKEN_LEFT))
        return parse_list(p);
    if (at(p, TOKEN_PARAMETER))
        return parse_parameter(p);
    return parse_name_node(p, "a list in parentheses, a parameter or a link name");
}

/* [NOT] IN ..., IS [NOT] NULL, or one of = != < <= > >= and its right side. */
static struct node *compare(struct parser *p, struct node *left)
{
    const struct token t = p->token;
    advance(p);
    if (token_is_word(p, &t, "IS")) {
        bool negated = take_word(p, "NOT");
        if (!take_word(p, "NULL")) {
            expected(p, negated ? "NULL" : "NULL or NOT NULL");
            return NULL;
        }
        struct node *n = join(p, NODE_IS_NULL, left->position, t.position, left, NULL);
        if (n != NULL)
            n->negated = negated;
        return n;
    }
    if (t.type != TOKEN_NAME)
        return binary(p, (enum node_type)(NODE_EQ + (int)(t.type - TOKEN_EQ)), t.position, left, arithmetic(p, 1));
    bool negated = token_is_word(p, &t, "NOT");
    if (negated && !need_word(p, "IN"))
        return NULL;
    struct node *n = binary(p, NODE_IN, t.position, left, in_operand(p));
    if (n != NULL)
        n->negated = negated;
    return n;
}

static struct node *comparison(struct parser *p)
{
    struct node *left = arithmetic(p, 1);
    if (left == NULL || !at_comparison(p))
        return left;
    left = compare(p, left);
    if (left != NULL && at_comparison(p)) {
        fault(p, STATUS_SYNTAX, p->token.position, "comparisons are not chained: join two with AND, or put one in parentheses");
        return NULL;
    }
    return left;
}

static struct node *negation(struct parser *p)
{
    const size_t position = p->token.position;
    if (!at_word(p, "NOT"))
        return comparison(p);
    if (!enter(p))
        return NULL;
    advance(p);
    struct node *n = join(p, NODE_NOT, position, position, negation(p), NULL);
    p->depth--;
    return n;
}

/* The terms of a chain as a balanced tree: AND and OR do not mind, and a long chain stays low. */
static struct node *balance(struct parser *p, enum node_type type, struct node **terms, size_t n)
{
    if (n == 1)
        return terms[0];
    struct node *left = balance(p, type, terms, n - n / 2);
    struct node *right = balance(p, type, terms + (n - n / 2), n / 2);
    struct node *both = binary(p, type, left != NULL ? left->end : 0, left, right);
    if (both != NULL)
        both->end = right->end;
    return both;
}

static struct node *conjunction(struct parser *p, enum node_type type)
{
    const char *word = type == NODE_OR ? "OR" : "AND";
    struct node **terms = NULL;
    size_t n = 0;
    do {
        struct node *term = type == NODE_OR ? conjunction(p, NODE_AND) : negation(p);
        if (term == NULL || (n == 0 && !at_word(p, word)))
            return term;
        terms = arena_grow(p->arena, terms, n, sizeof *terms);
        if (terms == NULL) {
            no_memory(p);
            return NULL;
        }
        terms[n++] = term;
    } while (take_word(p, word));
    return p->failed == STATUS_OK ? balance(p, type, terms, n) : NULL;
}

struct node *parse_expression(struct parser *p)
{
    return conjunction(p, NODE_OR);
}
