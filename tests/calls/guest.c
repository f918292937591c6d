/* Threads of C for guest_test.ts: one serves, and one calls. */
#include <weft.h>

#define EXPORT __attribute__((used, visibility("default")))

enum { ROOM = 4096 };

static int64_t rooms[2 * WEFT_CALLS_ROOM_BYTES(ROOM) / 8];
static char text[ROOM];
static int32_t gave_up;
static char reason[64];
static weft_calls_answer why = {reason, 64, 0, 0};

static int32_t echo(void *context, weft_call *call, const void *args,
                    int32_t length, void *result, int32_t room) {
  (void)context, (void)call;
  if (length > room)
    return weft_calls_throw(result, room, "RangeError", "too long", NULL);
  __builtin_memcpy(result, args, (size_t)length);
  return length;
}

static int32_t nothing(void *context, weft_call *call, const void *args,
                       int32_t length, void *result, int32_t room) {
  (void)context, (void)call, (void)args, (void)length, (void)result, (void)room;
  return WEFT_CALLS_UNDEFINED;
}

static int32_t fails(void *context, weft_call *call, const void *args,
                     int32_t length, void *result, int32_t room) {
  (void)context, (void)call, (void)args, (void)length;
  return weft_calls_throw(result, room, "RangeError", "no \"luck\" in \xc3\xbc",
                          "ENOENT");
}

/* Ends when its caller's signal aborts, and keeps why it did. */
static int32_t spin(void *context, weft_call *call, const void *args,
                    int32_t length, void *result, int32_t room) {
  (void)args, (void)length, (void)result, (void)room;
  weft_calls_release_args(call);
  while (weft_call_ring_wanted(call)) weft__relax();
  weft_calls_reason((weft_call_ring *)context, call, &why);
  gave_up++;
  return WEFT_CALLS_UNDEFINED;
}

static int32_t ends(void *context, weft_call *call, const void *args,
                    int32_t length, void *result, int32_t room) {
  (void)context, (void)call, (void)args, (void)length, (void)room;
  *(char *)result = (char)('0' + gave_up);
  return 1;
}

/* Why the caller of spin gave up: the message of an error, or JSON. */
static int32_t told(void *context, weft_call *call, const void *args,
                    int32_t length, void *result, int32_t room) {
  (void)context, (void)call, (void)args, (void)length;
  if (why.what == WEFT_CALLS_THROWN) {
    __builtin_memcpy(result, reason, (size_t)why.length);
    return why.length;
  }
  char *text = (char *)result;
  int32_t n = weft_calls_field(&why, "message", text + 1, room - 2);
  if (n < 0) return WEFT_CALLS_UNDEFINED;
  text[0] = text[n + 1] = '"';
  return n + 2;
}

static const weft_calls_method methods[] = {{"echo", echo},
                                            {"nothing", nothing},
                                            {"fails", fails},
                                            {"spin", spin},
                                            {"ends", ends},
                                            {"told", told}};

EXPORT int32_t serve(void *at, int32_t id) {
  weft_agent_set_id(id);
  weft_agent_set_blocking(true);
  weft_call_ring *r = weft_call_ring_attach(at);
  const weft_calls_server server = {r, methods, 6, NULL, r, rooms, 2, ROOM};
  return weft_calls_serve(&server, WEFT_FOREVER);
}

/* Calls a method that JavaScript serves, whose arguments and result lie in
   `text`: length, what, and result. */
EXPORT int32_t call(void *at, const char *method, int32_t length,
                    int32_t *told) {
  weft_agent_set_id(4712);
  weft_agent_set_blocking(true);
  weft_call_ring *r = weft_call_ring_attach(at);
  const weft_calls_request request = {method, text, length, 0, NULL};
  weft_calls_answer answer = {text, ROOM, 0, 0};
  int result = weft_calls_call(r, &request, &answer, WEFT_FOREVER);
  told[0] = answer.length;
  told[1] = answer.what;
  char message[64];
  if (answer.what != WEFT_CALLS_ERROR) return result;
  int32_t n = weft_calls_field(&answer, "message", message, sizeof message);
  __builtin_memcpy(text, message, (size_t)n);
  told[0] = n;
  return result;
}

EXPORT char *text_at(void) { return text; }
