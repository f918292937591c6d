/*
 * A thread of C takes numbers from one queue and puts their squares into
 * another one. JavaScript has the other ends of both queues. To compile it in a
 * folder in which the package is installed:
 *
 * emcc example.c -Inode_modules/@weft/sync/wasm -O2 -pthread --no-entry \
 *   -sSTRICT -sMODULARIZE -sEXPORT_ES6 -sINCOMING_MODULE_JS_API=noExitRuntime \
 *   -sEXPORTED_RUNTIME_METHODS=wasmMemory -sPTHREAD_POOL_SIZE=1 -o example.mjs
 */
#include <emscripten.h>
#include <pthread.h>

#include "weft/mpmc_queue.h"

static weft_mpmc_queue *numbers, *squares;

static void *work(void *unused) {
  int32_t n;
  while (weft_mpmc_queue_pop_int(numbers, &n, WEFT_FOREVER) == 0)
    weft_mpmc_queue_push_int(squares, n * n, WEFT_FOREVER);
  weft_mpmc_queue_close(squares); /* there are no more numbers */
  return unused;
}

EMSCRIPTEN_KEEPALIVE void *get_numbers(void) { return numbers; }
EMSCRIPTEN_KEEPALIVE void *get_squares(void) { return squares; }

EMSCRIPTEN_KEEPALIVE int start(void) {
  static int32_t memory[2][WEFT_MPMC_QUEUE_BYTES(16, 4) / 4];
  const weft_queue_config config = {.capacity = 16, .element_size = 4};
  numbers = weft_mpmc_queue_init(memory[0], sizeof memory[0], config);
  squares = weft_mpmc_queue_init(memory[1], sizeof memory[1], config);
  pthread_t thread;
  return pthread_create(&thread, NULL, work, NULL);
}
