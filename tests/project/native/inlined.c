/* Calls with short arrays and lengths that are known only as the program runs.
   Optimizers inline the calls, and must not warn of copies that never happen.
   This is C and C++. */
#include <weft.h>

enum { ROOM = 9 };

int push_bytes(weft_record_ring *r, int32_t length);
int push_bytes(weft_record_ring *r, int32_t length) {
  char bytes[ROOM] = {1};
  return weft_record_ring_push(r, bytes, length, WEFT_FOREVER);
}

int push_some(weft_record_ring *r, int32_t n);
int push_some(weft_record_ring *r, int32_t n) {
  char bytes[ROOM] = {1};
  int result = 0;
  for (int32_t i = 0; i < n && result == 0; i++)
    result = weft_record_ring_try_push(r, bytes, i);
  return result;
}

int pop_bytes(weft_record_ring *r);
int pop_bytes(weft_record_ring *r) {
  char bytes[ROOM];
  int32_t length = ROOM;
  int result = weft_record_ring_try_pop(r, bytes, &length);
  return result == 0 && length > 0 ? bytes[0] : result;
}

int send_bytes(weft_channel *c, int32_t length);
int send_bytes(weft_channel *c, int32_t length) {
  char bytes[ROOM] = {1};
  return weft_channel_send(c, bytes, length, WEFT_FOREVER);
}

int receive_bytes(weft_channel *c);
int receive_bytes(weft_channel *c) {
  char bytes[ROOM];
  int32_t length = ROOM;
  int result = weft_channel_try_receive(c, bytes, &length);
  return result == 0 && length > 0 ? bytes[0] : result;
}

int call_bytes(weft_call_ring *r, int32_t length);
int call_bytes(weft_call_ring *r, int32_t length) {
  char bytes[ROOM] = {1};
  int32_t room = ROOM;
  return weft_call_ring_call(r, bytes, length, bytes, &room, WEFT_FOREVER);
}
