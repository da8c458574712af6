/* SPDX-License-Identifier: MIT */
/* cmocka with the headers it needs before it, and without its macro fail(), which is the name of the engine's own function. */
#ifndef EAGRE_TESTS_CHECK_H
#define EAGRE_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail
#undef fail_msg
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

#endif
