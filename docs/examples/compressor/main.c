/*
 * Threads compress a file together, into one that `lz4 -d` reads. They take
 * chunks from one counter, so a thread with a chunk that is hard to compress
 * takes fewer of them. The program needs nothing but weft.h:
 *
 *     cc -O2 -pthread -I.../wasm main.c -o compressor
 *     ./compressor FILE FILE.lz4
 *
 * Emscripten makes a module of it, which main.mjs and the page use:
 *
 *     emcc -O2 -pthread -I.../wasm main.c -o compressor.mjs \
 *       -sSTRICT -sMODULARIZE -sEXPORT_ES6 -sALLOW_MEMORY_GROWTH \
 *       -sPTHREAD_POOL_SIZE=4 -sEXPORTED_RUNTIME_METHODS=FS,callMain \
 *       -sINCOMING_MODULE_JS_API=noInitialRun,noExitRuntime,print,printErr
 *
 * It prints how small the file becomes, and whether the way back is right.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/work_counter.h"

enum { CHUNK = 65536, MOST = CHUNK + CHUNK / 255 + 16, THREADS = 4 };

typedef struct {
  size_t from, to; /* bytes before, and compressed */
  uint8_t bytes[MOST];
} chunk;

static const uint8_t *input;
static size_t size;
static chunk *chunks;
static weft_work_counter work;

static uint32_t read32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

/* Writes what a length has above 15, and returns where that ends. */
static uint8_t *put_length(uint8_t *to, size_t length) {
  for (; length >= 255; length -= 255) *to++ = 255;
  *to++ = (uint8_t)length;
  return to;
}

/* Writes bytes as they are, then a match, if `match` is not 0. */
static uint8_t *put(uint8_t *to, const uint8_t *bytes, size_t length,
                    size_t match, size_t back) {
  size_t more = match < 4 ? 0 : match - 4;
  *to++ = (uint8_t)((length < 15 ? length : 15) << 4 | (more < 15 ? more : 15));
  if (length >= 15) to = put_length(to, length - 15);
  memcpy(to, bytes, length);
  to += length;
  if (match == 0) return to;
  *to++ = (uint8_t)back;
  *to++ = (uint8_t)(back >> 8);
  return more < 15 ? to : put_length(to, more - 15);
}

static size_t compress(const uint8_t *from, size_t length, uint8_t *to) {
  uint16_t seen[4096] = {0}; /* where bytes with this hash began last */
  const uint8_t *begin = to;
  size_t at = 0, kept = 0; /* bytes from `kept` on are not written yet */
  while (at + 12 < length) {
    uint32_t hash = read32(from + at) * 2654435761u >> 20;
    size_t before = seen[hash];
    seen[hash] = (uint16_t)at;
    if (before >= at || read32(from + before) != read32(from + at)) {
      at++;
      continue;
    }
    size_t match = 4;
    while (at + match + 5 < length && from[before + match] == from[at + match])
      match++;
    to = put(to, from + kept, at - kept, match, at - before);
    kept = at += match;
  }
  to = put(to, from + kept, length - kept, 0, 0);
  return (size_t)(to - begin);
}

static size_t get_length(const uint8_t **from, size_t length) {
  if (length < 15) return length;
  do length += **from;
  while (*(*from)++ == 255);
  return length;
}

static size_t decompress(const uint8_t *from, size_t length, uint8_t *to) {
  const uint8_t *begin = to, *end = from + length;
  while (from < end) {
    size_t token = *from++;
    size_t plain = get_length(&from, token >> 4);
    memcpy(to, from, plain);
    to += plain;
    from += plain;
    if (from == end) break;
    size_t back = (size_t)(from[0] | from[1] << 8);
    from += 2;
    size_t match = get_length(&from, token & 15) + 4;
    for (; match > 0; match--, to++) *to = to[-(ptrdiff_t)back];
  }
  return (size_t)(to - begin);
}

/* A thread: compresses chunks until none is left. */
static void *run(void *unused) {
  weft_work_range range = {0, 0}; /* this thread's own */
  for (int32_t n; (n = weft_work_counter_next(&work, &range)) >= 0;) {
    chunk *c = &chunks[n];
    size_t at = (size_t)n * CHUNK;
    c->from = size - at < CHUNK ? size - at : CHUNK;
    c->to = compress(input + at, c->from, c->bytes);
    weft_work_counter_done(&work, 1);
  }
  return unused;
}

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* Writes the chunks as a frame of LZ4. */
static void save(const char *name, size_t count) {
  /* The magic number; blocks of 64 KiB that need no other; a check of that. */
  static const uint8_t head[] = {4, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82};
  static const uint8_t end[4] = {0};
  FILE *file = fopen(name, "wb");
  if (file == NULL) fail("the result cannot be written");
  fwrite(head, 1, sizeof head, file);
  for (size_t i = 0; i < count; i++) {
    const chunk *c = &chunks[i];
    bool kept = c->to >= c->from; /* it became no smaller */
    uint32_t bytes = (uint32_t)(kept ? c->from | 0x80000000u : c->to);
    fwrite(&bytes, 1, sizeof bytes, file);
    if (kept)
      fwrite(input + i * CHUNK, 1, c->from, file);
    else
      fwrite(c->bytes, 1, c->to, file);
  }
  fwrite(end, 1, sizeof end, file);
  if (fclose(file) != 0) fail("the result cannot be written");
}

int main(int argc, char **argv) {
  if (argc < 3) fail("usage: compressor FILE RESULT");
  FILE *file = fopen(argv[1], "rb");
  if (file == NULL) fail("there is no such file");
  fseek(file, 0, SEEK_END);
  size = (size_t)ftell(file);
  rewind(file);
  size_t count = (size + CHUNK - 1) / CHUNK;
  uint8_t *bytes = malloc(size + 1);
  chunks = calloc(count + 1, sizeof *chunks);
  if (bytes == NULL || chunks == NULL) fail("no memory");
  if (fread(bytes, 1, size, file) != size) fail("it cannot be read");
  fclose(file);
  input = bytes;

  weft_work_config config = {.chunk = 1};
  if (weft_work_counter_init(&work, sizeof work, (int32_t)count, config) ==
      NULL)
    fail("the file is too large");
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, NULL);
  if (weft_work_counter_wait(&work, WEFT_FOREVER) != 0) fail("cancelled");
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

  size_t sum = 0, wrong = 0;
  static uint8_t again[CHUNK];
  for (size_t i = 0; i < count; i++) {
    sum += chunks[i].to < chunks[i].from ? chunks[i].to : chunks[i].from;
    size_t length = decompress(chunks[i].bytes, chunks[i].to, again);
    if (length != chunks[i].from ||
        memcmp(again, input + i * CHUNK, length) != 0)
      wrong++;
  }
  save(argv[2], count);
  printf("%zu -> %zu bytes, %zu chunks are wrong\n", size, sum, wrong);
  free(chunks);
  free(bytes);
  return wrong != 0;
}
