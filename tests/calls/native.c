/* Typed calls: C serves, and C calls. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <weft.h>

#include "check.h"

enum { ROOM = 2000 };

static int32_t memory[1 << 12];
static int32_t small_memory[1 << 10];
static int64_t rooms[2 * WEFT_CALLS_ROOM_BYTES(ROOM) / 8];
static int32_t gave_up;
static int32_t given_up; /* calls that were served and then given up */
static weft_call_ring *served;
static char reason[100];
static int32_t reason_length;

/* Returns its arguments. */
static int32_t echo(void *context, weft_call *call, const void *args,
                    int32_t length, void *result, int32_t room) {
  (void)call;
  ++*(int32_t *)context;
  if (length > room)
    return weft_calls_throw(result, room, "RangeError", "too long", NULL);
  memcpy(result, args, (size_t)length);
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
  return weft_calls_throw(result, room, "RangeError",
                          "no \"file\"\n\x01 \\ \xc3\xbc", "ENOENT");
}

static int32_t too_long(void *context, weft_call *call, const void *args,
                        int32_t length, void *result, int32_t room) {
  (void)context, (void)call, (void)args, (void)length, (void)result;
  return room + 1;
}

/* Calls with too little time until the function has set `sign`: on a busy
   machine, nobody may have served a call when its time is over. */
static void give_up_on(weft_call_ring *r, const weft_calls_request *request,
                       const int32_t *sign) {
  weft_calls_answer answer = {NULL, 0, 0, 0};
  while (__atomic_load_n(sign, __ATOMIC_SEQ_CST) == 0) {
    EQUAL(weft_calls_call(r, request, &answer, 20 * 1000000), ETIMEDOUT);
    for (int i = 0; i < 1000; i++) sched_yield();
  }
}

/* Ends when its caller has given up. */
static int32_t wait(void *context, weft_call *call, const void *args,
                    int32_t length, void *result, int32_t room) {
  (void)context, (void)args, (void)length, (void)result, (void)room;
  given_up++;
  while (weft_call_ring_wanted(call)) sched_yield();
  __atomic_store_n(&gave_up, 1, __ATOMIC_SEQ_CST);
  return 0;
}

/* The same, and keeps why it did. A caller that gives up before its arguments
   are released says no reason. */
static int32_t ask(void *context, weft_call *call, const void *args,
                   int32_t length, void *result, int32_t room) {
  char text[sizeof reason];
  weft_calls_answer why = {text, (int32_t)sizeof text, 0, 0};
  (void)context, (void)args, (void)length, (void)result, (void)room;
  given_up++;
  weft_calls_release_args(call);
  bool in_time = weft_call_ring_wanted(call);
  bool early = weft_calls_reason(served, call, &why);
  CHECK(!early || !weft_call_ring_wanted(call));
  while (weft_call_ring_wanted(call)) sched_yield();
  bool told = weft_calls_reason(served, call, &why);
  CHECK(told || !in_time);
  if (!told || reason_length != 0) return 0;
  EQUAL(why.what, WEFT_CALLS_ERROR);
  memcpy(reason, text, (size_t)why.length);
  __atomic_store_n(&reason_length, why.length, __ATOMIC_SEQ_CST);
  return 0;
}

static const weft_calls_method methods[] = {{"echo", echo},
                                            {"nothing", nothing},
                                            {"fails", fails},
                                            {"tooLong", too_long},
                                            {"wait", wait},
                                            {"ask", ask}};

static int32_t echoed;

static void *serve(void *context) {
  const weft_calls_server server = {
      (weft_call_ring *)context, methods, 6, NULL, &echoed, rooms, 2, ROOM};
  weft_agent_set_id(70);
  return (void *)(intptr_t)weft_calls_serve(&server, WEFT_FOREVER);
}

static char got[2 * ROOM];

/* Calls a method with a text; what the answer is. */
static weft_calls_answer call(weft_call_ring *r, const char *method,
                              const char *args, int result) {
  const weft_calls_request request = {
      method, args, (int32_t)strlen(args), 0, NULL};
  weft_calls_answer answer = {got, (int32_t)sizeof got, 0, 0};
  EQUAL(weft_calls_call(r, &request, &answer, WEFT_FOREVER), result);
  return answer;
}

/* Compares a field of an error. */
static void says(const weft_calls_answer *answer, const char *field,
                 const char *expected) {
  char text[200] = "";
  int32_t length = weft_calls_field(answer, field, text, sizeof text);
  EQUAL(length, (int32_t)strlen(expected));
  CHECK(memcmp(text, expected, strlen(expected)) == 0);
}

