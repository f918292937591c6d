/* What the native tests of SpscQueue and MpmcQueue share: the model that one
   thread compares with, and what threads do. Before it is included, QUEUE(name)
   must be the functions of the queue, QUEUE_TYPE its type, and `wind`, `commit`
   and `consume` as declared here. */
#ifndef QUEUE_NATIVE_H
#define QUEUE_NATIVE_H

#include "attach.h"
#include "check.h"

#define THREADS 4

/* Lets the counters of an empty queue stand `start` operations from 0. */
static void wind(QUEUE_TYPE *q, int32_t start);
static int commit(QUEUE_TYPE *q, void *slot);
static void consume(QUEUE_TYPE *q, void *slot);

static void *attach(void *at) { return QUEUE(attach)(at); }

static void attaching(int32_t kind) {
  const weft_queue_config config = {4, 12};
  memset(arena, 0xa5, sizeof arena);
  CHECK(QUEUE(init)(arena, sizeof arena, config) != NULL);
  attach_wrongly(kind, attach, 1, 3);
}

static void init_refuses(void) {
  void *odd = (char *)arena + 2;
  const weft_queue_config good = {4, 4};
  const weft_queue_config wrong[] = {
      {0, 4},          {-1, 4},         {INT32_MIN, 4},
      {4, 0},          {4, 3},          {4, 6},
      {4, -4},         {1, INT32_MAX},  {(1 << 28) + 1, 4},
      {1 << 29, 4},    {INT32_MAX, 4},  {3, 1 << 29},
      {(1 << 27) + 1, 8}, {357913942, 12},
  };
  memset(arena, 0xa5, sizeof arena);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    EQUAL(QUEUE(bytes)(wrong[i]), 0);
    REFUSED(QUEUE(init)(arena, sizeof arena, wrong[i]));
  }
  REFUSED(QUEUE(init)(odd, sizeof arena, good));
  REFUSED(QUEUE(init)(NULL, sizeof arena, good));
}

/* A queue of this configuration has `capacity`, and takes `bytes`. */
static void length(weft_queue_config config, int32_t capacity, size_t bytes) {
  EQUAL(QUEUE(bytes)(config), bytes);
  if (bytes > sizeof arena - 8) return;
  /* Init writes those bytes and no other. */
  memset(arena, 0xa5, sizeof arena);
  QUEUE_TYPE *q = QUEUE(init)(arena + 1, sizeof arena - 4, config);
  EQUAL(QUEUE(capacity)(q), capacity);
  EQUAL(QUEUE(element_size)(q), config.element_size);
  EQUAL(arena[0], (int32_t)0xa5a5a5a5);
  EQUAL(arena[1 + bytes / 4], (int32_t)0xa5a5a5a5);
  CHECK(arena[bytes / 4] != (int32_t)0xa5a5a5a5);
}

/* A queue, and its model. */
typedef struct {
  QUEUE_TYPE *at;
  weft_queue_config config;
  int32_t capacity;
  /* the model: elements as the first word of each */
  int32_t items[64];
  int32_t size;
  bool closed;
} queue;

#define ON(q, operation, ...) QUEUE(operation)((q)->at, __VA_ARGS__)
#define OF(q, property) QUEUE(property)((q)->at)

/* Makes a queue whose counters stand `start` operations from their wrap. */
static void queue_init(queue *q, int32_t capacity, int32_t size,
                       int32_t start) {
  memset(q, 0, sizeof *q);
  q->config.capacity = capacity;
  q->config.element_size = size;
  q->at = QUEUE(init)(arena, sizeof arena, q->config);
  q->capacity = q->at->capacity;
  wind(q->at, start);
}

/* An element that begins with `first`, and tells if it was torn. */
static void element(int32_t *at, int32_t words, int32_t first) {
  for (int32_t i = 0; i < words; i++) at[i] = first + i * 1000003;
}

static void check_element(const int32_t *at, int32_t words, int32_t first) {
  for (int32_t i = 0; i < words; i++) EQUAL(at[i], first + i * 1000003);
}

static int32_t scratch[64 * 32];

