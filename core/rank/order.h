/* SPDX-License-Identifier: MIT */
/* ORDER BY: comparing the values of fields and keys, nulls last in either direction. */
#ifndef EAGRE_RANK_ORDER_H
#define EAGRE_RANK_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/value.h"

/* <0 when a stands before b, 0 when neither does. Numbers and times compare exactly, whatever their types, text by bytes (a prefix before what it
 * begins); -0.0 equals 0.0. Null stands last, descending too. Values of a field are all numbers or all texts; should they not be, numbers stand
 * before texts, and lists and vectors last, unordered among themselves. */
int value_order(const struct value *a, const struct value *b, bool descending);


#endif
