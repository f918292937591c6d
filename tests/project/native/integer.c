/* The handlers of clang's -fsanitize=integer with -fsanitize-minimal-runtime,
   so that no library of clang is needed: each prints what happened and the
   address of the place, once. */
#include <stdio.h>

static void report(const char *what, void *place) {
  static void *seen[64];
  for (int i = 0; i < 64; i++) {
    if (seen[i] == place) return;
    if (seen[i] != NULL) continue;
    seen[i] = place;
    fprintf(stderr, "integer: %s at %p\n", what, place);
    return;
  }
}

#define HANDLER(kind)                                \
  void __ubsan_handle_##kind##_minimal(void);        \
  void __ubsan_handle_##kind##_minimal(void) {       \
    report(#kind, __builtin_return_address(0));      \
  }

HANDLER(add_overflow)
HANDLER(sub_overflow)
HANDLER(mul_overflow)
HANDLER(negate_overflow)
HANDLER(divrem_overflow)
HANDLER(shift_out_of_bounds)
HANDLER(implicit_conversion)