static int push_one(queue *q, uint32_t *seed, int32_t value) {
  int32_t words = q->config.element_size / 4;
  element(scratch, words, value);
  int form = random_below(seed, 6);
  if (words > 1 && form < 2) form += 2;
  switch (form) {
    case 0:
      return ON(q, try_push_int, value);
    case 1: {
      int result = ON(q, push_int, value, 0);
      return result == ETIMEDOUT ? EBUSY : result;
    }
    case 2:
      return ON(q, try_push, scratch);
    case 3: {
      int result = ON(q, push, scratch, 0);
      return result == ETIMEDOUT ? EBUSY : result;
    }
    case 4: {
      int32_t count = ON(q, try_push_many, scratch, 1);
      return count < 0 ? -count : count == 1 ? 0 : EBUSY;
    }
    default: {
      void *slot = OF(q, reserve);
      if (slot == NULL) return q->closed ? EPIPE : EBUSY;
      element((int32_t *)slot, words, value);
      return commit(q->at, slot);
    }
  }
}

static int pop_one(queue *q, uint32_t *seed, int32_t value) {
  int32_t words = q->config.element_size / 4;
  int result = 0;
  memset(scratch, 0, sizeof scratch);
  int form = random_below(seed, 6);
  if (words > 1 && form < 2) form += 2;
  switch (form) {
    case 0:
      result = ON(q, try_pop_int, scratch);
      break;
    case 1:
      result = ON(q, pop_int, scratch, 0);
      break;
    case 2:
      result = ON(q, try_pop, scratch);
      break;
    case 3:
      result = ON(q, pop, scratch, 0);
      break;
    case 4: {
      int32_t count = ON(q, try_pop_many, scratch, 1);
      result = count < 0 ? -count : count == 1 ? 0 : EBUSY;
      break;
    }
    default: {
      void *slot = OF(q, peek);
      if (slot == NULL) return q->size == 0 && q->closed ? EPIPE : EBUSY;
      memcpy(scratch, slot, (size_t)q->config.element_size);
      consume(q->at, slot);
    }
  }
  if (result == ETIMEDOUT) result = EBUSY;
  if (result == 0) check_element(scratch, words, value);
  return result;
}

static void model_push(queue *q, int32_t value) { q->items[q->size++] = value; }

static int32_t model_pop(queue *q) {
  int32_t value = q->items[0];
  q->size--;
  memmove(q->items, q->items + 1, (size_t)q->size * sizeof *q->items);
  return value;
}

static void queue_step(queue *q, uint32_t *seed, int32_t *next) {
  int32_t words = q->config.element_size / 4;
  int32_t room = q->capacity - q->size;
  switch (random_below(seed, 4)) {
    case 0: {
      int wanted = q->closed ? EPIPE : room > 0 ? 0 : EBUSY;
      EQUAL(push_one(q, seed, *next), wanted);
      if (wanted == 0) model_push(q, (*next)++);
      break;
    }
    case 1: {
      int wanted = q->size > 0 ? 0 : q->closed ? EPIPE : EBUSY;
      EQUAL(pop_one(q, seed, q->items[0]), wanted);
      if (wanted == 0) model_pop(q);
      break;
    }
    case 2: {
      int32_t n = random_below(seed, 12);
      for (int32_t i = 0; i < n; i++)
        element(scratch + i * words, words, *next + i);
      int32_t count = n < room ? n : room;
      int32_t wanted = n == 0 ? 0 : q->closed ? -EPIPE : count;
      EQUAL(ON(q, try_push_many, scratch, n), wanted);
      for (int32_t i = 0; i < wanted; i++) model_push(q, (*next)++);
      break;
    }
    default: {
      int32_t n = random_below(seed, 12);
      int32_t count = n < q->size ? n : q->size;
      int32_t wanted =
          n > 0 && q->size == 0 && q->closed ? -EPIPE : count;
      memset(scratch, 0x77, sizeof scratch);
      EQUAL(ON(q, try_pop_many, scratch, n), wanted);
      for (int32_t i = 0; i < wanted; i++)
        check_element(scratch + i * words, words, model_pop(q));
      int32_t behind = wanted < 0 ? 0 : wanted * words;
      EQUAL(scratch[behind], 0x77777777);
    }
  }
  EQUAL(OF(q, size), q->size);
  EQUAL(OF(q, closed), q->closed);
  EQUAL(OF(q, capacity), q->capacity);
}

