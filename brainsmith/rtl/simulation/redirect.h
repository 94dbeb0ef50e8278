// What a design prints goes to the driver, and so does its end: nothing reaches the terminal, nothing aborts.
// And it opens no file to read but the memories of its plan (driver.cpp).
#pragma once
#include <cstdio>
namespace std {
__attribute__((visibility("hidden"))) FILE* brainsmith_fopen(const char* name, const char* mode);
}
#define fopen brainsmith_fopen
extern "C" __attribute__((visibility("hidden"), format(printf, 1, 2))) int brainsmith_print(const char* format, ...);
#define VL_PRINTF brainsmith_print
#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL
#define VL_USER_WARN
