/* SPDX-License-Identifier: MIT */
/* The public header must stand alone, first in a file and twice in it, in every dialect that a host may
   be written in. CMakeLists.txt compiles this file as C90, C11 and C++ with all warnings as errors. */
#include <eagre/eagre.h>
#include <eagre/eagre.h>

/* Its names must not get in the way of these. */
typedef int db;
typedef int status;
typedef int options;

int eagre_header_test(void);
int eagre_header_test(void)
{
    db a = 1;
    status b = 2;
    options c = 3;
    return a + b + c;
}