static void queues_by_turns(void) {
  const int32_t capacities[] = {1, 2, 3, 8, 16};
  const int32_t sizes[] = {4, 8, 12, 64};
  uint32_t seed = 3;
    for (int c = 0; c < 5; c++)
      for (int s = 0; s < 4; s++)
        for (int start = 0; start < STARTS_COUNT; start++) {
          queue q;
          int32_t from = weft__minus(STARTS[start], random_below(&seed, 60));
          queue_init(&q, capacities[c], sizes[s], from);
          int32_t next = -40;
          int open = random_below(&seed, 300);
          for (int i = 0; i < 400; i++) {
            if (i == open) {
              OF(&q, close);
              OF(&q, close);
              q.closed = true;
            }
            queue_step(&q, &seed, &next);
          }
        }
}

/* Errors of a queue leave it as it was. */
static void queue_errors(void) {
  {
    queue q;
    int32_t value = 0;
    queue_init(&q, 2, 4, -1);
    /* Takes the roles, where there are any. */
    EQUAL(ON(&q, try_push_many, scratch, 0), 0);
    EQUAL(ON(&q, try_pop_many, scratch, 0), 0);
    UNCHANGED(arena, 1024, ON(&q, try_push_many, scratch, -1), -EINVAL);
    UNCHANGED(arena, 1024, ON(&q, try_pop_many, scratch, -1), -EINVAL);
    UNCHANGED(arena, 1024, ON(&q, try_pop_many, scratch, INT32_MIN), -EINVAL);
    UNCHANGED(arena, 1024, ON(&q, try_pop_int, &value), EBUSY);
    UNCHANGED(arena, 1024, OF(&q, peek) == NULL, true);
    weft_agent_set_blocking(false);
    UNCHANGED(arena, 1024, ON(&q, pop_int, &value, WEFT_FOREVER), EPERM);
    UNCHANGED(arena, 1024, ON(&q, pop, &value, WEFT_FOREVER), EPERM);
    UNCHANGED(arena, 1024, ON(&q, push_int, 1, WEFT_FOREVER), EPERM);
    UNCHANGED(arena, 1024, ON(&q, push, &value, WEFT_FOREVER), EPERM);
    weft_agent_set_blocking(true);
    TAKES(20, ON(&q, pop_int, &value, 20 * MS), ETIMEDOUT);
    EQUAL(ON(&q, push_int, 1, WEFT_FOREVER), 0);
    EQUAL(ON(&q, push_int, 2, WEFT_FOREVER), 0);
    TAKES(20, ON(&q, push_int, 3, 20 * MS), ETIMEDOUT);
    UNCHANGED(arena, 1024, ON(&q, try_push_int, 3), EBUSY);
    UNCHANGED(arena, 1024, OF(&q, reserve) == NULL, true);
    EQUAL(OF(&q, size), 2);
    OF(&q, close);
    UNCHANGED(arena, 1024, ON(&q, try_push_int, 3), EPIPE);
    UNCHANGED(arena, 1024, ON(&q, push_int, 3, WEFT_FOREVER), EPIPE);
    UNCHANGED(arena, 1024, ON(&q, try_push_many, scratch, 5), -EPIPE);
    EQUAL(ON(&q, pop_int, &value, WEFT_FOREVER), 0);
    EQUAL(value, 1);
    EQUAL(ON(&q, pop_int, &value, WEFT_FOREVER), 0);
    EQUAL(value, 2);
    EQUAL(ON(&q, pop_int, &value, WEFT_FOREVER), EPIPE);
    UNCHANGED(arena, 1024, ON(&q, try_pop_int, &value), EPIPE);
    UNCHANGED(arena, 1024, ON(&q, try_pop_many, scratch, 5), -EPIPE);
    UNCHANGED(arena, 1024, ON(&q, pop, &value, WEFT_FOREVER), EPIPE);
    EQUAL(value, 2);
    /* elements that are not ints */
    queue_init(&q, 2, 8, 0);
    UNCHANGED(arena, 1024, ON(&q, try_push_int, 3), EINVAL);
    UNCHANGED(arena, 1024, ON(&q, try_pop_int, &value), EINVAL);
    UNCHANGED(arena, 1024, ON(&q, push_int, 3, WEFT_FOREVER), EINVAL);
    UNCHANGED(arena, 1024, ON(&q, pop_int, &value, WEFT_FOREVER), EINVAL);
  }
}

