/* _spsc_steps.h - how an end of a queue from one producer to one consumer moves
   its index, looks at the other one, and waits for it. */
#ifndef WEFT__SPSC_STEPS_H
#define WEFT__SPSC_STEPS_H

#include "_bell.h"
#include "_gong.h"
#include "_spsc_words.h"
#include "_wait.h"

WEFT__BEGIN

/* Reads the index of the consumer. */
static inline void weft__spsc_see_head(weft_spsc_queue *q) {
  q->head_cache = weft__receive(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;
}

/* How many elements are free. It reads the index of the consumer if the last
   known number is below `wanted`, or impossible. -ENOTRECOVERABLE if the
   indices are damaged. */
static inline int32_t weft__spsc_room(weft_spsc_queue *q, int32_t tail,
                                      int32_t wanted) {
  int32_t room = q->capacity - (weft__minus(tail, q->head_cache) >> 2);
  if (weft__spsc_enough(q, room, wanted)) return room;
  weft__spsc_see_head(q);
  room = q->capacity - (weft__minus(tail, q->head_cache) >> 2);
  return (uint32_t)room <= (uint32_t)q->capacity ? room : -ENOTRECOVERABLE;
}

/* Whether close was called; elements may still be in the queue. */
static inline bool weft_spsc_queue_closed(const weft_spsc_queue *q) {
#if WEFT__SPSC_BELLS
  return weft__bell_closed(&q->tail_bell);
#else
  return (weft__load(&q->tail) & WEFT_SPSC_QUEUE_CLOSED_BIT) != 0;
#endif
}

#ifndef WEFT_REALTIME /* what may wait */
/* The index of the other side while a push, or a pop, must wait. */
static inline int32_t weft__spsc_idle(const weft_spsc_queue *q, bool pushes) {
  if (!pushes) return weft__spsc_own(&q->head);
  int32_t span = q->capacity * WEFT_SPSC_QUEUE_ONE;
  return weft__minus(weft__spsc_own(&q->tail), span);
}
#endif

#if WEFT__SPSC_BELLS
/* As weft__spsc_look, if the queue is closed. */
WEFT__SELDOM static inline int weft__spsc_look_last(weft_spsc_queue *q,
                                                    int32_t head) {
  int32_t tail = weft__bell_end(&q->tail_bell, &q->tail, head) &
                 WEFT_SPSC_QUEUE_INDEX_MASK;
  q->tail_cache = tail;
  if (weft__spsc_has_filled(q, tail, head)) return 0;
  return tail == head ? EPIPE : ENOTRECOVERABLE;
}

/* Reads the index of the producer. Returns 0 if there is an element, EBUSY if
   there is none, EPIPE if there is none and the queue is closed, or
   ENOTRECOVERABLE if the indices are damaged. */
static inline int weft__spsc_look(weft_spsc_queue *q, int32_t head) {
  if (WEFT__RARE(weft__bell_closed(&q->tail_bell)))
    return weft__spsc_look_last(q, head);
  int32_t tail = weft__receive(&q->tail) & WEFT_SPSC_QUEUE_INDEX_MASK;
  q->tail_cache = tail;
  if (weft__spsc_has_filled(q, tail, head)) return 0;
  return tail == head ? EBUSY : ENOTRECOVERABLE;
}

/* (P) Publishes `count` elements, and wakes the consumer if it sleeps. `acts`
   is what weft__acts has said of this agent. */
static inline int weft__spsc_publish(weft_spsc_queue *q, int32_t tail,
                                     int32_t count, bool acts) {
  return weft__bell_step(&q->tail, &q->tail_bell, tail,
                         weft__plus(tail, count * WEFT_SPSC_QUEUE_ONE), acts);
}

/* Frees `count` slots, and wakes the producer if it sleeps. */
static inline void weft__spsc_release(weft_spsc_queue *q, int32_t head,
                                      int32_t count, bool acts) {
  weft__bell_move(&q->head, &q->head_bell,
                  weft__plus(head, count * WEFT_SPSC_QUEUE_ONE), acts);
}

#ifndef WEFT_REALTIME /* what may wait */
/* Asks for a wake when there is room for a push, or an element to pop. The
   caller must look again. */
static inline void weft__spsc_announce(weft_spsc_queue *q, bool pushes) {
  weft__bell_announce(pushes ? &q->head_bell : &q->tail_bell);
}

/* Asks for that wake, and sleeps. */
static inline int weft__spsc_wait(weft_spsc_queue *q, bool pushes,
                                  int64_t deadline) {
  int32_t idle = weft__spsc_idle(q, pushes);
  return pushes ? weft__bell_sleep(&q->head_bell, &q->head, idle, &q->tail_bell,
                                   deadline)
                : weft__bell_sleep(&q->tail_bell, &q->tail, idle, &q->tail_bell,
                                   deadline);
}
#endif
#else
/* Reads the index of the producer. Returns 0 if there is an element, EBUSY if
   there is none, EPIPE if there is none and the queue is closed, or
   ENOTRECOVERABLE if the indices are damaged. */
static inline int weft__spsc_look(weft_spsc_queue *q, int32_t head) {
  int32_t tail = weft__load(&q->tail);
  int32_t known = tail & WEFT_SPSC_QUEUE_INDEX_MASK;
  q->tail_cache = known;
  if (weft__spsc_has_filled(q, known, head)) return 0;
  if (known != head) return ENOTRECOVERABLE;
  return tail & WEFT_SPSC_QUEUE_CLOSED_BIT ? EPIPE : EBUSY;
}

/* Wakes who sleeps on an index: at most one agent, which has the role. */
WEFT__SELDOM static inline void weft__spsc_wake(int32_t *word) {
  weft__notify(word, 1);
  weft__strike(word + WEFT__SPSC_GONG);
}

/* Publishes up to `next`, if `tail` has the flags `was` has. */
WEFT__ASIDE static inline int weft__spsc_publish_slow(weft_spsc_queue *q,
                                                      int32_t was,
                                                      int32_t next) {
  if (was & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;
  /* WAITING is set. Only we clear it, or close does. */
  int32_t still = weft__compare_exchange(&q->tail, was, next);
  if (still & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;
  weft__spsc_wake(&q->tail);
  return 0;
}

/* (P) Publishes `count` elements, and wakes the consumer if it sleeps. */
static inline int weft__spsc_publish(weft_spsc_queue *q, int32_t tail,
                                     int32_t count, bool acts) {
  (void)acts;
  int32_t next = weft__plus(tail, count * WEFT_SPSC_QUEUE_ONE);
  int32_t was = weft__compare_exchange(&q->tail, tail, next);
  return was == tail ? 0 : weft__spsc_publish_slow(q, was, next);
}

/* Frees the slots up to `next`, if `head` has the flags `was` has. */
WEFT__ASIDE static inline void weft__spsc_release_slow(weft_spsc_queue *q,
                                                       int32_t was,
                                                       int32_t next) {
  int32_t expected;
  do {
    expected = was;
    int32_t kept = next | (expected & WEFT_SPSC_QUEUE_CLOSED_BIT);
    was = weft__compare_exchange(&q->head, expected, kept);
  } while (was != expected);
  if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__spsc_wake(&q->head);
}

/* Frees `count` slots, and wakes the producer if it sleeps. */
static inline void weft__spsc_release(weft_spsc_queue *q, int32_t head,
                                      int32_t count, bool acts) {
  (void)acts;
  int32_t next = weft__plus(head, count * WEFT_SPSC_QUEUE_ONE);
#ifdef WEFT__PEELS
  int32_t was = weft__compare_exchange(&q->head, head, next);
  if (was != head) weft__spsc_release_slow(q, was, next);
#else
  weft__spsc_release_slow(q, head, next);
#endif
}

#ifndef WEFT_REALTIME /* what may wait */
/* Sets a bit, so that the next step of the other side wakes us. The caller must
   look again. */
static inline void weft__spsc_announce(weft_spsc_queue *q, bool pushes) {
  int32_t idle = weft__spsc_idle(q, pushes);
  weft__compare_exchange(pushes ? &q->head : &q->tail, idle,
                         idle | WEFT_SPSC_QUEUE_WAITING_BIT);
}

/* Sets that bit, and sleeps. */
static inline int weft__spsc_wait(weft_spsc_queue *q, bool pushes,
                                  int64_t deadline) {
  int32_t *word = pushes ? &q->head : &q->tail;
  int32_t idle = weft__spsc_idle(q, pushes);
  int32_t value = idle | WEFT_SPSC_QUEUE_WAITING_BIT;
  int32_t was = weft__compare_exchange(word, idle, value);
  if (was != idle && was != value) return WEFT__NOT_EQUAL;
  return weft__sleep(word, value, deadline, WEFT__LOOK);
}
#endif
#endif

/* How many elements there are. It reads the index of the producer if the last
   known number is below `wanted`, or impossible. -EPIPE if there are none and
   the queue is closed, or -ENOTRECOVERABLE if the indices are damaged. */
static inline int32_t weft__spsc_filled(weft_spsc_queue *q, int32_t head,
                                        int32_t wanted) {
  int32_t filled = weft__minus(q->tail_cache, head) >> 2;
  if (weft__spsc_enough(q, filled, wanted)) return filled;
  int missing = weft__spsc_look(q, head);
  if (missing != 0) return missing == EBUSY ? 0 : -missing;
  return weft__minus(q->tail_cache, head) >> 2;
}

/* Closes the queue for ever. Pushes fail from now on; pops take what is left,
   and then fail. All sleepers wake. */
static inline void weft_spsc_queue_close(weft_spsc_queue *q) {
#if WEFT__SPSC_BELLS
  weft__bell_close(&q->tail_bell);
  weft__bell_wake(&q->head_bell);
#else
  int32_t *words[2] = {&q->tail, &q->head};
  for (int i = 0; i < 2; i++)
    if (weft__or(words[i], WEFT_SPSC_QUEUE_CLOSED_BIT) &
        WEFT_SPSC_QUEUE_WAITING_BIT)
      weft__spsc_wake(words[i]);
#endif
}

WEFT__END

#endif /* WEFT__SPSC_STEPS_H */
