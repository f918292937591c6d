/*
 * weft.h's functions for agents of the race tester: all are exported, those
 * that begin with weft__ included. WEFT is the header, or a mutant of it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As spinning in primitives/_spin.ts: the tester sets both. */
extern int32_t race_rounds, race_patience;
#define WEFT_SPIN_ROUNDS race_rounds
#define WEFT_SEMAPHORE_PATIENCE race_patience

/* A program's functions are where a linker finds them, unless told otherwise:
   mutants say which ones they need. */
#ifndef WEFT
#define WEFT "weft.h"
#pragma clang diagnostic ignored "-Wkeyword-macro"
#define static
#define inline __attribute__((used, visibility("default")))
#endif
#include WEFT
#undef static
#undef inline

#define EXPORT __attribute__((used, visibility("default")))
EXPORT int32_t race_rounds, race_patience;

/* What goes in by a pointer, and comes out by one. */
EXPORT int32_t race_scratch[64];
EXPORT weft_slab_cache race_cache;

EXPORT void race_spin(int32_t rounds, int32_t patience) {
  race_rounds = rounds;
  race_patience = patience;
}

__attribute__((import_module("env"), import_name("race_callback"))) int
race_callback(void *context);

EXPORT int race_once_run(weft_once *once, int64_t timeout) {
  return weft_once_run(once, race_callback, NULL, timeout);
}

__attribute__((import_module("env"), import_name("race_handler"))) int32_t
race_handler(void *context, const void *request, int32_t length, void *reply);

EXPORT int race_call_ring_try_serve_one(weft_call_ring *ring) {
  return weft_call_ring_try_serve_one(ring, race_handler, NULL);
}

EXPORT int32_t race_call_ring_serve(weft_call_ring *ring, int64_t timeout) {
  return weft_call_ring_serve(ring, race_handler, NULL, timeout);
}
