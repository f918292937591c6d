/*
 * SHA-256 (FIPS 180-4) of a message that is in memory as a whole. All 64 rounds
 * are unrolled: the constants become immediate operands, and the working
 * variables change their names instead of their places. The message schedule is
 * a window of sixteen words that moves in place. Four messages of one length
 * can be hashed at once: each is a lane of 128-bit vectors.
 */
#ifndef HASH_POOL_SHA256_H
#define HASH_POOL_SHA256_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const uint32_t sha256__k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* A word of each of four messages. */
typedef uint32_t sha256__four __attribute__((vector_size(16)));

enum { SHA256_LANES = 4 };

/* Works on a word, and on words of four messages, as do the rounds. */
#define sha256__rotate(x, n) ((x) >> (n) | (x) << (32 - (n)))

static inline uint32_t sha256__big_endian(uint32_t x) {
  return (sha256__rotate(x, 8) & 0xff00ff00) |
         (sha256__rotate(x, 24) & 0x00ff00ff);
}

/* Round `i`. The next round uses other names for the variables. */
#define SHA256__ROUND(a, b, c, d, e, f, g, h, i)                               \
  do {                                                                         \
    __typeof__(a) sum = h + sha256__k[i] + w[(i) % 16] + (g ^ (e & (f ^ g))) + \
                        (sha256__rotate(e, 6) ^ sha256__rotate(e, 11) ^        \
                         sha256__rotate(e, 25));                               \
    d += sum;                                                                  \
    h = sum + ((a & b) | (c & (a | b))) +                                      \
        (sha256__rotate(a, 2) ^ sha256__rotate(a, 13) ^                        \
         sha256__rotate(a, 22));                                               \
  } while (0)

#define SHA256__EIGHT(i)                            \
  do {                                              \
    SHA256__ROUND(a, b, c, d, e, f, g, h, (i) + 0); \
    SHA256__ROUND(h, a, b, c, d, e, f, g, (i) + 1); \
    SHA256__ROUND(g, h, a, b, c, d, e, f, (i) + 2); \
    SHA256__ROUND(f, g, h, a, b, c, d, e, (i) + 3); \
    SHA256__ROUND(e, f, g, h, a, b, c, d, (i) + 4); \
    SHA256__ROUND(d, e, f, g, h, a, b, c, (i) + 5); \
    SHA256__ROUND(c, d, e, f, g, h, a, b, (i) + 6); \
    SHA256__ROUND(b, c, d, e, f, g, h, a, (i) + 7); \
  } while (0)

#define SHA256__SIXTEEN(i)  \
  do {                      \
    SHA256__EIGHT(i);       \
    SHA256__EIGHT((i) + 8); \
  } while (0)

/* The next sixteen words of the message schedule. */
#define SHA256__ADVANCE()                                                    \
  do {                                                                       \
    _Pragma("clang loop unroll(full)") for (int i = 0; i < 16; i++) {        \
      __typeof__(w[0]) early = w[(i + 1) % 16];                              \
      __typeof__(w[0]) late = w[(i + 14) % 16];                              \
      w[i] += w[(i + 9) % 16];                                               \
      w[i] +=                                                                \
          sha256__rotate(early, 7) ^ sha256__rotate(early, 18) ^ early >> 3; \
      w[i] +=                                                                \
          sha256__rotate(late, 17) ^ sha256__rotate(late, 19) ^ late >> 10;  \
    }                                                                        \
  } while (0)

/* Adds the block whose words are `w` to the state. */
#define SHA256__ADD(state)                                      \
  do {                                                          \
    __typeof__(w[0]) a = state[0], b = state[1], c = state[2];  \
    __typeof__(w[0]) d = state[3], e = state[4], f = state[5];  \
    __typeof__(w[0]) g = state[6], h = state[7];                \
    SHA256__SIXTEEN(0);                                         \
    SHA256__ADVANCE();                                          \
    SHA256__SIXTEEN(16);                                        \
    SHA256__ADVANCE();                                          \
    SHA256__SIXTEEN(32);                                        \
    SHA256__ADVANCE();                                          \
    SHA256__SIXTEEN(48);                                        \
    state[0] += a, state[1] += b, state[2] += c, state[3] += d; \
    state[4] += e, state[5] += f, state[6] += g, state[7] += h; \
  } while (0)

