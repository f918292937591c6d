/* Threads of C in the storms: each is an instance of its own on the memory of
   a play, and its stack is one page of it. */
#include "../_twin/bare.h"

#include <weft.h>

#define EXPORT __attribute__((used, visibility("default")))

/* The words of _guest.ts begin there. */
_Static_assert(sizeof(weft_agent) <= 96, "what a thread knows about itself");

/* How an operation has ended. */
enum { DONE, LATE, CLOSED, REFUSED, ELSE };

static int32_t ended(int result) {
  switch (result) {
    case 0:
      return DONE;
    case EBUSY:
    case ETIMEDOUT:
      return LATE;
    case EPIPE:
      return CLOSED;
    case EINVAL:
      return REFUSED;
  }
  return ELSE;
}

/* `ms` in ns; for ever if it is negative. */
static int64_t within(double ms) {
  return ms < 0 ? WEFT_FOREVER : (int64_t)(ms * 1e6);
}

EXPORT void begin(int32_t id) {
  weft_agent_set_id(id);
  weft_agent_set_blocking(true);
}

/* ---- channels */

EXPORT int32_t send(weft_channel *c, const void *src, int32_t length,
                    double ms) {
  if (ms == 0) return ended(weft_channel_try_send(c, src, length));
  return ended(weft_channel_send(c, src, length, within(ms)));
}

EXPORT int32_t receive(weft_channel *c, void *dst, int32_t *length, double ms) {
  if (ms == 0) return ended(weft_channel_try_receive(c, dst, length));
  return ended(weft_channel_receive(c, dst, length, within(ms)));
}

EXPORT int32_t reserve(weft_channel *c, int32_t length, void **at, double ms) {
  if (ms == 0) return ended(weft_channel_try_reserve(c, length, at));
  return ended(weft_channel_reserve(c, length, at, within(ms)));
}

EXPORT int32_t commit(weft_channel *c, void *at, int32_t length) {
  return ended(weft_channel_commit(c, at, length));
}

EXPORT void cancel(weft_channel *c, void *at) { weft_channel_cancel(c, at); }

EXPORT int32_t peek(weft_channel *c, const void **at, int32_t *length) {
  return ended(weft_channel_peek(c, at, length, WEFT_FOREVER));
}

EXPORT void consume(weft_channel *c) { weft_channel_consume(c); }

EXPORT int32_t is_closed(const weft_channel *c) {
  return weft_channel_closed(c);
}

/* ---- select, at channels of numbers */

EXPORT int32_t join(weft_channel *c, int32_t sends) {
  return ended(sends ? weft_channel_sender(c) : weft_channel_receiver(c));
}

EXPORT int32_t leave(weft_channel *c, int32_t sends) {
  return ended(sends ? weft_channel_leave_sender(c)
                     : weft_channel_leave_receiver(c));
}

/* An arm: it sends `value`, or receives it. */
typedef struct {
  weft_channel *channel;
  int32_t sends;
  int32_t value;
} choice;

enum { RANDOM, FIRST, LOOKS, MOST_ARMS = 8 };

/* Does the first arm that can be done, and tells which; or only looks. */
EXPORT int32_t choose(choice *given, int32_t n, int32_t how, double ms,
                      int32_t *index) {
  weft_arm arms[MOST_ARMS];
  for (int32_t i = 0; i < n; i++)
    arms[i] = given[i].sends
                  ? weft_channel_sending(given[i].channel, &given[i].value)
                  : weft_channel_receiving(given[i].channel, &given[i].value);
  if (how == LOOKS) return ended(weft_wait_any(arms, n, within(ms), index));
  if (how == FIRST) return ended(weft_select_first(arms, n, within(ms), index));
  return ended(weft_select(arms, n, within(ms), index));
}

/* ---- calls: the methods of _calls_api.ts, in JSON */

/* Room for one message: the texts are up to 10,000 bytes long. */
enum { ROOM = 12000 };

/* The number at `*text`; it goes behind the comma after it. */
static int32_t number(const char **text) {
  int32_t n = 0;
  while (**text >= '0' && **text <= '9') n = n * 10 + (*(*text)++ - '0');
  (*text)++;
  return n;
}

/* Counts a call that begins; what follows its number. */
static const char *count(void *context, const void *args) {
  const char *text = (const char *)args + 1;
  int32_t at = number(&text);
  __atomic_fetch_add((int32_t *)context + at, 1, __ATOMIC_SEQ_CST);
  return text;
}

/* How many bytes a text of x has. */
static int32_t span(const char *text) {
  int32_t n = 0;
  while (text[n] == 'x') n++;
  return n;
}

static int32_t echo(void *context, weft_call *call, const void *args,
                    int32_t length, void *result, int32_t room) {
  (void)call, (void)length;
  const char *text = count(context, args) + 1;
  int32_t n = span(text);
  char *out = (char *)result;
  if (2 * n + 2 > room) return 2 * n + 2;
  __builtin_memcpy(out + 1, text, (size_t)n);
  __builtin_memcpy(out + 1 + n, text, (size_t)n);
  out[0] = out[1 + 2 * n] = '"';
  return 2 * n + 2;
}

static int32_t nap(void *context, weft_call *call, const void *args,
                   int32_t length, void *result, int32_t room) {
  (void)call, (void)length, (void)room;
  const char *text = count(context, args);
  char digit = text[0]; /* of 0 to 4 */
  int64_t end = WEFT_NOW() + (digit - '0') * INT64_C(1000000);
  while (WEFT_NOW() < end) weft__relax();
  *(char *)result = digit;
  return 1;
}

static int32_t fail(void *context, weft_call *call, const void *args,
                    int32_t length, void *result, int32_t room) {
  (void)call, (void)length;
  const char *text = count(context, args) + 1;
  static const char xs[5001] = {[0 ... 4999] = 'x'};
  const char *message = xs + 5000 - span(text);
  return weft_calls_throw(result, room, "RangeError", message, NULL);
}

/* Returns when its caller gives up. */
static int32_t waits(void *context, weft_call *call, const void *args,
                     int32_t length, void *result, int32_t room) {
  (void)length, (void)room;
  count(context, args);
  while (weft_call_ring_wanted(call)) weft__relax();
  __builtin_memcpy(result, "null", 4);
  return 4;
}

/* Ends its server. */
static int32_t die(void *context, weft_call *call, const void *args,
                   int32_t length, void *result, int32_t room) {
  (void)call, (void)length, (void)result, (void)room;
  count(context, args);
  __builtin_trap();
}

static const weft_calls_method methods[] = {
    {"echo", echo}, {"nap", nap}, {"fail", fail}, {"wait", waits}, {"die", die}};

/* Serves a ring; the rooms are a page. */
EXPORT int32_t serve(void *at, int32_t *begun, void *rooms) {
  weft_call_ring *r = weft_call_ring_attach(at);
  const weft_calls_server server = {r, methods, 5, NULL, begun, rooms, 4, ROOM};
  return weft_calls_serve(&server, WEFT_FOREVER);
}

/* Calls a method; writes the answer to `text`, and what and how long it is to
   `told`. */
EXPORT int32_t call(void *at, const char *method, char *text, int32_t length,
                    double ms, int32_t *told) {
  weft_call_ring *r = weft_call_ring_attach(at);
  const weft_calls_request request = {method, text, length, 0, NULL};
  weft_calls_answer answer = {text, ROOM, 0, 0};
  int result = weft_calls_call(r, &request, &answer, within(ms));
  told[0] = answer.what;
  told[1] = answer.length;
  return result == EIO ? DONE : ended(result);
}
