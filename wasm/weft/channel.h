/* channel.h - the twin of primitives/channel.ts. */
#ifndef WEFT_CHANNEL_H
#define WEFT_CHANNEL_H

#include "_channel_plan.h"
#include "_handoff.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* What its messages are: WEFT_CHANNEL_BINARY and so on. */
static inline int32_t weft_channel_codec(const weft_channel *c) {
  return c->codec;
}

/* The table of the shapes of objects, with which weft_value_open and
   weft_value_begin read and write messages of VALUE; NULL if its messages are
   others. */
static inline weft_shape_table *weft_channel_shapes(const weft_channel *c) {
  return c->codec == WEFT_CHANNEL_VALUE ? weft__channel_shapes(c) : NULL;
}

/* How many messages may be in it: fewer of long ones fit. */
static inline int32_t weft_channel_capacity(const weft_channel *c) {
  if (weft__channel_hands(c)) return 0;
  if (weft__channel_sized(c->codec))
    return weft_mpmc_queue_capacity(weft__channel_queue(c));
  return weft_record_ring_most(weft__channel_ring(c));
}

/* The most bytes of a message. */
static inline int32_t weft_channel_max_length(const weft_channel *c) {
  if (weft__channel_hands(c))
    return weft__channel_sized(c->codec) ? c->place : c->place - 4;
  return weft__channel_sized(c->codec)
             ? weft_mpmc_queue_element_size(weft__channel_queue(c))
             : weft_record_ring_max_length(weft__channel_ring(c));
}

/* Whether close was called; messages may still be in the channel. */
static inline bool weft_channel_closed(const weft_channel *c) {
  if (weft__channel_hands(c))
    return weft__handoff_closed(c);
  return weft__channel_sized(c->codec)
             ? weft_mpmc_queue_closed(weft__channel_queue(c))
             : weft_record_ring_closed(weft__channel_ring(c));
}

/* An element is as long as a message, or longer by the padding of a struct. */
static inline WEFT__RESULT int weft__channel_try_push(weft_mpmc_queue *q,
                                                      const void *src,
                                                      int32_t length) {
  int32_t ticket = 0;
  if (weft__channel_padded(length) != q->element_size) return EINVAL;
  int32_t count = weft__mpmc_claim_push(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  int32_t *slot = weft__mpmc_slot(q, ticket);
  int32_t *element = slot + WEFT__MPMC_ELEMENT;
  element[q->element_size / 4 - 1] = 0;           /* the padding */
  __builtin_memcpy(element, src, (size_t)length); /* published by (P) */
  weft__mpmc_publish(slot, ticket);
  weft__event_wake_end(&q->pop_epoch, 1);
  return 0;
}

static inline WEFT__RESULT int weft__channel_try_pop(weft_mpmc_queue *q,
                                                     void *dst,
                                                     int32_t *length) {
  int32_t ticket = 0;
  if (weft__channel_padded(*length) < q->element_size) return EINVAL;
  int32_t count = weft__mpmc_claim_pop(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  if (*length > q->element_size) *length = q->element_size;
  int32_t *slot = weft__mpmc_slot(q, ticket);
  const int32_t *element = slot + WEFT__MPMC_ELEMENT;
  __builtin_memcpy(dst, element, (size_t)*length); /* published by (P) */
  weft__mpmc_free(q, slot, ticket);
  weft__event_wake_end(&q->push_epoch, 1);
  return 0;
}

static inline int weft__channel_push(weft_mpmc_queue *q, const void *src,
                                     int32_t length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft__channel_try_push(q, src, length), &q->push_epoch,
                    weft__mpmc_pass_push(q), timeout);
}

static inline int weft__channel_pop(weft_mpmc_queue *q, void *dst,
                                    int32_t *length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft__channel_try_pop(q, dst, length), &q->pop_epoch,
                    weft__mpmc_pass_pop(q), timeout);
}

/* Writes a message into the place of a channel of capacity 0, and hands it on;
   see weft__handoff_publish. EINVAL if it is too long, or has the wrong size.
   */
