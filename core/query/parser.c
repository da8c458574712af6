/* SPDX-License-Identifier: MIT */
#include "query/parser.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "store/limits.h"

/* ---- faults */

bool no_memory(struct parser *p)
{
    return fault(p, STATUS_NO_MEMORY, -1, "out of memory");
}

/* Cuts after at most `room` bytes, between two characters. */
static size_t cut(const char *text, size_t length, size_t room)
{
    if (length <= room)
        return length;
    while (room > 0 && ((unsigned char)text[room] & 0xc0) == 0x80)
        room--;
    return room;
}

const char *token_phrase(const struct parser *p, const struct token *t, struct phrase *out)
{
    if (t->type == TOKEN_END || t->type == TOKEN_FAULT)
        return "the end of the statement";
    const char *text = p->lexer.text + t->position;
    size_t length = t->end - t->position, shown = cut(text, length, 36);
    const char *quote = t->type == TOKEN_TEXT ? "" : "'";
    const char *rest = shown < length ? "..." : "";
    snprintf(out->text, sizeof out->text, "%s%s%.*s%s%s", t->type == TOKEN_TEXT ? "the text " : "", quote, (int)shown, text, rest, quote);
    for (char *c = out->text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    return out->text;
}

static bool expected_with(struct parser *p, const char *what, const char *hint)
{
    if (p->failed != STATUS_OK || refuse_reserved(p))
        return false;
    struct phrase found, after;
    const char *name = token_phrase(p, &p->token, &found);
    if (p->previous.type == TOKEN_FAULT)
        return fault(p, STATUS_SYNTAX, p->token.position, "expected %s, found %s%s", what, name, hint);
    return fault(p, STATUS_SYNTAX, p->token.position, "expected %s after %s, found %s%s", what, token_phrase(p, &p->previous, &after), name,
                 hint);
}

bool expected(struct parser *p, const char *what)
{
    return expected_with(p, what, "");
}

/* ---- tokens */

void advance(struct parser *p)
{
    p->previous = p->token;
    if (p->failed == STATUS_OK)
        p->failed = lexer_next(&p->lexer, &p->token, p->error);
}

struct token peek(const struct parser *p)
{
    struct lexer ahead = p->lexer;
    struct token t;
    lexer_next(&ahead, &t, NULL);
    return t;
}

bool token_is_word(const struct parser *p, const struct token *t, const char *word)
{
    size_t length = strlen(word);
    if (t->type != TOKEN_NAME || t->end - t->position != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (to_lower(p->lexer.text[t->position + i]) != to_lower(word[i]))
            return false;
    return true;
}

bool at(const struct parser *p, enum token_type type)
{
    return p->token.type == type;
}

bool at_word(const struct parser *p, const char *word)
{
    return token_is_word(p, &p->token, word);
}

bool at_end(const struct parser *p)
{
    return at(p, TOKEN_END) || at(p, TOKEN_SEMICOLON);
}

bool take_token(struct parser *p, enum token_type type)
{
    if (!at(p, type))
        return false;
    advance(p);
    return true;
}

bool take_word(struct parser *p, const char *word)
{
    if (!at_word(p, word))
        return false;
    advance(p);
    return true;
}

bool need_token(struct parser *p, enum token_type type, const char *what)
{
    return take_token(p, type) || expected(p, what);
}

bool need_word(struct parser *p, const char *word)
{
    return take_word(p, word) || expected(p, word);
}

/* ---- names */

const char *parse_name(struct parser *p, const char *what, uint32_t *position)
{
    const struct token t = p->token;
    const char *text = p->lexer.text + t.position;
    size_t length = t.end - t.position;
    if (t.type != TOKEN_QUOTED && (t.type != TOKEN_NAME || is_reserved_word(text, length))) {
        expected_with(p, what, t.type == TOKEN_NAME ? "; a keyword is a name only in double quotes" : "");
        return NULL;
    }
    char *name = arena_text(p->arena, text, length);
    if (name == NULL) {
        no_memory(p);
        return NULL;
    }
    if (t.type == TOKEN_QUOTED) {
        length = token_unquote(&p->lexer, &t, name);
        name[length] = '\0';
    }
    if (length == 0 || length > MAX_NAME) {
        if (length == 0)
            fault(p, STATUS_SYNTAX, t.position, "a name has at least one character");
        else
            fault(p, STATUS_LIMIT, t.position, "a name has at most %d bytes, this one has %zu", MAX_NAME, length);
        return NULL;
    }
    *position = (uint32_t)t.position;
    advance(p);
    return name;
}

const char *define_name(struct parser *p, const char *what, uint32_t *position)
{
    const char *name = parse_name(p, what, position);
    if (name != NULL && name_reserved(name)) {
        fault(p, STATUS_SYNTAX, *position, "'%s' is reserved and can not be %s", name, what);
        return NULL;
    }
    return name;
}

/* ---- statements */

static bool parse_verb(struct parser *p, struct ast *a)
{
    static const char *const verbs[] = {"CREATE", "ALTER", "DROP", "RETRIEVE", "EXPLAIN", "SEARCH", "SUGGEST", "ASSEMBLE", NULL};
    if (take_word(p, "CREATE"))
        return parse_create(p, a);
    if (take_word(p, "ALTER"))
        return parse_alter(p, a);
    if (take_word(p, "DROP"))
        return parse_drop(p, a);
    a->type = STATEMENT_RETRIEVE;
    a->retrieve.explain = take_word(p, "EXPLAIN");
    if (take_word(p, "RETRIEVE"))
        return parse_retrieve(p, &a->retrieve);
    if (refuse_reserved_statement(p) || misspelled(p, "statement", verbs))
        return false;
    return expected(p, a->retrieve.explain ? "RETRIEVE" : "CREATE, ALTER, DROP, RETRIEVE or EXPLAIN");
}

/* Behind the statement: its ';', then the end of the text, or, for the caller that asked for it, the start of the next statement. */
static bool parse_end(struct parser *p, size_t *consumed)
{
    if (!at_end(p))
        return expected(p, "the end of the statement");
    size_t behind = p->token.end;
    if (!at(p, TOKEN_SEMICOLON)) {
        behind = p->token.position;
    } else if (consumed == NULL) {
        advance(p);
        return at(p, TOKEN_END) || expected(p, "the end of the text");
    } else {
        struct token next = peek(p);
        if (next.type != TOKEN_FAULT)
            behind = next.position;
    }
    if (consumed != NULL)
        *consumed = behind;
    return true;
}

static bool parse_whole(struct parser *p, struct ast *a, size_t *consumed)
{
    if (!parse_verb(p, a))
        return false;
    if (a->type == STATEMENT_RETRIEVE) {
        a->kind = a->retrieve.kind;
        a->kind_position = a->retrieve.kind_position;
    }
    size_t end = p->previous.end;
    if (!parse_end(p, consumed))
        return false;
    a->max_param = p->max_param;
    a->length = end;
    a->text = arena_text(p->arena, p->lexer.text, end);
    return a->text != NULL || no_memory(p);
}

status parse_statement(const char *text, size_t length, struct ast **out, size_t *consumed, struct error *e)
{
    *out = NULL;
    if (length > MAX_STATEMENT && consumed == NULL)
        return fail(e, STATUS_LIMIT, MAX_STATEMENT, "a statement has at most %d bytes, this one has %zu", MAX_STATEMENT, length);
    struct arena *arena = arena_create();
    struct ast *a = arena != NULL ? arena_alloc(arena, sizeof *a) : NULL;
    if (a == NULL) {
        arena_destroy(arena);
        return fail(e, STATUS_NO_MEMORY, -1, "out of memory");
    }
    a->arena = arena;
    struct parser p = {.lexer = {.text = length > 0 ? text : "", .length = length}, .token.type = TOKEN_FAULT, .arena = arena, .error = e};
    advance(&p);
    if (consumed != NULL && p.failed == STATUS_OK && at(&p, TOKEN_END)) {
        *consumed = length;
        arena_destroy(arena);
        return STATUS_OK;
    }
    if (p.failed != STATUS_OK || !parse_whole(&p, a, consumed)) {
        arena_destroy(arena);
        return p.failed;
    }
    *out = a;
    return STATUS_OK;
}

void ast_free(struct ast *a)
{
    if (a != NULL)
        arena_destroy(a->arena);
}
