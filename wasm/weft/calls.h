/*
 * calls.h - typed calls: see primitives/calls.ts.
 *
 * Freed when: as the ring. Every call has settled, every serve has returned,
 * close included, and none will begin. The rooms of a server may be freed when
 * its weft_calls_serve has returned.
 */
#ifndef WEFT_CALLS_H
#define WEFT_CALLS_H

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

/* ---- errors */

/* Text that is written as far as it fits. */
typedef struct {
  char *at;
  int32_t room;
  int32_t length;
} weft__calls_text;

static inline void weft__calls_write(weft__calls_text *t, const char *text) {
  for (; *text != '\0'; text++)
    if (t->length < t->room) t->at[t->length++] = *text;
}

/* Writes as many whole characters as fit before `end`, as JSON has them. */
static inline void weft__calls_escape(weft__calls_text *t, const char *text,
                                      int32_t end) {
  const char *const digits = "0123456789abcdef";
  while (*text != '\0') {
    uint8_t c = (uint8_t)*text;
    char as[8] = {'\\', 'u', '0', '0', 0, 0, 0, 0};
    int32_t n = 6;
    int32_t read = 1;
    if (c < 0x20) {
      as[4] = digits[c >> 4];
      as[5] = digits[c & 15];
    } else if (c == '"' || c == '\\') {
      as[1] = (char)c;
      n = 2;
    } else {
      as[0] = (char)c;
      while ((text[read] & 0xc0) == 0x80 && read < 4) {
        as[read] = text[read];
        read++;
      }
      n = read;
    }
    if (t->length + n > end) return;
    __builtin_memcpy(t->at + t->length, as, (size_t)n);
    t->length += n;
    text += read;
  }
}

/*
 * Throws an error from a method: write `return weft_calls_throw(...)`. Its
 * caller gets an error of this name ("RangeError"), with this message in UTF-8,
 * and this code, if it is not NULL. A message that does not fit is cut.
 */
static inline int32_t weft_calls_throw(void *result, int32_t room,
                                       const char *name, const char *message,
                                       const char *code) {
  weft__calls_text t = {(char *)result, room, 0};
  if (room < 36) return -1; /* the fixed part of the text */
  weft__calls_write(&t, "{\"name\":\"");
  weft__calls_escape(&t, name, room - 25);
  if (code != NULL) {
    weft__calls_write(&t, "\",\"code\":\"");
    weft__calls_escape(&t, code, room - 15);
  }
  weft__calls_write(&t, "\",\"message\":\"");
  weft__calls_escape(&t, message, room - 2);
  weft__calls_write(&t, "\"}");
  return -1 - t.length;
}

/* ---- the server */

/*
 * A method. `args` has the `length` bytes of the array of the arguments, as the
 * codec writes it; `[1,2]` in JSON. Writes the result to `result`, which has
 * `room` bytes, and returns how many bytes it has; WEFT_CALLS_UNDEFINED if
 * there is none, or what weft_calls_throw returned. Where an argument is an
 * AbortSignal, it is `null` in JSON; weft_call_ring_wanted(call) is false once
 * the caller has given up, and weft_calls_reason says why.
 */
typedef int32_t (*weft_calls_function)(void *context, weft_call *call,
                                       const void *args, int32_t length,
                                       void *result, int32_t room);

/* A method and its name. */
typedef struct {
  const char *name;
  weft_calls_function function;
} weft_calls_method;

/*
 * A server, which one thread uses at a time. `codec` is the codec's name, NULL
 * for JSON. `rooms` is memory for requests and results that are longer than a
 * slot: WEFT_CALLS_ROOM_BYTES(bytes) * count bytes at a multiple of 8, zeroed,
 * for `room_count` messages of up to `room_bytes` each; NULL and 0 if all of
 * them fit slots. One room does for long results, and two for long requests as
 * well; callers that find no free room try again after some milliseconds.
 */