static inline int weft__channel_hand(weft_channel *c, const void *src,
                                     int32_t length, bool posts, bool *posted,
                                     int32_t *number) {
  int32_t *place = weft__channel_place(c);
  bool sized = weft__channel_sized(c->codec);
  if (sized ? weft__channel_padded(length) != c->place
            : length < 0 || length > c->place - 4)
    return EINVAL;
  int result = weft__handoff_claim(c, posts);
  if (result != 0) return result;
  if (!sized) weft__handoff_put(place++, &length, 4);
  weft__handoff_put(place, src, length); /* published by (P) */
  return weft__handoff_publish(c, posts, posted, number);
}

static inline int weft__channel_post(weft_channel *c, const void *src,
                                     int32_t length, bool *posted,
                                     int32_t *number, int64_t timeout) {
  WEFT__EVENT_BLOCK_LAST(
      weft__channel_hand(c, src, length, true, posted, number), EBUSY,
      &c->room_epoch, (void)0, weft__handoff_pass(c), timeout, -1);
}

/* The send of a channel of capacity 0: posts the message, and waits until it is
   taken. */
static inline int weft__channel_hand_over(weft_channel *c, const void *src,
                                          int32_t length, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int64_t deadline = weft__deadline(timeout);
  bool posted = false;
  int32_t number = 0;
  int result = weft__channel_post(c, src, length, &posted, &number, timeout);
  if (result != 0 || !posted) return result;
  return weft__handoff_taken(c, number, timeout, deadline);
}

/* Moves the message in the place of a channel of capacity 0 to `dst`. */
static inline int weft__channel_take(weft_channel *c, void *dst,
                                     int32_t *length, int32_t *since) {
  int32_t room = *length;
  bool sized = weft__channel_sized(c->codec);
  if (sized ? weft__channel_padded(room) < c->place : room < c->place - 4)
    return EINVAL;
  for (;;) {
    int32_t state = 0;
    int result = weft__handoff_look_in(c, *since, &state);
    if (result != 0) return result;
    const int32_t *place = weft__channel_place(c);
    int32_t size = c->place;
    if (!sized) {
      weft__handoff_get(&size, place++, 4);
      if (size < 0 || size > c->place - 4) size = c->place - 4;
    } else if (size > room) {
      size = room;
    }
    /* A sender may write meanwhile; then (T) fails. Published by (P). */
    weft__handoff_get(dst, place, size);
    *length = size;
    if (weft__handoff_take(c, since, state)) return 0;
    *length = room;
  }
}

/* The same, and offers to take one if there is none. */
static inline int weft__channel_take_or_offer(weft_channel *c, void *dst,
                                              int32_t *length, int32_t *since) {
  int result = weft__channel_take(c, dst, length, since);
  if (result == EBUSY) weft__handoff_offer(c, since);
  return result;
}

/* Ends the wait of a receiver, with this result: if it gives up, it takes its
   offer back, or what that brought. */
static inline int weft__channel_settle(weft_channel *c, void *dst,
                                       int32_t *length, int32_t *since,
                                       int result) {
  while (result == ETIMEDOUT && *since >= 0) {
    int32_t state = weft__load(&c->handoff);
    if (weft__handoff_phase(state) != WEFT__HANDOFF_EMPTY &&
        !weft__handoff_offered(state)) {
      int taken = weft__channel_take(c, dst, length, since);
      if (taken != EBUSY) result = taken;
    } else {
      weft__handoff_retract(c, since, state);
    }
  }
  weft__handoff_end(c, since);
  return result;
}

static inline int weft__channel_take_waiting(weft_channel *c, void *dst,
                                             int32_t *length,
                                             int64_t timeout) {
  int32_t since = WEFT__HANDOFF_NONE;
  WEFT__EVENT_BLOCK_OR(weft__channel_take_or_offer(c, dst, length, &since),
                       &c->message_epoch, (void)0,
                       result = weft__channel_settle(c, dst, length, &since,
                                                     result),
                       timeout, -1);
}

/* Sends the `length` bytes at `src` without waiting. Returns 0, EBUSY if there
   is no room for them (or, if the capacity is 0, no receiver that waits), EPIPE
   if the channel was closed, or EINVAL if length is more than max_length, or is
   wrong where all messages have one size. */
