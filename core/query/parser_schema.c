/* SPDX-License-Identifier: MIT */
/* CREATE, ALTER and DROP: what needs no catalog is checked here. */
#include <string.h>

#include "base/clock.h"
#include "query/parser.h"
#include "store/limits.h"

/* ---- fields */

static bool parse_type(struct parser *p, struct field_def *f)
{
    unsigned type = 0;
    while (type <= FIELD_VECTOR && !at_word(p, FIELD_TYPES[type]))
        type++;
    if (type > FIELD_VECTOR)
        return !misspelled(p, "type", FIELD_TYPES) && expected(p, "a type (INTEGER, REAL, TIME, KEYWORD, KEYWORDS, TEXT or VECTOR(n))");
    advance(p);
    f->type = (uint8_t)type;
    if (type != FIELD_VECTOR)
        return true;
    if (!need_token(p, TOKEN_LEFT, "'(' and the vector's length"))
        return false;
    const struct token t = p->token;
    if (!need_token(p, TOKEN_INTEGER, "the vector's length"))
        return false;
    if (t.u == 0 || t.u > MAX_DIMENSION)
        return fault(p, t.u == 0 ? STATUS_RANGE : STATUS_LIMIT, t.position, "a vector has 1 to %d numbers", MAX_DIMENSION);
    f->dimension = (uint16_t)t.u;
    return need_token(p, TOKEN_RIGHT, "')'");
}

/* Behind AS. */
static bool parse_role(struct parser *p, struct field_def *f)
{
    static const char *const wanted[] = {"", "TEXT or KEYWORD", "KEYWORD", "TIME", "INTEGER or REAL"};
    uint32_t position;
    const char *name = parse_name(p, "a role (title, author, created or duration)", &position);
    if (name == NULL)
        return false;
    enum role role = role_by_name(name);
    if (role == ROLE_NONE)
        return fault(p, STATUS_UNKNOWN, position, "there is no role '%s': a role is title, author, created or duration", name);
    if (!role_fits(role, f->type))
        return fault(p, STATUS_TYPE, position, "the role %s is for a field of type %s, '%s' is %s", name, wanted[role], f->name,
                     field_type_name(f->type));
    f->role = (uint8_t)role;
    f->role_by_as = true;
    return true;
}

/* Against the fields before it. `expires`: where its EXPIRES stands. */
static bool check_field(struct parser *p, const struct ast *a, const struct field_def *f, size_t position, size_t expires)
{
    for (unsigned i = 0; i < a->n_fields; i++) {
        const struct field_def *other = &a->fields[i];
        if (strcmp(other->name, f->name) == 0)
            return fault(p, STATUS_EXISTS, position, "the field '%s' is given twice", f->name);
        if (f->role_by_as && other->role_by_as && f->role == other->role)
            return fault(p, STATUS_EXISTS, position, "'%s' and '%s' are both said to play the same role", other->name, f->name);
        if (f->expires && other->expires)
            return fault(p, STATUS_EXISTS, expires, "a kind has one EXPIRES field, and '%s' is it", other->name);
    }
    if (a->n_fields == MAX_FIELDS)
        return fault(p, STATUS_LIMIT, position, "a kind has at most %d fields", MAX_FIELDS);
    return true;
}

/* name type [AS role] [EXPIRES] */
static bool parse_field(struct parser *p, struct ast *a)
{
    struct field_def f = {0};
    uint32_t position;
    const char *name = define_name(p, "a field name", &position);
    if (name == NULL || !parse_type(p, &f))
        return false;
    strcpy(f.name, name);
    enum role by_name = role_by_name(name);
    if (take_word(p, "AS")) {
        if (!parse_role(p, &f))
            return false;
    } else if (role_fits(by_name, f.type)) {
        f.role = (uint8_t)by_name;
    }
    const size_t expires = p->token.position;
    f.expires = take_word(p, "EXPIRES");
    if (f.expires && f.type != FIELD_TIME)
        return fault(p, STATUS_TYPE, expires, "EXPIRES is for a field of type TIME, '%s' is %s", f.name, field_type_name(f.type));
    if (f.expires && at_word(p, "AS"))
        return fault(p, STATUS_SYNTAX, p->token.position, "AS must come before EXPIRES");
    if (!check_field(p, a, &f, position, expires))
        return false;
    struct field_def *fields = arena_grow(p->arena, a->fields, a->n_fields, sizeof *fields);
    uint32_t *positions = arena_grow(p->arena, a->field_positions, a->n_fields, sizeof *positions);
    if (fields == NULL || positions == NULL)
        return no_memory(p);
    fields[a->n_fields] = f;
    positions[a->n_fields++] = position;
    a->fields = fields;
    a->field_positions = positions;
    return true;
}

