/* _calls_server.h - the server of typed calls. */
#ifndef WEFT__CALLS_SERVER_H
#define WEFT__CALLS_SERVER_H

#include "_calls_error.h"
#include "_calls_wire.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

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

/* A free room, or one whose caller is gone; NULL if there are fewer than `n`.
   */
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

WEFT__END

#endif /* WEFT_REALTIME */
#endif /* WEFT__CALLS_SERVER_H */