static inline WEFT__RESULT int weft_channel_try_send(weft_channel *c,
                                                     const void *src,
                                                     int32_t length) {
  if (weft__channel_hands(c)) {
    bool posted = false;
    int32_t number = 0;
    return weft__channel_hand(c, src, length, false, &posted, &number);
  }
  return weft__channel_sized(c->codec)
             ? weft__channel_try_push(weft__channel_queue(c), src, length)
             : weft_record_ring_try_push(weft__channel_ring(c), src, length);
}

/* Does the same as try_send, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_channel_send(weft_channel *c, const void *src,
                                    int32_t length, int64_t timeout) {
  if (weft__channel_hands(c))
    return weft__channel_hand_over(c, src, length, timeout);
  return weft__channel_sized(c->codec)
             ? weft__channel_push(weft__channel_queue(c), src, length, timeout)
             : weft_record_ring_push(weft__channel_ring(c), src, length,
                                     timeout);
}

/* Moves the oldest message to `dst`, which has `*length` bytes, and writes its
   length to *length. Returns 0, EBUSY if there is none, EPIPE if the channel
   was closed and is empty, or EINVAL if the message is longer than `dst`; then
   it stays. If the capacity is 0, `dst` must have max_length bytes. */
static inline WEFT__RESULT int weft_channel_try_receive(weft_channel *c,
                                                        void *dst,
                                                        int32_t *length) {
  if (weft__channel_hands(c)) {
    int32_t since = WEFT__HANDOFF_NONE;
    return weft__channel_take(c, dst, length, &since);
  }
  return weft__channel_sized(c->codec)
             ? weft__channel_try_pop(weft__channel_queue(c), dst, length)
             : weft_record_ring_try_pop(weft__channel_ring(c), dst, length);
}

/* Does the same as try_receive, but blocks up to `timeout` ns for a message;
   then ETIMEDOUT. */
static inline int weft_channel_receive(weft_channel *c, void *dst,
                                       int32_t *length, int64_t timeout) {
  if (weft__channel_hands(c))
    return weft__channel_take_waiting(c, dst, length, timeout);
  return weft__channel_sized(c->codec)
             ? weft__channel_pop(weft__channel_queue(c), dst, length, timeout)
             : weft_record_ring_pop(weft__channel_ring(c), dst, length,
                                    timeout);
}

/* Whether messages can be written and read in place: not if all have one size.
   JavaScript does so with the codec BINARY. Nor if the capacity is 0. */
#define WEFT__CHANNEL_IN_PLACE(c, operation)                   \
  (weft__channel_sized((c)->codec) || weft__channel_hands(c) ? EINVAL \
                                                             : (operation))

/*
 * Reserves room for a message of `length` bytes, at *at. Write the bytes there,
 * then commit or cancel; until then the messages of others that follow wait for
 * it, too. Returns 0, EBUSY if there is no room, EPIPE if the channel was
 * closed, or EINVAL if length is not 0 to max_length, or all messages have one
 * size.
 */
static inline WEFT__RESULT int weft_channel_try_reserve(weft_channel *c,
                                                        int32_t length,
                                                        void **at) {
  return WEFT__CHANNEL_IN_PLACE(
      c, weft_record_ring_reserve(weft__channel_ring(c), length, at));
}

static inline int weft__channel_reserve(weft_record_ring *r, int32_t length,
                                        void **at, int64_t timeout) {
  WEFT__EVENT_BLOCK_OR(weft_record_ring_reserve(r, length, at), &r->push_epoch,
                       weft__record_hand_room_on(r), weft__record_pass_push(r),
                       timeout, -1);
}

/* Does the same as try_reserve, but blocks up to `timeout` ns for room; then
   ETIMEDOUT. */
static inline int weft_channel_reserve(weft_channel *c, int32_t length,
                                       void **at, int64_t timeout) {
  return WEFT__CHANNEL_IN_PLACE(
      c, weft__channel_reserve(weft__channel_ring(c), length, at, timeout));
}

