/*
 * BLAKE2b (RFC 7693) with a digest of 64 bytes, without a key, of a message
 * that is in memory as a whole: what `b2sum` prints. It works on words of 64
 * bits, which wasm rotates in one instruction. All twelve rounds are unrolled,
 * so that the words of the message are found at constant places.
 */
#ifndef DEMO_BLAKE2B_H
#define DEMO_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { BLAKE2B_BLOCK = 128, BLAKE2B_DIGEST = 64 };

#define BLAKE2B__TURN(x, n) ((x) >> (n) | (x) << (64 - (n)))

/* Mixes two words of the message into four words of the state. */
#define BLAKE2B__MIX(a, b, c, d, x, y)                         \
  do {                                                         \
    v[a] += v[b] + m[x], v[d] ^= v[a];                         \
    v[d] = BLAKE2B__TURN(v[d], 32), v[c] += v[d], v[b] ^= v[c]; \
    v[b] = BLAKE2B__TURN(v[b], 24), v[a] += v[b] + m[y];       \
    v[d] ^= v[a], v[d] = BLAKE2B__TURN(v[d], 16);              \
    v[c] += v[d], v[b] ^= v[c], v[b] = BLAKE2B__TURN(v[b], 63); \
  } while (0)

/* A round takes the words of the message in an order of its own. */
#define BLAKE2B__ROUND(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, \
                       s13, s14, s15)                                         \
  do {                                                                        \
    BLAKE2B__MIX(0, 4, 8, 12, s0, s1);                                        \
    BLAKE2B__MIX(1, 5, 9, 13, s2, s3);                                        \
    BLAKE2B__MIX(2, 6, 10, 14, s4, s5);                                       \
    BLAKE2B__MIX(3, 7, 11, 15, s6, s7);                                       \
    BLAKE2B__MIX(0, 5, 10, 15, s8, s9);                                       \
    BLAKE2B__MIX(1, 6, 11, 12, s10, s11);                                     \
    BLAKE2B__MIX(2, 7, 8, 13, s12, s13);                                      \
    BLAKE2B__MIX(3, 4, 9, 14, s14, s15);                                      \
  } while (0)

static const uint64_t blake2b__begin[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/* Adds a block to the state `h`. `length` counts the bytes of the message up to
   the block's end; `last` is not 0 for the last block. */
static inline void blake2b__add(uint64_t h[8], const uint8_t *block,
                                uint64_t length, int last) {
  uint64_t m[16], v[16];
  memcpy(m, block, BLAKE2B_BLOCK); /* all of our processors: little-endian */
  memcpy(v, h, 64);
  memcpy(v + 8, blake2b__begin, 64);
  v[12] ^= length;
  if (last) v[14] = ~v[14];
  BLAKE2B__ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  BLAKE2B__ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
  BLAKE2B__ROUND(11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4);
  BLAKE2B__ROUND(7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8);
  BLAKE2B__ROUND(9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13);
  BLAKE2B__ROUND(2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9);
  BLAKE2B__ROUND(12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11);
  BLAKE2B__ROUND(13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10);
  BLAKE2B__ROUND(6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5);
  BLAKE2B__ROUND(10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0);
  BLAKE2B__ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  BLAKE2B__ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
  for (int i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
}

/* Writes the BLAKE2b of `length` bytes, as 64 bytes. */
static inline void blake2b(const uint8_t *message, size_t length,
                           uint8_t *digest) {
  uint64_t h[8];
  memcpy(h, blake2b__begin, sizeof h);
  h[0] ^= 0x01010000 ^ BLAKE2B_DIGEST;
  /* The last block is never empty, except that of an empty message. */
  size_t at = 0;
  for (; length - at > BLAKE2B_BLOCK; at += BLAKE2B_BLOCK)
    blake2b__add(h, message + at, at + BLAKE2B_BLOCK, 0);
  uint8_t end[BLAKE2B_BLOCK] = {0};
  memcpy(end, message + at, length - at);
  blake2b__add(h, end, length, 1);
  memcpy(digest, h, BLAKE2B_DIGEST);
}

#endif