typedef struct {
  weft_call_ring *ring;
  const weft_calls_method *methods;
  int32_t count;
  const char *codec;
  void *context;
  void *rooms;
  int32_t room_count;
  int32_t room_bytes;
} weft_calls_server;

/* In a room: a request, of which pieces are missing. */
#define WEFT__CALLS_REQUEST (-1)

/* A room for a message; its bytes follow. */
typedef struct {
  int32_t what; /* of a reply, or WEFT__CALLS_REQUEST; 0 if it is free */
  int32_t caller;
  int32_t token;
  int32_t at; /* how much came or went */
  int32_t length;
  int32_t unused;
  int64_t since;
} weft__calls_room;

/* The memory of one room, for a message of `bytes` bytes. */
#define WEFT_CALLS_ROOM_BYTES(bytes) \
  (sizeof(weft__calls_room) + WEFT__MULTIPLE((size_t)(bytes), 8))

static inline weft__calls_room *weft__calls_room_at(const weft_calls_server *s,
                                                    int32_t i) {
  size_t bytes = WEFT_CALLS_ROOM_BYTES(s->room_bytes);
  return (weft__calls_room *)(void *)((char *)s->rooms + (size_t)i * bytes);
}

/* A free room, or one whose caller is gone; NULL if there are fewer than `n`. */
static inline weft__calls_room *weft__calls_any_room(const weft_calls_server *s,
                                                     int32_t n) {
  for (int32_t i = 0; i < s->room_count; i++) {
    weft__calls_room *room = weft__calls_room_at(s, i);
    if (room->what != 0 && WEFT_NOW() - room->since > WEFT__CALLS_KEPT)
      room->what = 0;
    if (room->what == 0 && --n == 0) return room;
  }
  return NULL;
}

/* Whether results are written to rooms. */
static inline bool weft__calls_has_rooms(const weft_calls_server *s) {
  return s->room_count > 0 &&
         s->room_bytes >= weft_call_ring_max_reply(s->ring);
}

/* The room of a request in pieces, or of a reply; NULL if there is none. */
static inline weft__calls_room *weft__calls_find(const weft_calls_server *s,
                                                 const weft_call *c,
                                                 int32_t token, bool request) {
  int32_t caller = weft__load(&c->caller) & WEFT_CALL_RING_ID_MASK;
  for (int32_t i = 0; i < s->room_count; i++) {
    weft__calls_room *room = weft__calls_room_at(s, i);
    if (room->what != 0 && room->caller == caller && room->token == token &&
        (room->what == WEFT__CALLS_REQUEST) == request)
      return room;
  }
  return NULL;
}

static inline void weft__calls_claim(weft__calls_room *room,
                                     const weft_call *c, int32_t token,
                                     int32_t what, int32_t length) {
  room->what = what;
  room->caller = weft__load(&c->caller) & WEFT_CALL_RING_ID_MASK;
  room->token = token;
  room->at = 0;
  room->length = length;
  room->since = WEFT_NOW();
}

/* Replies without a value; false if the caller gave up. */
static inline bool weft__calls_reply(const weft_calls_server *s, weft_call *c,
                                     char what) {
  char *space = (char *)weft_call_ring_space(s->ring, c);
  space[0] = what;
  return weft_call_ring_reply(s->ring, c, NULL, 1) == 0;
}

/* Sends the next piece of a reply. */
static inline void weft__calls_send_piece(const weft_calls_server *s,
                                          weft_call *c, int32_t what,
                                          weft__calls_room *room) {
  char *space = (char *)weft_call_ring_space(s->ring, c);
  int32_t most = weft_call_ring_max_reply(s->ring) - 1;
  int32_t left = room->length - room->at;
  int32_t n = left < most ? left : most;
  bool more = n < left;
  space[0] = (char)(more ? what | WEFT__CALLS_MORE : what);
  __builtin_memcpy(space + 1, (char *)(room + 1) + room->at, (size_t)n);
  room->at += n;
  room->since = WEFT_NOW();
  if (weft_call_ring_reply(s->ring, c, NULL, 1 + n) != 0 || !more)
    room->what = 0;
}

