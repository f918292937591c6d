/* _calls_wire.h - what the messages of typed calls are: see
   primitives/_calls/wire.ts. */
#ifndef WEFT__CALLS_WIRE_H
#define WEFT__CALLS_WIRE_H

#include "call_ring.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The messages that calls.ts describes. */
#define WEFT__CALLS_CALL 1
#define WEFT__CALLS_FETCH 2
#define WEFT__CALLS_PIECE_OF_CALL 3
#define WEFT__CALLS_HEAD 8
#define WEFT__CALLS_PIECE_HEAD 16
#define WEFT__CALLS_LONGEST (1 << 28)
#define WEFT__CALLS_PIECE 5
#define WEFT__CALLS_ELSEWHERE 6
#define WEFT__CALLS_MORE 128
/* In the first word of a request: the server does not read the request any
   more. Its caller may write there why it gives up. */
#define WEFT__CALLS_GIVEN 4
#define WEFT__CALLS_REASON 12 /* behind their length, which is a word */
/* How long, in ns, a message is kept that nobody goes on with. */
#define WEFT__CALLS_KEPT (30 * WEFT__SECOND)

/* What an answer is: `undefined`, a value, an error, or another value that was
   thrown. 0 says that the server failed, or that it serves other calls. */
#define WEFT_CALLS_FAILED 0
#define WEFT_CALLS_NOTHING 1
#define WEFT_CALLS_VALUE 2
#define WEFT_CALLS_ERROR 3
#define WEFT_CALLS_THROWN 4

/* Returned by a method that has no result: its caller gets `undefined`. */
#define WEFT_CALLS_UNDEFINED INT32_MIN

static inline int32_t weft__calls_length(const char *text) {
  int32_t length = 0; /* bare wasm32 has no strlen */
  while (length < INT32_MAX && text[length] != 0) length++;
  return length;
}

static inline bool weft__calls_same(const char *a, const char *b, int32_t n) {
  int32_t i = 0;
  while (i < n && a[i] == b[i]) i++;
  return i == n;
}

/* The byte that tells codecs apart; NULL is JSON. */
static inline uint8_t weft__calls_check(const char *codec) {
  uint32_t hash = UINT32_C(0x811c9dc5);
  for (const char *c = codec == NULL ? "json" : codec; *c != '\0'; c++)
    hash = weft__times(hash ^ (uint8_t)*c, UINT32_C(0x01000193));
  return (uint8_t)((hash | 1) & 0xff);
}

static inline bool weft__calls_fit(const weft_call_ring *r) {
  return weft_call_ring_max_request(r) > WEFT__CALLS_HEAD &&
         weft_call_ring_max_reply(r) > 1;
}

/*
 * The answer to a call. Set `bytes` and `room`, the number of bytes there. The
 * call sets `what`, as in WEFT_CALLS_VALUE, and `length`; an answer that is
 * longer than the room is cut.
 */
typedef struct {
  void *bytes;
  int32_t room;
  int32_t length;
  int32_t what;
} weft_calls_answer;

/* Adds bytes to an answer, as many as fit. */
static inline void weft__calls_add(weft_calls_answer *a, const char *from,
                                   int32_t length) {
  int32_t room = a->room - a->length;
  int32_t n = length < room ? length : room;
  if (n > 0)
    __builtin_memcpy((char *)a->bytes + a->length, from, (size_t)n);
  a->length += length;
}

WEFT__END

#endif /* WEFT_REALTIME */
#endif /* WEFT__CALLS_WIRE_H */
