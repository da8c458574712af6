/* SPDX-License-Identifier: MIT */
/* What holds of every parsed statement, and a short way to write a tree down. */
#ifndef EAGRE_TESTS_AST_CHECK_H
#define EAGRE_TESTS_AST_CHECK_H

#include "base/buffer.h"
#include "query/ast.h"

/* (+ a (* 2 b)): operators and functions before their arguments, texts in '', durations as 5us, lists in []. */
void node_shape(struct buffer *out, const struct node *n);

/* NULL, or what is wrong with the tree: places, heights, numbers of arguments, and that the text of each expression parses to itself. */
const char *ast_check(const struct ast *a);

#endif
