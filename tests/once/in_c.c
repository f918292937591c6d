/* For agents of the race tester: kind.ts says what the callback does. */
__attribute__((import_module("env"), import_name("race_callback"))) int
race_callback(void *context);

EXPORT int race_once_run(weft_once *once, int64_t timeout) {
  return weft_once_run(once, race_callback, NULL, timeout);
}
