/* SPDX-License-Identifier: MIT */
/* The full walk over every invariant of a kind, called by tests and by whoever doubts. */
#ifndef EAGRE_VALIDATE_H
#define EAGRE_VALIDATE_H

#include "store/catalog.h"

/* With the kind's lock held, outside of read sections: true when rows, keys, columns, keywords, slots, generations, sequence words and signals all
 * agree; false and a sentence in *e for the first that does not. A dropped kind is in order. Writers of signals may not run beside it. */
bool validate_kind(struct kind *k, struct error *e);

#endif