/* What may follow a field's last word, for the fault when something else does. */
static const char *behind_field(const struct ast *a, bool in_list)
{
    static char const *const inside[] = {"',' or ')'", "EXPIRES, ',' or ')'", "AS, EXPIRES, ',' or ')'", "AS, ',' or ')'"};
    static char const *const at_tail[] = {"',' or the end", "EXPIRES, ',' or the end", "AS, EXPIRES, ',' or the end", "AS, ',' or the end"};
    const struct field_def *f = &a->fields[a->n_fields - 1];
    unsigned i = f->expires ? 0 : f->type == FIELD_TIME ? (f->role_by_as ? 1 : 2) : f->role_by_as ? 0 : 3;
    return in_list ? inside[i] : at_tail[i];
}

/* ---- items */

static bool parse_if(struct parser *p, struct ast *a, bool exist)
{
    if (!take_word(p, "IF"))
        return true;
    a->if_exists = true;
    return (exist || need_word(p, "NOT")) && need_word(p, "EXISTS");
}

static bool parse_key(struct parser *p, struct ast *a)
{
    if (!take_word(p, "KEY"))
        return true;
    a->integer_keys = take_word(p, "INTEGER");
    return a->integer_keys || take_word(p, "STRING") || expected(p, "STRING or INTEGER");
}

static bool create_item(struct parser *p, struct ast *a)
{
    a->type = STATEMENT_CREATE_ITEM;
    if (!parse_if(p, a, false) || (a->name = define_name(p, "a kind name", &a->name_position)) == NULL)
        return false;
    if (!need_token(p, TOKEN_LEFT, "'(' and the fields"))
        return false;
    do {
        if (!parse_field(p, a))
            return false;
    } while (take_token(p, TOKEN_COMMA));
    if (!need_token(p, TOKEN_RIGHT, behind_field(a, true)) || !parse_key(p, a))
        return false;
    return at_end(p) || expected(p, token_is_word(p, &p->previous, "INTEGER") || token_is_word(p, &p->previous, "STRING")
                                        ? "the end of the statement"
                                        : "KEY or the end of the statement");
}

static bool alter_item(struct parser *p, struct ast *a)
{
    a->type = STATEMENT_ALTER_ITEM;
    a->name = parse_name(p, "a kind name", &a->name_position);
    if (a->name == NULL || !need_word(p, "ADD"))
        return false;
    do {
        if (!parse_field(p, a))
            return false;
    } while (take_token(p, TOKEN_COMMA));
    return at_end(p) || expected(p, behind_field(a, false));
}

/* DROP ITEM [IF EXISTS] kind, DROP SIGNAL|PROFILE [IF EXISTS] name ON kind */
static bool drop_named(struct parser *p, struct ast *a, enum statement_type type, const char *what)
{
    a->type = type;
    if (!parse_if(p, a, true) || (a->name = parse_name(p, what, &a->name_position)) == NULL)
        return false;
    if (type == STATEMENT_DROP_ITEM)
        return true;
    return need_word(p, "ON") && (a->kind = parse_name(p, "a kind name", &a->kind_position)) != NULL;
}

/* ---- signals */

static bool parse_duration(struct parser *p, const char *what, int64_t *out)
{
    *out = p->token.i;
    return need_token(p, TOKEN_DURATION, what);
}

