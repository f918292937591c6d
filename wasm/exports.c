/*
 * weft.h's functions as exports of a module, for JavaScript that calls them:
 * the tests do, and compare each with its twin. A program of C needs no more
 * than the header.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#include <emscripten/threading.h>
#include <errno.h>
#endif

/* What the header includes is included by now, and left alone. */
#pragma clang diagnostic ignored "-Wkeyword-macro"
#define static
#define inline __attribute__((used, visibility("default")))
#include "weft.h"
