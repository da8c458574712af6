/* SPDX-License-Identifier: MIT */
#include <eagre/eagre.h>