static bool parse_decay(struct parser *p, struct signal_def *s)
{
    const size_t first = p->token.position;
    if (take_word(p, "NO")) {
        s->decay = DECAY_NONE;
        return need_word(p, "DECAY");
    }
    if (take_word(p, "HALF")) {
        s->decay = DECAY_HALF_LIFE;
        const size_t position = need_word(p, "LIFE") ? p->token.position : first;
        if (!parse_duration(p, "a duration such as 7d", &s->half_life))
            return false;
        bool fits = s->half_life >= HALF_LIFE_MIN && s->half_life <= HALF_LIFE_MAX;
        return fits || fault(p, STATUS_RANGE, position, "a half-life is 30s to 3650d");
    }
    if (!take_word(p, "POWER"))
        return expected(p, "HALF LIFE, POWER DECAY or NO DECAY");
    s->decay = DECAY_POWER;
    if (!need_word(p, "DECAY"))
        return false;
    const size_t position = p->token.position;
    if (at(p, TOKEN_DURATION))
        return expected(p, "a number such as 0.5");
    if (!parse_number(p, &s->power))
        return false;
    return (s->power > 0 && s->power <= MAX_POWER) ||
           fault(p, STATUS_RANGE, position, "POWER DECAY takes a number above 0 and up to %d", MAX_POWER);
}

/* Behind WINDOWS. They are kept in ascending order. */
static bool parse_windows(struct parser *p, struct signal_def *s)
{
    do {
        const size_t position = p->token.position;
        int64_t window;
        if (!parse_duration(p, "a duration such as 24h", &window))
            return false;
        if (window < WINDOW_MIN * MICROS || window > WINDOW_MAX * MICROS || window % (WINDOW_MIN * MICROS) != 0)
            return fault(p, STATUS_RANGE, position, "a window is a whole number of minutes, 1m to 366d");
        uint32_t seconds = (uint32_t)(window / MICROS);
        unsigned i = s->n_windows;
        while (i > 0 && s->windows[i - 1] > seconds)
            i--;
        if (i > 0 && s->windows[i - 1] == seconds)
            return fault(p, STATUS_EXISTS, position, "this window is given twice");
        if (s->n_windows == MAX_WINDOWS)
            return fault(p, STATUS_LIMIT, position, "a signal has at most %d windows", MAX_WINDOWS);
        memmove(&s->windows[i + 1], &s->windows[i], (s->n_windows - i) * sizeof s->windows[0]);
        s->windows[i] = seconds;
        s->n_windows++;
    } while (take_token(p, TOKEN_COMMA));
    return true;
}

/* Where the signal's statement should end and does not: says what is out of order, given twice, or strange. */
static bool signal_end_expected(struct parser *p, const struct signal_def *s)
{
    if (at_word(p, "HALF") || at_word(p, "POWER") || at_word(p, "NO"))
        return fault(p, STATUS_SYNTAX, p->token.position, "a signal has one of HALF LIFE, POWER DECAY and NO DECAY, before all else");
    if (at_word(p, "WINDOWS") && s->n_windows > 0)
        return fault(p, STATUS_SYNTAX, p->token.position, "WINDOWS is given twice");
    if (at_word(p, "WINDOWS"))
        return fault(p, STATUS_SYNTAX, p->token.position, "WINDOWS must come before FORGETS");
    if (at_word(p, "FORGETS"))
        return fault(p, STATUS_SYNTAX, p->token.position, "FORGETS is given twice");
    static const char *const words[] = {"WINDOWS", "FORGETS", NULL};
    if (misspelled(p, "clause", words))
        return false;
    return expected(p, s->forgets         ? "the end of the statement"
                       : s->n_windows > 0 ? "',', FORGETS or the end"
                                          : "WINDOWS, FORGETS or the end");
}

static bool create_signal(struct parser *p, struct ast *a)
{
    a->type = STATEMENT_CREATE_SIGNAL;
    if (!parse_if(p, a, false) || (a->name = define_name(p, "a signal name", &a->name_position)) == NULL)
        return false;
    strcpy(a->signal.name, a->name);
    if (!need_word(p, "ON") || (a->kind = parse_name(p, "a kind name", &a->kind_position)) == NULL)
        return false;
    if (!parse_decay(p, &a->signal) || (take_word(p, "WINDOWS") && !parse_windows(p, &a->signal)))
        return false;
    a->signal.forgets = take_word(p, "FORGETS");
    return at_end(p) || signal_end_expected(p, &a->signal);
}

/* ---- profiles */

