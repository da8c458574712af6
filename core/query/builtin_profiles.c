/* SPDX-License-Identifier: MIT */
#include "query/builtin_profiles.h"

#include <stddef.h>
#include <string.h>

#define SCORE(name, expression)                                          \
    {                                                                    \
#        name, "CREATE PROFILE " #        name " ON item AS " expression \
    }
#define ORDER(name, order)                                                   \
    {                                                                        \
#        name, "CREATE PROFILE " #        name " ON item AS ORDER BY " order \
    }
#define TOP(name, window) SCORE(name, "count(like, " window ") - count(dislike?, " window ")")

static const struct {
    const char *name, *text;
} profiles[] = {
    SCORE(trending, "velocity(view, 24h) + 2 * velocity(share?, 24h)"),

    ORDER(new, "created DESC"),
    ORDER(old, "created ASC"),
    ORDER(shortest, "duration ASC"),
    ORDER(longest, "duration DESC"),
    ORDER(title_az, "title ASC"),
    ORDER(title_za, "title DESC"),

    /* The order of magnitude of the balance of likes, against age: 45,000 s (12.5 h) weigh as much as e times the likes. */
    SCORE(hot, "sign(count(like, all) - count(dislike?, all)) * log1p(abs(count(like, all) - count(dislike?, all)))"
               " - age(created) / 45000"),

    /* This hour against the day's average hour. */
    SCORE(rising, "rise(view, 1h, 24h)"),

    TOP(top_hour, "1h"),
    TOP(top_day, "24h"),
    TOP(top_week, "7d"),
    TOP(top_month, "30d"),
    TOP(top_year, "365d"),
    TOP(top_all, "all"),

    SCORE(most_viewed, "count(view, all)"),
    SCORE(most_liked, "count(like, all)"),
    SCORE(most_commented, "count(comment, all)"),
    SCORE(most_shared, "count(share, all)"),

    /* Many votes, close to even. */
    SCORE(controversial, "if(count(like, all) > 0 AND count(dislike, all) > 0,"
                         " pow(count(like, all) + count(dislike, all),"
                         " min(count(like, all), count(dislike, all)) / max(count(like, all), count(dislike, all), 1)), 0)"),

    /* Well liked, little seen. */
    SCORE(hidden_gems, "wilson(count(like, all), count(dislike?, all)) / (1 + log1p(count(view, all)))"),

    {"shuffle", "CREATE PROFILE shuffle(seed = 0) ON item AS random(seed)"},
};

const char *builtin_profile(const char *name)
{
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return profiles[i].text;
    return NULL;
}

const char *builtin_profile_name(unsigned n)
{
    return n < sizeof profiles / sizeof *profiles ? profiles[n].name : NULL;
}