/* The state before the first block, as the values of an initializer. */
#define SHA256__BEGIN(word)                                                \
  {word(0x6a09e667), word(0xbb67ae85), word(0x3c6ef372), word(0xa54ff53a), \
   word(0x510e527f), word(0x9b05688c), word(0x1f83d9ab), word(0x5be0cd19)}

#define SHA256__ONCE(x) x
#define SHA256__FOUR_TIMES(x) {x, x, x, x}

/* Adds `blocks` blocks of 64 bytes to the state. */
static void sha256__blocks(uint32_t state[8], const uint8_t *at,
                           size_t blocks) {
  uint32_t w[16];
  for (; blocks > 0; blocks--, at += 64) {
    memcpy(w, at, 64);
    _Pragma("clang loop unroll(full)") for (int i = 0; i < 16; i++) {
      w[i] = sha256__big_endian(w[i]);
    }
    SHA256__ADD(state);
  }
}

/* Adds `blocks` blocks of each of four messages, which begin at `at`. */
static inline void sha256__blocks_of_four(sha256__four state[8],
                                          const uint8_t *const at[4],
                                          size_t blocks) {
  sha256__four w[16];
  for (size_t from = 0; blocks > 0; blocks--, from += 64) {
    _Pragma("clang loop unroll(full)") for (int i = 0; i < 16; i++) {
      _Pragma("clang loop unroll(full)") for (int m = 0; m < 4; m++) {
        uint32_t word;
        memcpy(&word, at[m] + from + i * 4, 4);
        w[i][m] = sha256__big_endian(word);
      }
    }
    SHA256__ADD(state);
  }
}

/* Writes the end of a message to `end`: its last bytes, a bit 1, zeroes, and
   the length in bits as a 64-bit number. Returns how many blocks that are. */
static inline size_t sha256__end(const uint8_t *message, size_t length,
                                 uint8_t end[128]) {
  size_t rest = length % 64, bytes = rest < 56 ? 64 : 128;
  memset(end, 0, 128);
  memcpy(end, message + length - rest, rest);
  end[rest] = 0x80;
  uint64_t bits = (uint64_t)length * 8;
  for (size_t i = 1; i <= 8; i++, bits >>= 8) end[bytes - i] = (uint8_t)bits;
  return bytes / 64;
}

/* Writes the SHA-256 of `length` bytes, as 32 bytes. */
static inline void sha256(const uint8_t *message, size_t length,
                          uint8_t *digest) {
  uint32_t state[8] = SHA256__BEGIN(SHA256__ONCE);
  uint8_t end[128];
  sha256__blocks(state, message, length / 64);
  sha256__blocks(state, end, sha256__end(message, length, end));
  for (int i = 0; i < 8; i++) state[i] = sha256__big_endian(state[i]);
  memcpy(digest, state, 32);
}

/* The same for four messages of `length` bytes each. */
static inline void sha256_of_four(const uint8_t *const messages[4],
                                  size_t length, uint8_t *const digests[4]) {
  sha256__four state[8] = SHA256__BEGIN(SHA256__FOUR_TIMES);
  uint8_t ends[4][128];
  const uint8_t *at[4];
  size_t blocks = 0;
  sha256__blocks_of_four(state, messages, length / 64);
  for (int m = 0; m < 4; m++) {
    blocks = sha256__end(messages[m], length, ends[m]);
    at[m] = ends[m];
  }
  sha256__blocks_of_four(state, at, blocks);
  for (int m = 0; m < 4; m++) {
    for (int i = 0; i < 8; i++) {
      uint32_t word = sha256__big_endian(state[i][m]);
      memcpy(digests[m] + i * 4, &word, 4);
    }
  }
}

#endif
