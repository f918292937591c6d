/* weft_inspect for JavaScript that reads what it prints. */
#define _POSIX_C_SOURCE 200809L
#define WEFT_STDIO
#include "weft.h"

#define EXPORT __attribute__((used, visibility("default")))

static char text[1 << 14];
static int32_t words[1 << 14];

EXPORT void *arena(void) { return words; }

/* What is printed of a primitive, and a result that is no text: an errno. */
EXPORT const char *inspected(const void *at, const char *kind) {
  FILE *out = fmemopen(text, sizeof text, "w");
  if (out == NULL) return NULL;
  int result =
      kind == NULL ? weft_inspect(at, out) : weft_inspect_as(at, kind, out);
  fclose(out);
  return result == 0 ? text : (const char *)(uintptr_t)result;
}