/* Writes that there is no such method, and which there are. */
static inline int32_t weft__calls_unknown(const weft_calls_server *s,
                                          const char *name, int32_t length,
                                          void *result, int32_t room) {
  char text[256 + 32];
  weft__calls_text t = {text, (int32_t)sizeof text - 1, 0};
  weft__calls_write(&t, "No method \"");
  int32_t most = length < 200 ? length : 200;
  __builtin_memcpy(text + t.length, name, (size_t)most);
  t.length += most;
  weft__calls_write(&t, "\" is served: there are ");
  for (int32_t i = 0; i < s->count; i++) {
    if (i > 0) weft__calls_write(&t, ", ");
    weft__calls_write(&t, s->methods[i].name);
  }
  text[t.length] = '\0';
  return weft_calls_throw(result, room, "TypeError", text, NULL);
}

/* Calls the method that a request names. */
static inline int32_t weft__calls_invoke(const weft_calls_server *s,
                                         weft_call *c, const char *request,
                                         int32_t length, void *result,
                                         int32_t room) {
  int32_t named = length >= WEFT__CALLS_HEAD ? (uint8_t)request[2] : 0;
  int32_t begin = WEFT__CALLS_HEAD + named;
  if (length < begin || request[0] != WEFT__CALLS_CALL)
    return weft_calls_throw(result, room, "TypeError",
                            "The request was not made by connect(), which "
                            "alone is served here",
                            NULL);
  const char *name = request + WEFT__CALLS_HEAD;
  for (int32_t i = 0; i < s->count; i++) {
    const weft_calls_method *m = &s->methods[i];
    if (weft__calls_length(m->name) != named ||
        !weft__calls_same(m->name, name, named))
      continue;
    if ((uint8_t)request[3] != weft__calls_check(s->codec))
      return weft_calls_throw(result, room, "TypeError",
                              "The caller has another codec than the server",
                              NULL);
    return m->function(s->context, c, request + begin, length - begin, result,
                       room);
  }
  return weft__calls_unknown(s, name, named, result, room);
}

/* Serves a call whose request is whole. Its result may need a room: if there
   is none, the caller must try again, and this returns 0. */
static inline int32_t weft__calls_handle(const weft_calls_server *s,
                                         weft_call *c, const char *request,
                                         int32_t length, int32_t token) {
  char *space = (char *)weft_call_ring_space(s->ring, c) + 1;
  int32_t fits = weft_call_ring_max_reply(s->ring) - 1;
  weft__calls_room *room = NULL;
  if (weft__calls_has_rooms(s)) {
    room = weft__calls_any_room(s, 1);
    if (room == NULL) {
      weft__calls_reply(s, c, WEFT__CALLS_ELSEWHERE);
      return 0;
    }
  }
  char *result = room == NULL ? space : (char *)(room + 1);
  int32_t most = room == NULL ? fits : s->room_bytes;
  int32_t n = weft__calls_invoke(s, c, request, length, result, most);
  if (n == WEFT_CALLS_UNDEFINED) {
    weft__calls_reply(s, c, WEFT_CALLS_NOTHING);
    return 1;
  }
  if ((n < 0 ? -1 - n : n) > most)
    n = weft_calls_throw(result, most, "RangeError",
                         "The result is longer than the server's room", NULL);
  int32_t what = n < 0 ? WEFT_CALLS_ERROR : WEFT_CALLS_VALUE;
  int32_t bytes = n < 0 ? -1 - n : n;
  if (n == -1) {
    weft_call_ring_fail(s->ring, c, NULL, 0); /* no room for its text */
  } else if (bytes <= fits) {
    if (room != NULL) __builtin_memcpy(space, result, (size_t)bytes);
    space[-1] = (char)what;
    weft_call_ring_reply(s->ring, c, NULL, 1 + bytes);
  } else {
    weft__calls_claim(room, c, token, what, bytes);
    weft__calls_send_piece(s, c, what, room);
  }
  return 1;
}