/* Sends the message reserved at `at`, or its first `length` bytes; EINVAL if
   that is more than was reserved, EPIPE if the channel has one sender and is
   closed. */
static inline int weft_channel_commit(weft_channel *c, void *at,
                                      int32_t length) {
  return weft_record_ring_commit(weft__channel_ring(c), at, length);
}

/* Gives up the message reserved at `at`. */
static inline void weft_channel_cancel(weft_channel *c, void *at) {
  weft_record_ring_cancel(weft__channel_ring(c), at);
}

static inline WEFT__RESULT int weft__channel_try_peek(weft_record_ring *r,
                                                      const void **at,
                                                      int32_t *length) {
  int32_t *record = NULL;
  int result = weft__record_oldest(r, &record);
  if (result != 0) return result;
  *length = weft__record_length(weft__load(record));
  *at = record + 2;
  return 0;
}

static inline int weft__channel_peek(weft_record_ring *r, const void **at,
                                     int32_t *length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft__channel_try_peek(r, at, length), &r->pop_epoch,
                    weft__record_pass_pop(r), timeout);
}

/* Shows the oldest message where it lies: *at, *length. Read it, then consume;
   receive nothing else meanwhile. Returns 0, EBUSY if there is none, EPIPE if
   the channel was closed and is empty, or EINVAL if all messages have one
   size. */
static inline WEFT__RESULT int weft_channel_try_peek(weft_channel *c,
                                                     const void **at,
                                                     int32_t *length) {
  return WEFT__CHANNEL_IN_PLACE(
      c, weft__channel_try_peek(weft__channel_ring(c), at, length));
}

/* Does the same as try_peek, but blocks up to `timeout` ns for a message; then
   ETIMEDOUT. */
static inline int weft_channel_peek(weft_channel *c, const void **at,
                                    int32_t *length, int64_t timeout) {
  return WEFT__CHANNEL_IN_PLACE(
      c, weft__channel_peek(weft__channel_ring(c), at, length, timeout));
}

/* Removes the message that was peeked at. */
static inline void weft_channel_consume(weft_channel *c) {
  weft_record_ring_consume(weft__channel_ring(c));
}

/* Closes the channel for ever. Sending fails from now on; receiving takes what
   is left, and then fails. All sleepers wake. */
static inline void weft_channel_close(weft_channel *c) {
  if (weft__channel_hands(c))
    weft__handoff_close(c);
  else if (weft__channel_sized(c->codec))
    weft_mpmc_queue_close(weft__channel_queue(c));
  else
    weft_record_ring_close(weft__channel_ring(c));
}

/* How many there are of a counted end. */
static inline int32_t weft__channel_count(const weft_channel *c,
                                          const int32_t *counted) {
  if (c->tracked == 0) return 0;
  return WEFT__TRACKED_MAX - weft__tracked_count(weft__load(counted));
}

/* How many senders there are; 0 if the channel does not count them. */
static inline int32_t weft_channel_senders(const weft_channel *c) {
  return weft__channel_count(c, &c->senders);
}

/* How many receivers there are; 0 if the channel does not count them. */
static inline int32_t weft_channel_receivers(const weft_channel *c) {
  return weft__channel_count(c, &c->receivers);
}

static inline int weft__channel_enter(weft_channel *c, const weft__tracked *end,
                                      int32_t bit) {
  int result = weft__tracked_take(end, 1);
  if (result != 0) return result;
  /* (S) Whoever finds the bit set finds this agent counted, too. */
  if ((weft__load(&c->ends) & bit) == 0) weft__or(&c->ends, bit);
  return 0;
}

/* (L) Closes the channel if nobody was left just after this agent left. */
static inline int weft__channel_leave(weft_channel *c,
                                      const weft__tracked *end) {
  int32_t count = 0;
  int result = weft__tracked_give(end, 1, &count);
  if (result == 0 && count == WEFT__TRACKED_MAX) weft_channel_close(c);
  return result;
}