/* What a server replies in its own thread, one call at a time. */
static void refuses(void) {
  const weft_call_ring_config config = {2, 64, 64};
  weft_call_ring *r =
      weft_call_ring_init(small_memory, sizeof small_memory, config);
  const weft_calls_server server = {r, methods, 6, NULL, &echoed, NULL, 0, 0};
  EQUAL(weft_calls_try_serve_one(&server), EBUSY);
  const char *const messages[] = {
      "",
      "\1",
      "\1\0\310\0\0\0\0\0",
      "\11\0\0\0\0\0\0\0",
      "\3\0\0\0\7\0\0\0\0\0\0\0\4\0\0\0text", /* longer than its whole */
      "\3\0\0\0\7\0\0\0\0\0\0\0\377\0\0\0text", /* longer than the room */
      "\3\0\0\0\7\0\0\0\4\0\0\0\24\0\0\0text", /* continues nothing */
      "\2\0\0\0\7\0\0\0"};
  const int32_t lengths[] = {0, 1, 8, 8, 20, 20, 20, 8};
  const char kinds[] = {3, 3, 3, 3, 3, 3, 6, 6};
  for (int i = 0; i < 8; i++) {
    weft_call *c = NULL;
    char reply[64] = "";
    int32_t length = sizeof reply;
    EQUAL(weft_call_ring_try_post(r, messages[i], lengths[i], &c), 0);
    EQUAL(weft_calls_try_serve_one(&server), 0);
    EQUAL(weft_call_ring_try_receive(r, c, reply, &length), 0);
    EQUAL(reply[0], kinds[i]);
  }
  EQUAL(weft_call_ring_pending(r), 0);
  weft_calls_answer answer = {got, (int32_t)sizeof got, 0, 0};
  weft_calls_request request = {"wait", "[]", 2, 0, NULL};
  EQUAL(weft_calls_call(r, &request, &answer, 0), ETIMEDOUT);
  request.length = -1;
  EQUAL(weft_calls_call(r, &request, &answer, 0), EINVAL);
  request.length = 2;
  request.signal = 256;
  EQUAL(weft_calls_call(r, &request, &answer, 0), EINVAL);
  weft_call_ring_close(r);
  EQUAL(weft_calls_try_serve_one(&server), EPIPE);
  request.signal = 0;
  EQUAL(weft_calls_call(r, &request, &answer, 0), EPIPE);
  /* Too small for calls, and for pieces. */
  const weft_call_ring_config less = {2, 8, 64};
  r = weft_call_ring_init(small_memory, sizeof small_memory, less);
  EQUAL(weft_calls_call(r, &request, &answer, 0), EINVAL);
  EQUAL(weft_calls_serve(&server, 0), -EINVAL);
  EQUAL(weft_calls_try_serve_one(&server), EINVAL);
  const weft_call_ring_config few = {2, 16, 64};
  r = weft_call_ring_init(small_memory, sizeof small_memory, few);
  request.args = "[12345678]";
  request.length = 10;
  EQUAL(weft_calls_call(r, &request, &answer, 0), EINVAL);
}

/* A text that is cut between characters, whatever room there is. */
static void cuts(void) {
  char text[80];
  for (int32_t room = 0; room <= 80; room++) {
    int32_t n = weft_calls_throw(text, room, "E", "\"\xc3\xbc\x02\"", "x");
    CHECK(-1 - n <= room);
    if (room < 36) EQUAL(n, -1);
    if (n == -1) continue;
    CHECK(text[-2 - n] == '}');
    const weft_calls_answer answer = {text, -1 - n, -1 - n, WEFT_CALLS_ERROR};
    char message[16];
    int32_t length = weft_calls_field(&answer, "message", message, 16);
    CHECK(length == 0 || length == 1 || length == 3 || length == 4 ||
          length == 5);
    EQUAL(memcmp(message, "\"\xc3\xbc\x02\"", (size_t)length), 0);
  }
}