/* Takes a piece of a request. Returns its room if it was the last; otherwise
   answers it. */
static inline weft__calls_room *weft__calls_take_piece(
    const weft_calls_server *s, weft_call *c, const char *request,
    int32_t length, int32_t token) {
  int32_t place[2] = {0, 0}; /* where it begins, and the whole's length */
  int32_t n = length - WEFT__CALLS_PIECE_HEAD;
  if (n > 0) __builtin_memcpy(place, request + 8, sizeof place);
  int32_t most = s->room_count > 1 ? s->room_bytes : 0;
  if (place[0] == 0 && (place[1] > most || place[1] <= n)) {
    char *space = (char *)weft_call_ring_space(s->ring, c);
    int32_t fits = weft_call_ring_max_reply(s->ring) - 1;
    const char *why = "The request is longer than the server's room";
    int32_t text = weft_calls_throw(space + 1, fits, "RangeError", why, NULL);
    space[0] = WEFT_CALLS_ERROR;
    if (text == -1)
      weft_call_ring_fail(s->ring, c, NULL, 0);
    else
      weft_call_ring_reply(s->ring, c, NULL, -text);
    return NULL;
  }
  weft__calls_room *room = weft__calls_find(s, c, token, true);
  if (n > 0 && place[0] == 0) {
    /* One room is left for results, or no request would ever be whole. */
    if (room == NULL) room = weft__calls_any_room(s, 2);
    if (room != NULL)
      weft__calls_claim(room, c, token, WEFT__CALLS_REQUEST, place[1]);
  }
  if (room == NULL || room->at != place[0] || n <= 0 ||
      n > room->length - room->at ||
      (n == room->length - room->at && weft__calls_has_rooms(s) &&
       weft__calls_any_room(s, 1) == NULL)) {
    weft__calls_reply(s, c, WEFT__CALLS_ELSEWHERE);
    return NULL;
  }
  __builtin_memcpy((char *)(room + 1) + room->at,
                   request + WEFT__CALLS_PIECE_HEAD, (size_t)n);
  room->at += n;
  room->since = WEFT_NOW();
  if (room->at == room->length) return room;
  if (!weft__calls_reply(s, c, WEFT_CALLS_NOTHING)) room->what = 0;
  return NULL;
}

/* Answers a call that was taken. Returns 1, or 0 for a piece of one. */
static inline int32_t weft__calls_answer(const weft_calls_server *s,
                                         weft_call *c) {
  int32_t length = 0;
  int32_t token = 0;
  const char *request =
      (const char *)weft_call_ring_request(s->ring, c, &length);
  int32_t what = length >= WEFT__CALLS_HEAD ? request[0] : 0;
  if (what != 0) __builtin_memcpy(&token, request + 4, sizeof token);
  if (what == WEFT__CALLS_FETCH) {
    weft__calls_room *room = weft__calls_find(s, c, token, false);
    if (room == NULL)
      weft__calls_reply(s, c, WEFT__CALLS_ELSEWHERE);
    else
      weft__calls_send_piece(s, c, WEFT__CALLS_PIECE, room);
    return 0;
  }
  if (what == WEFT__CALLS_PIECE_OF_CALL) {
    weft__calls_room *whole =
        weft__calls_take_piece(s, c, request, length, token);
    if (whole == NULL) return 0;
    weft__calls_handle(s, c, (char *)(whole + 1), whole->length, token);
    whole->what = 0;
    return 1;
  }
  return weft__calls_handle(s, c, request, length, token);
}

/* Serves one call without waiting for it. Returns 0, EBUSY if there is none,
   EPIPE if the ring was closed and no call is left, or EINVAL if the ring is
   too small for calls. */