/* Writes up to `wanted` elements of `size` bytes in place: how many. */
static int32_t put_in_place(QUEUE_TYPE *q, const uint8_t *in, int32_t wanted,
                            int32_t size);

/* Elements of 1 and 2 bytes, one at a time, many, and in place, where the
   counters and the places wrap. `bytes_of` are those of a queue. */
static void short_elements_in(size_t (*bytes_of)(int32_t capacity,
                                                 int32_t size)) {
  for (int32_t size = 1; size <= 2; size++) {
    for (int32_t capacity = 1; capacity <= 8; capacity *= 2) {
      const weft_queue_config config = {capacity, size};
      size_t bytes = bytes_of(capacity, size);
      EQUAL(QUEUE(bytes)(config), bytes);
      memset(arena, 0xa5, sizeof arena);
      QUEUE_TYPE *q = QUEUE(init)(arena, sizeof arena, config);
      EQUAL(QUEUE(element_size)(q), size);
      CHECK(QUEUE(attach)(arena) == q);
      wind(q, -4 * 3);
      EQUAL(QUEUE(try_push_int)(q, 1), EINVAL);
      EQUAL(QUEUE(try_pop_int)(q, scratch), EINVAL);
      uint8_t in[16], out[32];
      uint8_t next = 0, expected = 0;
      for (int32_t n = 1; n <= 40; n++) {
        int32_t wanted = n % 8 + 1;
        int32_t most = wanted < capacity ? wanted : capacity;
        for (int32_t i = 0; i < wanted * size; i++) in[i] = (uint8_t)(next + i);
        int32_t count = 1;
        if (n % 4 == 0) {
          EQUAL(QUEUE(try_push)(q, in), 0);
        } else if (n % 4 == 1) {
          count = put_in_place(q, in, wanted, size);
        } else {
          count = QUEUE(try_push_many)(q, in, wanted);
          EQUAL(count, most);
        }
        next = (uint8_t)(next + count * size);
        EQUAL(QUEUE(size)(q), count);
        memset(out, 0xa5, sizeof out);
        if (n % 3 == 0) {
          EQUAL(QUEUE(try_pop)(q, out), 0);
          EQUAL(QUEUE(try_pop_many)(q, out + size, 8), count - 1);
        } else if (n % 3 == 1 && count == 1) {
          void *slot = QUEUE(peek)(q);
          memcpy(out, slot, (size_t)size);
          consume(q, slot);
        } else {
          EQUAL(QUEUE(try_pop_many)(q, out, 8), count);
        }
        for (int32_t i = 0; i < count * size; i++)
          EQUAL(out[i], (uint8_t)(expected + i));
        EQUAL(out[count * size], 0xa5); /* no byte behind its own */
        expected = (uint8_t)(expected + count * size);
        EQUAL(QUEUE(size)(q), 0);
      }
      EQUAL(((uint8_t *)arena)[bytes], 0xa5);
    }
  }
}

/* ---- threads ------------------------------------------------------------ */

static const weft_queue_config CONFIGS[] = {{1, 4}, {2, 4}, {64, 4},
                                            {1, 24}, {8, 24}};
#define CONFIGS_COUNT 5
#define BATCH 5
#define MOST_WORDS 6

/* An element as `element` makes it, whatever it begins with. */
static void check_whole(const int32_t *at, int32_t words) {
  check_element(at, words, at[0]);
}

/* One side of a queue. Only some forms apply, as elements may be records. */
typedef struct {
  uint32_t seed;
  QUEUE_TYPE *queue;
  int32_t words;
  int32_t number; /* of the producer, or of the consumer */
  int32_t *seen;  /* how often each value came */
} side;

