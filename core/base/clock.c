/* SPDX-License-Identifier: MIT */
/* Time: the system's clocks, and dates in the proleptic Gregorian calendar (Hinnant's days-from-civil). */
#include "base/clock.h"

#include <time.h>

#define DAY_US (86400 * MICROS)

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * MICROS + t.tv_nsec / 1000;
}

int64_t clock_coarse(void)
{
    return read_clock(CLOCK_REALTIME_COARSE);
}

int64_t clock_precise(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_monotonic(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* Years run from March, so that a leap day is a year's last day; an era is 400 years or 146097 days. */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct scan {
    const char *at, *end;
};

static bool scan_char(struct scan *s, char c)
{
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

/* Exactly `digits` digits, the number within low..high. */
static bool scan_number(struct scan *s, int digits, int64_t low, int64_t high, int64_t *out)
{
    if (s->end - s->at < digits)
        return false;
    int64_t n = 0;
    for (int i = 0; i < digits; i++, s->at++) {
        if (*s->at < '0' || *s->at > '9')
            return false;
        n = n * 10 + (*s->at - '0');
    }
    *out = n;
    return n >= low && n <= high;
}

static bool scan_time(struct scan *s, int64_t *us)
{
    int64_t hour, minute, second = 0, fraction = 0;
    if (!scan_number(s, 2, 0, 23, &hour) || !scan_char(s, ':') || !scan_number(s, 2, 0, 59, &minute))
        return false;
    if (scan_char(s, ':')) {
        if (!scan_number(s, 2, 0, 59, &second))
            return false;
        if (scan_char(s, '.')) {
            int digits = 0;
            for (; digits < 6 && s->at < s->end && *s->at >= '0' && *s->at <= '9'; digits++, s->at++)
                fraction = fraction * 10 + (*s->at - '0');
            if (digits == 0)
                return false;
            for (; digits < 6; digits++)
                fraction *= 10;
        }
    }
    *us = ((hour * 60 + minute) * 60 + second) * MICROS + fraction;
    return true;
}

static int days_in_month(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

bool time_parse(const char *text, size_t length, int64_t *out)
{
    struct scan s = {text, text + length};
    int64_t year, month, day, us = 0;
    if (!scan_number(&s, 4, 1, 9999, &year) || !scan_char(&s, '-') || !scan_number(&s, 2, 1, 12, &month) || !scan_char(&s, '-') ||
        !scan_number(&s, 2, 1, days_in_month(year, month), &day))
        return false;
    if ((scan_char(&s, 'T') || scan_char(&s, ' ')) && !scan_time(&s, &us))
        return false;
    scan_char(&s, 'Z');
    if (s.at != s.end)
        return false;
    *out = days_from_date(year, month, day) * DAY_US + us;
    return true;
}
