// What a design prints goes to the driver, and so does its end: nothing reaches the terminal, nothing aborts.
#pragma once
extern "C" __attribute__((visibility("hidden"), format(printf, 1, 2))) int brainsmith_print(const char* format, ...);
#define VL_PRINTF brainsmith_print
#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL
#define VL_USER_WARN