/* How many forms of a push there are, and of a pop. */
#define FORMS 5

/* Pushes the element `value` by a form, 0 to 4, or up to `left` elements from
   it on by a batch. Returns how many: 0 if there is no room now. */
static int32_t push_by(int form, side *self, int32_t value, int32_t left) {
  QUEUE_TYPE *q = self->queue;
  int32_t elements[BATCH * MOST_WORDS];
  int32_t words = self->words;
  int result = 0;
  element(elements, words, value);
  switch (form) {
    case 0:
      result = QUEUE(push)(q, elements, some_timeout(&self->seed));
      break;
    case 1:
      result = QUEUE(try_push)(q, elements);
      break;
    case 2: {
      int32_t n = 1 + random_below(&self->seed, BATCH);
      if (n > left) n = left;
      for (int32_t i = 0; i < n; i++)
        element(elements + i * words, words, value + i);
      int32_t count = QUEUE(try_push_many)(q, elements, n);
      CHECK(count >= 0);
      if (count == 0) sched_yield();
      return count;
    }
    case 3: {
      int32_t *slot = (int32_t *)QUEUE(reserve)(q);
      result = slot == NULL ? EBUSY : 0;
      if (slot == NULL) break;
      element(slot, words, value);
      EQUAL(commit(q, slot), 0);
      break;
    }
    default:
      if (words > 1) return 0;
      result = QUEUE(push_int)(q, value, some_timeout(&self->seed));
  }
  if (not_now(result)) return 0;
  EQUAL(result, 0);
  return 1;
}

/* Pops by a form, 0 to 4. Returns how many `elements`: 0 if there are none now,
   -1 if there will never be one. */
static int32_t pop_by(int form, side *self, int32_t *elements) {
  QUEUE_TYPE *q = self->queue;
  int result = 0;
  int32_t count = 1;
  switch (form) {
    case 0:
      result = QUEUE(pop)(q, elements, some_timeout(&self->seed));
      break;
    case 1:
      result = QUEUE(try_pop)(q, elements);
      break;
    case 2: {
      count = QUEUE(try_pop_many)(q, elements,
                                  1 + random_below(&self->seed, BATCH));
      result = count < 0 ? -count : count == 0 ? EBUSY : 0;
      break;
    }
    case 3: {
      int32_t *slot = (int32_t *)QUEUE(peek)(q);
      result = slot == NULL ? EBUSY : 0;
      if (slot == NULL) break;
      memcpy(elements, slot, (size_t)self->words * 4);
      consume(q, slot);
      break;
    }
    default:
      if (self->words > 1) return 0;
      result = QUEUE(pop_int)(q, elements, some_timeout(&self->seed));
  }
  if (result == EPIPE) return -1;
  if (not_now(result)) return 0;
  EQUAL(result, 0);
  return count;
}

static int call_pop(void *at) {
  int32_t value;
  return QUEUE(pop_int)((QUEUE_TYPE *)at, &value, WEFT_FOREVER);
}

static int call_push(void *at) {
  return QUEUE(push_int)((QUEUE_TYPE *)at, 1, WEFT_FOREVER);
}

static void close_it(void *at) { QUEUE(close)((QUEUE_TYPE *)at); }

/* Ends the roles of this thread, where there are any. */
#ifndef QUEUE_LEAVE
#define QUEUE_LEAVE(q) ((void)0)
#endif

/* Closing wakes as many sleepers on either side. */
static void close_wakes(int sleepers) {
  const weft_queue_config config = {1, 4};
  for (int start = 0; start < STARTS_COUNT; start++) {
    QUEUE_TYPE *q = QUEUE(init)(arena, sizeof arena, config);
    wind(q, STARTS[start]);
    all_wake(call_pop, q, sleepers, close_it, EPIPE);
    q = QUEUE(init)(arena, sizeof arena, config);
    wind(q, STARTS[start]);
    EQUAL(QUEUE(try_push_int)(q, 1), 0);
    QUEUE_LEAVE(q);
    all_wake(call_push, q, sleepers, close_it, EPIPE);
  }
}

#endif
