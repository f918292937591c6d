/*
 * The functions of weft.h as exports of a module, so that JavaScript can call
 * them. The tests do that, and compare each function with its twin. A program
 * of C only needs the header.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#include <emscripten/threading.h>
#include <errno.h>
#endif

/* The files that the header includes are included by now, so the macros below
   leave them alone. */
#pragma clang diagnostic ignored "-Wkeyword-macro"
#define static
#define inline __attribute__((used, visibility("default")))
#include "weft.h"