/*
 * Counts this agent as a sender, until weft_channel_leave_sender. When the last
 * sender has left, the channel closes for good: receivers get what is left, and
 * then EPIPE. So make the next sender before the last one leaves. An agent may
 * be several, and it may send without one, which nobody counts. Returns 0,
 * EPIPE if the channel is closed, EINVAL if it was made without `tracked` or
 * all rows are taken, EBUSY if there are 2047, or ENOTRECOVERABLE.
 */
static inline int weft_channel_sender(weft_channel *c) {
  if (c->tracked == 0) return EINVAL;
  weft__tracked end = weft__channel_senders(c);
  int result = weft__channel_enter(c, &end, WEFT_CHANNEL_SENT_BIT);
  if (result != 0 || !weft_channel_closed(c)) return result;
  result = weft__channel_leave(c, &end);
  return result == 0 ? EPIPE : result;
}

/* Ends one sender that this agent is: 0, EPERM if it is not one, EINVAL or
   ENOTRECOVERABLE. */
static inline int weft_channel_leave_sender(weft_channel *c) {
  if (c->tracked == 0) return EINVAL;
  weft__tracked end = weft__channel_senders(c);
  return weft__channel_leave(c, &end);
}

/*
 * Counts this agent as a receiver, until weft_channel_leave_receiver. When the
 * last receiver has left, the channel closes for good: every send, also one
 * that waits, returns EPIPE. A closed channel has receivers, too: they take
 * what is left. Returns as weft_channel_sender, but never EPIPE.
 */
static inline int weft_channel_receiver(weft_channel *c) {
  if (c->tracked == 0) return EINVAL;
  weft__tracked end = weft__channel_receivers(c);
  return weft__channel_enter(c, &end, WEFT_CHANNEL_RECEIVED_BIT);
}

/* Ends one receiver that this agent is: as weft_channel_leave_sender. */
static inline int weft_channel_leave_receiver(weft_channel *c) {
  if (c->tracked == 0) return EINVAL;
  weft__tracked end = weft__channel_receivers(c);
  return weft__channel_leave(c, &end);
}

static inline int32_t weft__channel_abandon_end(weft_channel *c,
                                                const weft__tracked *end,
                                                int32_t bit, int32_t id) {
  int32_t left = weft__tracked_abandon(end, id);
  if (left < 0) return left;
  /* Pairs with (S). An agent that was terminated before it never had one. */
  bool were = (weft__load(&c->ends) & bit) != 0;
  if (were && weft__channel_count(c, end->counted) == 0) weft_channel_close(c);
  return left;
}

/*
 * Ends the counted senders and receivers of agent `id`; returns how many those
 * were, or -ENOTRECOVERABLE. The last agent that left may have been terminated
 * before it closed the channel, so this closes it even if the agent has none.
 */
static inline int32_t weft__channel_abandon_ends(weft_channel *c, int32_t id) {
  if (c->tracked == 0 || id == 0) return 0;
  weft__tracked end = weft__channel_senders(c);
  int32_t sum = weft__channel_abandon_end(c, &end, WEFT_CHANNEL_SENT_BIT, id);
  if (sum < 0) return sum;
  end = weft__channel_receivers(c);
  int32_t left =
      weft__channel_abandon_end(c, &end, WEFT_CHANNEL_RECEIVED_BIT, id);
  return left < 0 ? left : sum + left;
}

/*
 * Ends the messages that agent `id` had begun to send, and its counted ends.
 * Call it only when that agent will never run again. Returns how many those
 * were. -EBUSY, and nothing done, if another agent is sending now: call it
 * again. If that answer never ends, another agent has ended, too: pass both to
 * weft_recover. If all messages have one size, it cannot end any, unless the
 * capacity is 0.
 */
static inline int32_t weft_channel_abandon(weft_channel *c, int32_t id) {
  int32_t skipped =
      weft__channel_hands(c)
          ? weft__handoff_abandon(c, id)
      : weft__channel_sized(c->codec)
          ? 0
          : weft_record_ring_abandon(weft__channel_ring(c), id);
  if (skipped < 0) return skipped;
  int32_t left = weft__channel_abandon_ends(c, id);
  return left < 0 ? left : skipped;
}

WEFT__END

#endif

#endif /* WEFT_CHANNEL_H */