static inline int weft_calls_try_serve_one(const weft_calls_server *s) {
  weft_call *c = NULL;
  if (!weft__calls_fit(s->ring)) return EINVAL;
  int result = weft_call_ring_try_take(s->ring, &c);
  if (result == 0) weft__calls_answer(s, c);
  return result;
}

/*
 * Serves calls and blocks while there are none. It ends when the ring is closed
 * and no call is left, or when no call came for `timeout` ns. Returns how many
 * it served, -EINVAL if the ring is too small for calls, or -EPERM if this
 * agent may not block.
 */
static inline int32_t weft_calls_serve(const weft_calls_server *s,
                                       int64_t timeout) {
  if (!weft__calls_fit(s->ring)) return -EINVAL;
  if (!weft__may_block()) return -EPERM;
  for (int32_t count = 0;;) {
    weft_call *c = NULL;
    if (weft_call_ring_take(s->ring, &c, timeout) != 0) return count;
    count += weft__calls_answer(s, c);
  }
}

/* ---- the caller */

/*
 * A call. `args` has the `length` bytes of the array of the arguments, as the
 * codec writes it. `codec` is its name, NULL for JSON. If `signal` is not 0,
 * the argument of this number, counted from 1, is an AbortSignal that aborts
 * when this agent gives up; write any value in its place.
 */
typedef struct {
  const char *method;
  const void *args;
  int32_t length;
  int32_t signal;
  const char *codec;
} weft_calls_request;

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

/*
 * Gives the bytes of the arguments back: a method calls it once it has read
 * them, and must not look at `args` again. From then on a caller that gives up
 * says there why it does.
 */
static inline void weft_calls_release_args(weft_call *call) {
  weft__store((int32_t *)(void *)(call + 1), WEFT__CALLS_GIVEN); /* (G) */
}

/*
 * Why the caller of a method of `r` gave up, if the method had released its
 * arguments. answer->what is WEFT_CALLS_ERROR, which weft_calls_field reads, or
 * WEFT_CALLS_THROWN: then the bytes are a value of the caller's codec. False if
 * the caller still waits, or does not say why.
 */
static inline bool weft_calls_reason(const weft_call_ring *r,
                                     const weft_call *call,
                                     weft_calls_answer *answer) {
  const int32_t *request = (const int32_t *)(const void *)(call + 1);
  int32_t most = weft_call_ring_max_request(r) - WEFT__CALLS_REASON;
  answer->length = 0;
  answer->what = WEFT_CALLS_FAILED;
  /* A caller that was abandoned may have died while it wrote. */
  if (weft__call_phase(weft__load(&call->state)) != WEFT_CALL_RING_DROPPED)
    return false;
  int32_t what = request[0] >> 8;
  int32_t length = request[2];
  if ((request[0] & 0xff) != WEFT__CALLS_GIVEN || length < 0 || length > most ||
      (what != WEFT_CALLS_ERROR && what != WEFT_CALLS_THROWN))
    return false;
  int32_t n = length < answer->room ? length : answer->room;
  if (n > 0)
    __builtin_memcpy(answer->bytes, (const char *)request + WEFT__CALLS_REASON,
                     (size_t)n);
  answer->length = length;
  answer->what = what;
  return true;
}

/* Writes that the time is over, if the server has made room for that. */
static inline void weft__calls_tell(const weft_call_ring *r, weft_call *c) {
  int32_t *request = (int32_t *)(void *)(c + 1);
  int32_t room = weft_call_ring_max_request(r) - WEFT__CALLS_REASON;
  /* Pairs with (G): the server does not use the request any more. */
  if (weft__load(request) != WEFT__CALLS_GIVEN) return;
  int32_t n = weft_calls_throw((char *)request + WEFT__CALLS_REASON, room,
                               "TimeoutError",
                               "The call was not answered in time", NULL);
  if (n == -1) return;
  /* Published by the exchange that gives up. */
  request[2] = -1 - n;
  request[0] = WEFT__CALLS_GIVEN | WEFT_CALLS_ERROR << 8;
}

