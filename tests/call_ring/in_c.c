/* For agents of the race tester: kind.ts says what the handler does. */
__attribute__((import_module("env"), import_name("race_handler"))) int32_t
race_handler(void *context, const void *request, int32_t length, void *reply);

EXPORT int race_call_ring_try_serve_one(weft_call_ring *ring) {
  return weft_call_ring_try_serve_one(ring, race_handler, NULL);
}

EXPORT int32_t race_call_ring_serve(weft_call_ring *ring, int64_t timeout) {
  return weft_call_ring_serve(ring, race_handler, NULL, timeout);
}
