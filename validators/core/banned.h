// SPDX-License-Identifier: Apache-2.0
// Functions that nobody here may call, each a compile error with its name.
// They write without a bound, hide a failure, or read text into numbers without saying where it went wrong.
// Included by text.h. The system headers that declare them come first: as macros they would break those.
#ifndef DRAWBRIDGE_CORE_BANNED_H
#define DRAWBRIDGE_CORE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DRAWBRIDGE_BANNED(function) this_function_is_banned_##function

#undef strcpy
#define strcpy(a, b) DRAWBRIDGE_BANNED(strcpy)
#undef strcat
#define strcat(a, b) DRAWBRIDGE_BANNED(strcat)
#undef strncpy
#define strncpy(a, b, n) DRAWBRIDGE_BANNED(strncpy)
#undef strncat
#define strncat(a, b, n) DRAWBRIDGE_BANNED(strncat)
#undef strtok
#define strtok(a, b) DRAWBRIDGE_BANNED(strtok)
#undef sprintf
#define sprintf(...) DRAWBRIDGE_BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) DRAWBRIDGE_BANNED(vsprintf)
#undef sscanf
#define sscanf(...) DRAWBRIDGE_BANNED(sscanf)
#undef atoi
#define atoi(a) DRAWBRIDGE_BANNED(atoi)
#undef atol
#define atol(a) DRAWBRIDGE_BANNED(atol)
#undef gmtime
#define gmtime(a) DRAWBRIDGE_BANNED(gmtime)
#undef localtime
#define localtime(a) DRAWBRIDGE_BANNED(localtime)

#endif