/* The parts of a request, one behind the other. */
typedef struct {
  const char *at[3];
  int32_t length[3];
} weft__calls_parts;

static inline void weft__calls_gather(char *to, const weft__calls_parts *parts,
                                      int32_t from, int32_t length) {
  for (int i = 0; i < 3 && length > 0; i++) {
    int32_t n = parts->length[i] - from;
    if (n <= 0) {
      from -= parts->length[i];
      continue;
    }
    if (n > length) n = length;
    __builtin_memcpy(to, parts->at[i] + from, (size_t)n);
    to += n;
    length -= n;
    from = 0;
  }
}

/* A message of a call: a head if it is a piece, and some of its parts. */
typedef struct {
  weft__calls_parts parts;
  int32_t piece[4];
  int32_t head; /* bytes of `piece` */
  int32_t from;
  int32_t length;
} weft__calls_message;

/* Writes the message to a free slot, and posts it: see try_post. */
static inline int weft__calls_try_post(weft_call_ring *r,
                                       const weft__calls_message *m,
                                       weft_call **call) {
  weft_call *c = NULL;
  int result = weft__call_begin(r, &c);
  if (result != 0) return result;
  char *to = (char *)(c + 1);
  __builtin_memcpy(to, m->piece, (size_t)m->head);
  weft__calls_gather(to + m->head, &m->parts, m->from, m->length);
  *call = c;
  return weft__call_publish(r, c, m->head + m->length);
}

static inline int weft__calls_post(weft_call_ring *q,
                                   const weft__calls_message *m,
                                   weft_call **call, int64_t timeout) {
  WEFT__EVENT_BLOCK_LAST(weft__calls_try_post(q, m, call), EBUSY,
                         &q->slot_epoch,
                         weft__store(&q->pauses, WEFT__CALL_PAUSES),
                         weft__call_pass_slot(q), timeout, -1);
}

/* Adds bytes to an answer, as many as fit. */
static inline void weft__calls_add(weft_calls_answer *a, const char *from,
                                   int32_t length) {
  int32_t room = a->room - a->length;
  int32_t n = length < room ? length : room;
  if (n > 0)
    __builtin_memcpy((char *)a->bytes + a->length, from, (size_t)n);
  a->length += length;
}

/* Sends a message, and reads its answer; *what is what the answer is. */
static inline int weft__calls_exchange(weft_call_ring *r,
                                       const weft__calls_message *m,
                                       weft_calls_answer *a, int32_t *what,
                                       int64_t deadline) {
  weft_call *c = NULL;
  int64_t left = WEFT_FOREVER;
  if (deadline != INT64_MAX) {
    left = deadline - WEFT_NOW();
    if (left < 0) left = 0;
  }
  int result = weft__calls_post(r, m, &c, left);
  if (result == EBUSY) return ETIMEDOUT;
  if (result != 0) return result;
  if (weft__call_answered(c, left, deadline) != 0) {
    weft__calls_tell(r, c);
    if (weft__call_give_up(r, c)) return ETIMEDOUT;
  }
  int32_t phase = weft__call_phase(weft__load(&c->state));
  const char *reply = weft__call_reply_at(r, c);
  *what = WEFT_CALLS_FAILED;
  if (phase == WEFT_CALL_RING_LOST) {
    result = EOWNERDEAD;
  } else if (c->reply_length < 0 || c->reply_length > r->reply) {
    result = ENOTRECOVERABLE;
  } else if (phase == WEFT_CALL_RING_REPLIED && c->reply_length > 0) {
    *what = (uint8_t)reply[0];
    weft__calls_add(a, reply + 1, c->reply_length - 1);
  } else {
    a->length = 0;
    weft__calls_add(a, reply, c->reply_length);
  }
  weft__call_free(r, c);
  return result;
}

