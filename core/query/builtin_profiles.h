/* SPDX-License-Identifier: MIT */
/* The profiles every kind has: statements of the language (docs/language.md, section 6), all in builtin_profiles.c. `item` stands for the
 * kind, and a signal marked with `?` counts 0 where the kind lacks it. */
#ifndef EAGRE_QUERY_BUILTIN_PROFILES_H
#define EAGRE_QUERY_BUILTIN_PROFILES_H

/* The whole statement, "CREATE PROFILE trending ON item AS ...", static; NULL when no built-in profile is called so. */
const char *builtin_profile(const char *name);

/* For listing: the name of the n-th, from 0 on, in the order of the manual; NULL behind the last. */
const char *builtin_profile_name(unsigned n);

#endif