/* name [= number] */
static bool profile_parameter(struct parser *p, struct ast *a)
{
    struct ast_parameter parameter = {0};
    parameter.name = define_name(p, "a parameter name", &parameter.position);
    if (parameter.name == NULL)
        return false;
    for (unsigned i = 0; i < a->n_parameters; i++)
        if (strcmp(a->parameters[i].name, parameter.name) == 0)
            return fault(p, STATUS_EXISTS, parameter.position, "the parameter '%s' is given twice", parameter.name);
    if (a->n_parameters == MAX_PROFILE_PARAMETERS)
        return fault(p, STATUS_LIMIT, parameter.position, "a profile has at most %d parameters", MAX_PROFILE_PARAMETERS);
    if (take_token(p, TOKEN_EQ)) {
        parameter.has_default = true;
        if (!parse_number(p, &parameter.value))
            return false;
    }
    struct ast_parameter *grown = arena_grow(p->arena, a->parameters, a->n_parameters, sizeof *grown);
    if (grown == NULL)
        return no_memory(p);
    grown[a->n_parameters++] = parameter;
    a->parameters = grown;
    return true;
}

/* ( name [= number], ... ); may be left out or empty */
static bool profile_parameters(struct parser *p, struct ast *a)
{
    if (!take_token(p, TOKEN_LEFT) || take_token(p, TOKEN_RIGHT))
        return true;
    do {
        if (!profile_parameter(p, a))
            return false;
    } while (take_token(p, TOKEN_COMMA));
    return need_token(p, TOKEN_RIGHT, a->parameters[a->n_parameters - 1].has_default ? "',' or ')'" : "'=', ',' or ')'");
}

static bool define_profile(struct parser *p, struct ast *a)
{
    a->name = define_name(p, "a profile name", &a->name_position);
    if (a->name == NULL)
        return false;
    const char *function = function_name(a->name, strlen(a->name));
    if (function != NULL && strcmp(function, a->name) == 0)
        return fault(p, STATUS_SYNTAX, a->name_position, "'%s' is a function and can not be a profile name", a->name);
    if (!profile_parameters(p, a))
        return false;
    if (!at_word(p, "ON"))
        return expected(p, p->previous.type == TOKEN_RIGHT ? "ON" : "'(' or ON");
    advance(p);
    a->kind = parse_name(p, "a kind name", &a->kind_position);
    if (a->kind == NULL || !need_word(p, "AS"))
        return false;
    p->in_profile = true;
    if (take_word(p, "ORDER"))
        return need_word(p, "BY") && parse_order(p, &a->n_order, &a->order) && (at_end(p) || expected(p, "',' or the end"));
    a->score = parse_expression(p);
    return a->score != NULL && (at_end(p) || expected(p, "an operator or the end"));
}

static bool create_profile(struct parser *p, struct ast *a)
{
    a->type = STATEMENT_CREATE_PROFILE;
    return parse_if(p, a, false) && define_profile(p, a);
}

/* ---- the verbs */

bool parse_create(struct parser *p, struct ast *a)
{
    if (refuse_reserved_object(p))
        return false;
    if (take_word(p, "ITEM"))
        return create_item(p, a);
    if (take_word(p, "SIGNAL"))
        return create_signal(p, a);
    if (take_word(p, "PROFILE"))
        return create_profile(p, a);
    return expected(p, "ITEM, SIGNAL or PROFILE");
}

bool parse_alter(struct parser *p, struct ast *a)
{
    if (refuse_reserved_object(p))
        return false;
    if (take_word(p, "ITEM"))
        return alter_item(p, a);
    if (at_word(p, "SIGNAL"))
        return fault(p, STATUS_SYNTAX, p->token.position, "a signal can not be altered: DROP SIGNAL, then CREATE SIGNAL");
    if (!take_word(p, "PROFILE"))
        return expected(p, "ITEM or PROFILE");
    a->type = STATEMENT_ALTER_PROFILE;
    return define_profile(p, a);
}

bool parse_drop(struct parser *p, struct ast *a)
{
    if (refuse_reserved_object(p))
        return false;
    if (take_word(p, "ITEM"))
        return drop_named(p, a, STATEMENT_DROP_ITEM, "a kind name");
    if (take_word(p, "SIGNAL"))
        return drop_named(p, a, STATEMENT_DROP_SIGNAL, "a signal name");
    if (take_word(p, "PROFILE"))
        return drop_named(p, a, STATEMENT_DROP_PROFILE, "a profile name");
    return expected(p, "ITEM, SIGNAL or PROFILE");
}
