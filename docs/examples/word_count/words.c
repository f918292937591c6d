/*
 * A thread of C counts the words of a text in a map, into which JavaScript
 * counts, too: see both.mjs. To compile it:
 *
 *     emcc -O2 -pthread -I.../wasm words.c -o words.mjs --no-entry \
 *       -sSTRICT -sMODULARIZE -sEXPORT_ES6 -sPTHREAD_POOL_SIZE=1 \
 *       -sINCOMING_MODULE_JS_API=noExitRuntime \
 *       -sEXPORTED_RUNTIME_METHODS=wasmMemory
 *
 */
#include <emscripten.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "weft/hash_map.h"
#include "weft/latch.h"

enum { ENTRIES = 100, TIMES = 1000 };

static const char text[] = "the warp and the weft and the loom";
static int32_t memory[1 << 14];
static weft_hash_map *counts;
static weft_latch counted;

static void *count(void *unused) {
  for (int i = 0; i < TIMES; i++) {
    const char *word = text;
    for (size_t n; (n = strcspn(word, " ")) > 0; word += n + (word[n] == ' '))
      if (weft_hash_map_add(counts, word, n, 1, NULL) != 0) abort();
  }
  weft_latch_count_down(&counted, 1);
  return unused;
}

EMSCRIPTEN_KEEPALIVE void *get_counts(void) { return counts; }
EMSCRIPTEN_KEEPALIVE void *get_counted(void) { return &counted; }

EMSCRIPTEN_KEEPALIVE int start(void) {
  const weft_hash_map_config config = {.capacity = ENTRIES,
                                       .key_codec = WEFT_HASH_MAP_TEXT,
                                       .key_size = 32,
                                       .value_codec = WEFT_HASH_MAP_I32,
                                       .value_size = 4,
                                       .seed = 0x9e3779b97f4a7c15};
  counts = weft_hash_map_init(memory, sizeof memory, config);
  pthread_t thread;
  return counts == NULL ||
         weft_latch_init(&counted, sizeof counted, 1) == NULL ||
         pthread_create(&thread, NULL, count, NULL) != 0;
}