/* Lets the server that has the other pieces come first, for 1 to 4 ms. */
static inline int weft__calls_try_again(int64_t since, int64_t deadline) {
  int32_t nowhere = 0;
  int64_t pause = 1000000 + (int64_t)(WEFT_RANDOM() % 3000000);
  if (WEFT_NOW() - since > WEFT__CALLS_KEPT) return EOWNERDEAD;
  int outcome = weft__sleep(&nowhere, 0, deadline, pause);
  return outcome == WEFT__TIMED_OUT ? ETIMEDOUT : 0;
}

/*
 * Calls a method that another agent serves, and blocks up to `timeout` ns.
 * Returns 0 if answer->what is WEFT_CALLS_NOTHING or WEFT_CALLS_VALUE; EIO if
 * it is another, or none of serve; EINVAL if the ring cannot carry the request;
 * EPIPE, ETIMEDOUT, EOWNERDEAD and EPERM as weft_call_ring_call. EOWNERDEAD
 * also means that the server lost the other pieces of a long call.
 */
static inline int weft_calls_call(weft_call_ring *r,
                                  const weft_calls_request *request,
                                  weft_calls_answer *answer, int64_t timeout) {
  int32_t most = weft_call_ring_max_request(r);
  int32_t named = weft__calls_length(request->method);
  int32_t what = WEFT_CALLS_FAILED;
  answer->what = WEFT_CALLS_FAILED;
  answer->length = 0;
  if (named > 255 || request->signal < 0 || request->signal > 255 ||
      request->length < 0 || request->length > WEFT__CALLS_LONGEST - 512 ||
      !weft__calls_fit(r))
    return EINVAL;
  int32_t total = WEFT__CALLS_HEAD + named + request->length;
  bool pieces = total > most;
  if (pieces && most <= WEFT__CALLS_PIECE_HEAD) return EINVAL;
  if (!weft__may_block()) return EPERM;
  int64_t deadline = weft__deadline(timeout);
  weft_agent *agent = &WEFT_AGENT();
  agent->made = weft__plus(agent->made, 1);
  char head[WEFT__CALLS_HEAD] = {WEFT__CALLS_CALL, 0, 0, 0, 0, 0, 0, 0};
  const uint8_t bytes[3] = {(uint8_t)request->signal, (uint8_t)named,
                            weft__calls_check(request->codec)};
  __builtin_memcpy(head + 1, bytes, sizeof bytes);
  __builtin_memcpy(head + 4, &agent->made, sizeof agent->made);
  weft__calls_message m = {
      {{head, request->method, (const char *)request->args},
       {WEFT__CALLS_HEAD, named, request->length}},
      {WEFT__CALLS_PIECE_OF_CALL, agent->made, 0, total},
      pieces ? WEFT__CALLS_PIECE_HEAD : 0,
      0,
      total};
  int64_t since = WEFT_NOW();
  for (;;) {
    if (pieces) {
      int32_t left = total - m.from;
      m.length = left < most - m.head ? left : most - m.head;
      m.piece[2] = m.from;
    }
    answer->length = 0;
    int result = weft__calls_exchange(r, &m, answer, &what, deadline);
    if (result != 0) return result;
    if (what == WEFT__CALLS_ELSEWHERE) {
      if (m.from == 0) since = WEFT_NOW(); /* no server has a piece of it */
      result = weft__calls_try_again(since, deadline);
      if (result != 0) return result;
      continue;
    }
    m.from += m.length;
    if (m.from == total || what != WEFT_CALLS_NOTHING) break;
    since = WEFT_NOW();
  }
  answer->what = what & ~WEFT__CALLS_MORE;
  if (answer->what > WEFT_CALLS_THROWN) answer->what = WEFT_CALLS_FAILED;
  /* The rest of a long answer. */
  m.piece[0] = WEFT__CALLS_FETCH;
  m.head = WEFT__CALLS_HEAD;
  m.length = 0;
  since = WEFT_NOW();
  while ((what & WEFT__CALLS_MORE) != 0 || what == WEFT__CALLS_ELSEWHERE) {
    int result = weft__calls_exchange(r, &m, answer, &what, deadline);
    if (result == 0 && what == WEFT__CALLS_ELSEWHERE)
      result = weft__calls_try_again(since, deadline);
    else
      since = WEFT_NOW();
    if (result != 0) return result;
  }
  return answer->what == WEFT_CALLS_VALUE ||
                 answer->what == WEFT_CALLS_NOTHING
             ? 0
             : EIO;
}

