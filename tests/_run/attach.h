/* What the native tests of primitives with a head word share. */
#ifndef ATTACH_H
#define ATTACH_H

#include <weft/_region.h>

#include "check.h"

/* Room for a primitive, between two guards. */
static int32_t arena[1 << 14];

/* Attaching to anything but what lies there is refused, and changes nothing. */
static inline void attach_wrongly(int32_t kind, void *(*attach)(void *),
                           int first_torn, int last_torn) {
  CHECK(attach(arena) == (void *)arena);
  CHECK(weft_attach_error(arena, kind) == NULL);
  for (int32_t other = 0; other < 7; other++) {
    if (other == kind) continue;
    const char *error = weft_attach_error(arena, other);
    EQUAL(strcmp(error, "a primitive of another kind"), 0);
  }
  const int32_t magic = arena[0];
  EQUAL(magic, 0x57460000 | kind << 8 | WEFT_VERSION);
  const struct {
    int32_t magic;
    const char *error;
  } wrong[] = {
      {0, "no initialized primitive here"},
      {-1, "no initialized primitive here"},
      {magic ^ 0x10000, "no initialized primitive here"},
      {magic ^ 0x0700, "a primitive of another kind"},
      {magic + 1, "another layout version"},
      {magic & ~0xff, "another layout version"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    arena[0] = wrong[i].magic;
    UNCHANGED(arena, 1024, attach(arena) == NULL, true);
    EQUAL(strcmp(weft_attach_error(arena, kind), wrong[i].error), 0);
  }
  arena[0] = magic;
  for (int word = first_torn; word <= last_torn; word++) {
    for (int bit = 0; bit < 32; bit++) {
      arena[word] ^= (int32_t)(UINT32_C(1) << bit);
      UNCHANGED(arena, 1024, attach(arena) == NULL, true);
      EQUAL(strcmp(weft_attach_error(arena, kind),
                   "the configuration does not match its seal"),
            0);
      arena[word] ^= (int32_t)(UINT32_C(1) << bit);
    }
  }
  for (int off = 1; off < 4; off++) {
    void *at = (char *)arena + off;
    UNCHANGED(arena, 1024, attach(at) == NULL, true);
    EQUAL(strcmp(weft_attach_error(at, kind), "not a multiple of 4"), 0);
  }
  CHECK(attach(NULL) == NULL);
  CHECK(attach(arena) == (void *)arena);
}

/* `call` answers NULL and changes nothing in the arena. */
#define REFUSED(call) UNCHANGED(arena, 1024, (call) == NULL, true)

#endif