/* Fields as JavaScript writes them. */
static void reads(void) {
  const char *const text =
      "{\"name\":\"a\\u00fc\\ud83d\\ude00\\t\",\"code\":-5,"
      "\"cause\":{\"message\":\"inner\",\"name\":\"}\"},\"message\":\"\\\\\"}";
  weft_calls_answer answer = {NULL, (int32_t)strlen(text),
                              (int32_t)strlen(text), WEFT_CALLS_ERROR};
  static char copy[200];
  memcpy(copy, text, strlen(text));
  answer.bytes = copy;
  says(&answer, "name", "a\xc3\xbc\xf0\x9f\x98\x80\t");
  says(&answer, "code", "-5");
  says(&answer, "message", "\\");
  EQUAL(weft_calls_field(&answer, "stack", copy, 0), -1);
  EQUAL(weft_calls_field(&answer, "name", copy, 0), 8);
  for (answer.length = 0; answer.length < answer.room; answer.length++) {
    char field[8];
    weft_calls_field(&answer, "message", field, sizeof field);
    weft_calls_field(&answer, "name", field, sizeof field);
  }
}

/* Halves of a surrogate pair, which JavaScript writes as they are, have no form
   in UTF-8. */
static void reads_halves(void) {
  const char *const texts[][2] = {
      {"\\ud83d\\ude00!", "\xf0\x9f\x98\x80!"},
      {"\\ud83d us and 12", "\xef\xbf\xbd us and 12"},
      {"\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
      {"\\ud83d\\u0041", "\xef\xbf\xbd"
                         "A"},
      {"\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd"}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char json[80];
    snprintf(json, sizeof json, "{\"message\":\"%s\"}", texts[i][0]);
    int32_t length = (int32_t)strlen(json);
    const weft_calls_answer answer = {json, length, length, WEFT_CALLS_ERROR};
    says(&answer, "message", texts[i][1]);
  }
}

int main(void) {
  cuts();
  reads();
  reads_halves();
  refuses();
  const weft_call_ring_config config = {4, 64, 64};
  weft_call_ring *r = weft_call_ring_init(memory, sizeof memory, config);
  served = r;
  pthread_t thread;
  EQUAL(pthread_create(&thread, NULL, serve, r), 0);
  weft_agent_set_id(71);
  weft_calls_answer answer = call(r, "echo", "[1,\"a\"]", 0);
  EQUAL(answer.what, WEFT_CALLS_VALUE);
  EQUAL(answer.length, 7);
  CHECK(memcmp(got, "[1,\"a\"]", 7) == 0);
  EQUAL(call(r, "nothing", "", 0).what, WEFT_CALLS_NOTHING);
  /* Requests and replies in pieces, as long as a room or longer. */
  static char text[ROOM + 100];
  for (int32_t length = 1; length < ROOM - 20; length += 97) {
    memset(text, 'a' + length % 26, (size_t)length);
    text[length] = '\0';
    answer = call(r, "echo", text, 0);
    EQUAL(answer.length, length);
    CHECK(memcmp(got, text, (size_t)length) == 0);
  }
  memset(text, 'x', ROOM + 50);
  answer = call(r, "echo", text, EIO);
  says(&answer, "message", "The request is longer than th");
  EQUAL(answer.what, WEFT_CALLS_ERROR);
  answer = call(r, "fails", "", EIO);
  says(&answer, "name", "RangeError");
  says(&answer, "code", "ENOENT");
  says(&answer, "message", "no \"file\"\n\x01 \\ \xc3\xbc");
  answer = call(r, "tooLong", "", EIO);
  says(&answer, "message", "The result is longer than the server's room");
  answer = call(r, "other", "", EIO);
  says(&answer, "name", "TypeError");
  says(&answer, "message",
       "No method \"other\" is served: there are echo, nothing, fails, "
       "tooLong, wait, ask");
  /* Its caller's time is over. */
  weft_calls_request request = {"wait", NULL, 0, 0, NULL};
  give_up_on(r, &request, &gave_up);
  request.method = "ask";
  give_up_on(r, &request, &reason_length);
  const weft_calls_answer why = {reason, (int32_t)sizeof reason, reason_length,
                                 WEFT_CALLS_ERROR};
  says(&why, "name", "TimeoutError");
  says(&why, "message", "The call was not");
  request.codec = "other";
  EQUAL(weft_calls_call(r, &request, &answer, WEFT_FOREVER), EIO);
  says(&answer, "message", "The caller has another codec than the server");
  EQUAL(__atomic_load_n(&gave_up, __ATOMIC_SEQ_CST), 1);
  EQUAL(weft_call_ring_pending(r), 0);
  weft_call_ring_close(r);
  void *count = NULL;
  pthread_join(thread, &count);
  EQUAL((int32_t)(intptr_t)count, echoed + 5 + given_up);
  printf("done\n");
  return 0;
}