/* Writes a character as UTF-8, as far as it fits; counts its bytes. */
static inline void weft__calls_put(weft_calls_answer *t, uint32_t code) {
  char out[4] = {0, 0, 0, 0};
  int32_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  const uint32_t first[5] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (int32_t i = n - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (code & 0x3f));
    code >>= 6;
  }
  out[0] = (char)(first[n] | code);
  weft__calls_add(t, out, n);
}

/* The number of 4 hexadecimal digits. */
static inline uint32_t weft__calls_hex(const char *text) {
  uint32_t number = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t c = (uint8_t)text[i];
    number = number * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return number;
}

/* Where a string of JSON ends that begins at `i`. */
static inline int32_t weft__calls_end(const char *text, int32_t i, int32_t n) {
  while (i < n && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return i < n ? i : n;
}

/* Copies a value of JSON, from `i` on, without quotes and escapes. */
static inline int32_t weft__calls_value(const char *text, int32_t i, int32_t n,
                                        weft_calls_answer *t) {
  const char *const names = "btnfr";
  const char *const codes = "\b\t\n\f\r";
  if (i < n && text[i] != '"') {
    int32_t end = i;
    while (end < n && text[end] != ',' && text[end] != '}') end++;
    weft__calls_add(t, text + i, end - i);
    return t->length;
  }
  int32_t end = weft__calls_end(text, i + 1, n);
  for (i++; i < end; i++) {
    char c = text[i];
    if (c != '\\' || i + 1 >= end) {
      weft__calls_add(t, &c, 1);
      continue;
    }
    c = text[++i];
    if (c == 'u' && i + 4 < end) {
      uint32_t code = weft__calls_hex(text + i + 1);
      i += 4;
      if ((code & 0xfc00) == 0xd800 && i + 6 < end && text[i + 2] == 'u') {
        uint32_t low = weft__calls_hex(text + i + 3);
        code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
        i += 6;
      }
      weft__calls_put(t, code);
      continue;
    }
    for (int k = 0; k < 5; k++)
      if (names[k] == c) {
        c = codes[k];
        break;
      }
    weft__calls_add(t, &c, 1);
  }
  return t->length;
}

/*
 * Reads a field of the error in an answer that is WEFT_CALLS_ERROR: "name",
 * "message", "stack" or "code". Copies as much of it to `dst` as fits its
 * `room` bytes, in UTF-8, and returns its length; -1 if there is none.
 */
static inline int32_t weft_calls_field(const weft_calls_answer *answer,
                                       const char *field, char *dst,
                                       int32_t room) {
  const char *text = (const char *)answer->bytes;
  int32_t n = answer->length < answer->room ? answer->length : answer->room;
  int32_t length = weft__calls_length(field);
  int32_t depth = 0;
  for (int32_t i = 0; i < n; i++) {
    if (text[i] == '{' || text[i] == '[') depth++;
    if (text[i] == '}' || text[i] == ']') depth--;
    if (text[i] != '"') continue;
    int32_t begin = i + 1;
    i = weft__calls_end(text, begin, n);
    if (depth == 1 && i + 1 < n && text[i + 1] == ':' && i - begin == length &&
        weft__calls_same(text + begin, field, length)) {
      weft_calls_answer value = {dst, room, 0, 0};
      return weft__calls_value(text, i + 2, n, &value);
    }
  }
  return -1;
}

WEFT__END

#endif /* WEFT_REALTIME */
#endif /* WEFT_CALLS_H */
