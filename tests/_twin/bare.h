/* What a module without a C library and without thread-local storage may
   define before weft.h: the tests of bare modules include this first. */
#include <stdint.h>

#define IMPORT(name) __attribute__((import_module("env"), import_name(name)))

IMPORT("random") uint32_t bare_random(void);
IMPORT("now_ns") int64_t bare_now(void);
IMPORT("date_ms") int64_t bare_date(void);

#define WEFT_RANDOM() bare_random()
#define WEFT_NOW() bare_now()
#define WEFT_DATE() bare_date()

/* A thread's own words lie at the end of its stack, which is a page of wasm
   that nobody else has. */
#define WEFT_AGENT() \
  (*(weft_agent *)((uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)0xffff))
