/* SPDX-License-Identifier: MIT */
/* Any bytes are a statement or a fault with a place in them. A libFuzzer target; from the root of the tree:
 *
 *   clang -std=gnu11 -g -O1 -mcx16 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DEAGRE_SYSTEM_MALLOC=1 -DEAGRE_TESTING=1 \
 *       -D_GNU_SOURCE -Icore -Itests/support tests/fuzz/fuzz_parser.c tests/support/ast_check.c $(find core -name '*.c') \
 *       -lurcu-bp -lurcu-common -lck -lroaring -lm -o build/fuzz_parser
 *   build/fuzz_parser -dict=tests/fuzz/parser.dict -max_len=4096 -max_total_time=60 build/corpus_parser tests/fuzz/corpus_parser
 *
 * (new finds go to the first folder). Faults of the tree's invariants abort, see ast_check.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ast_check.h"
#include "base/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void check_fault(const struct error *e, status s, size_t size)
{
    require(e->code == s && s < 0 && s != STATUS_NO_MEMORY && s != STATUS_INTERNAL, "an odd code");
    require(e->position >= 0 && (uint64_t)e->position <= size, "a fault outside the statement");
    size_t length = strnlen(e->text, sizeof e->text);
    require(length > 0 && length < sizeof e->text - 1 && utf8_valid(e->text, length), "a sentence that is empty, cut or not UTF-8");
}

/* Parses statement after statement, as a script. */
static void check_script(const char *text, size_t size)
{
    for (size_t offset = 0, consumed = 0; offset < size; offset += consumed) {
        struct ast *a = NULL;
        struct error e = {0};
        status s = parse_statement(text + offset, size - offset, &a, &consumed, &e);
        if (s != STATUS_OK) {
            check_fault(&e, s, size - offset);
            return;
        }
        require(consumed > 0 && consumed <= size - offset, "a script that does not move on");
        const char *wrong = a != NULL ? ast_check(a) : NULL;
        require(wrong == NULL, wrong);
        ast_free(a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ast *a = NULL;
    struct error e = {0};
    status s = parse_statement((const char *)data, size, &a, NULL, &e);
    if (s == STATUS_OK) {
        const char *wrong = ast_check(a);
        require(wrong == NULL, wrong);
    } else {
        check_fault(&e, s, size);
    }
    ast_free(a);
    check_script((const char *)data, size);
    return 0;
}
