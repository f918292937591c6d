/* _inspect_parts.h - what does not fit together behind the words: the twin of
   `behind` in the PROBLEMS of each primitive. */
#ifndef WEFT_INSPECT_PARTS_H
#define WEFT_INSPECT_PARTS_H

#include "_inspect_rules.h"

#if defined(WEFT_STDIO) && !defined(WEFT_REALTIME)

WEFT__BEGIN

/* The problem of a word that names an agent. */
#define WEFT__NO_AGENT "No agent has this id."
/* The problem of a word that is 0 or 1. */
#define WEFT__NO_FLAG "It must be 0 or 1."

/* The most slots, entries or blocks that weft_inspect looks at. */
#define WEFT__MOST_PARTS (1 << 16)

static inline void weft__mpmc_queue_shows_behind(const void *at,
                                                 weft__problems *found) {
  const weft_mpmc_queue *q = (const weft_mpmc_queue *)at;
  static const char *const texts[] = {
      "",
      "An agent claimed this slot to push, and has not handed it on.",
      "An agent claimed this slot to pop, and has not handed it on.",
      "No ticket for this slot has this turn.",
  };
  int32_t tail = weft__load(&q->tail) & ~WEFT_MPMC_QUEUE_CLOSED_BIT;
  for (int32_t i = 0; i < q->capacity && i < WEFT__MOST_PARTS; i++) {
    weft__mpmc_look look = weft__mpmc_look_at(q, tail, i);
    if (look.doing == WEFT__MPMC_FINE) continue;
    weft__tell_behind(found, weft__index_of(at, look.slot), "slot", look.number,
                      look.turn, texts[look.doing],
                      look.doing != WEFT__MPMC_DAMAGED);
  }
}

static inline void weft__lock_free_queue_shows_behind(const void *at,
                                                      weft__problems *found) {
  const weft_lock_free_queue *q = (const weft_lock_free_queue *)at;
  const int32_t *all = (const int32_t *)(const void *)(q + 1);
  int32_t entries = weft__lock_free_entries(q->capacity);
  for (int32_t i = 0; i < 2 * entries && i < WEFT__MOST_PARTS; i++) {
    int32_t entry = weft__load(all + i);
    int32_t slot = entry & (entries - 1);
    /* There is one slot fewer than there are entries. */
    int32_t most = entry & entries ? entries - 2 : WEFT_LOCK_FREE_QUEUE_CLOSED;
    if (slot <= most) continue;
    weft__tell_behind(found, weft__index_of(at, all + i), "entry", i, entry,
                      "There is no such slot.", false);
  }
}

static inline void weft__record_ring_shows_behind(const void *at,
                                                  weft__problems *found) {
  const weft_record_ring *r = (const weft_record_ring *)at;
  int32_t claimant = weft__load(&r->claimant);
  if ((claimant & WEFT_RECORD_RING_OWNER_MASK) != 0 &&
      !weft_record_ring_single(r))
    weft__tell_behind(
        found, WEFT__AT(record_ring, claimant), "claimant", -1, claimant,
        "This agent makes room for a record, and has not ended.", true);
  int32_t consumer = weft__load(&r->consumer);
  if ((consumer & WEFT_RECORD_RING_OWNER_MASK) != 0 && weft_record_ring_many(r))
    weft__tell_behind(found, WEFT__AT(record_ring, consumer), "consumer", -1,
                      consumer, "This agent reads a record, and has not ended.",
                      true);
  int32_t position = weft__load(&r->head);
  int32_t tail = weft__load(&r->tail) & WEFT_RECORD_RING_POSITION_MASK;
  for (int i = 0; i < 4096; i++) {
    int32_t used = weft__minus(tail, position);
    if (used <= 0 || used > r->capacity || (position & 7) != 0) return;
    int32_t place = position & (r->capacity - 1);
    const int32_t *record = weft__record_at(r, position);
    int32_t first = weft__glance(record);
    int32_t space = weft__record_space(weft__record_length(first));
    if ((first & 3) == 0 || space > used || space > r->capacity - place) {
      weft__tell_behind(found, weft__index_of(at, record), "record at", place,
                        first, "This length or this state is impossible.",
                        false);
      return;
    }
    position = weft__plus(position, space);
  }
}

static inline void weft__broadcast_shows_behind(const void *at,
                                                weft__problems *found) {
  const weft_broadcast *b = (const weft_broadcast *)at;
  const int32_t known =
      WEFT_BROADCAST_JOINING_BIT | (WEFT_BROADCAST_JOINING_BIT - 1);
  for (int32_t i = 0; i < weft_broadcast_seats(b); i++) {
    const weft__broadcast_seat *seat = weft__broadcast_at(b, i);
    int32_t owner = weft__load(&seat->owner);
    if ((owner & ~known) != 0)
      weft__tell_behind(found, weft__index_of(at, &seat->owner), "seat", i,
                        owner, WEFT__NO_AGENT, false);
    if (owner == 0 || (owner & WEFT_BROADCAST_JOINING_BIT) != 0) continue;
    int32_t cursor = weft__load(&seat->cursor);
    int32_t tail = weft__load(&b->tail) & ~WEFT_BROADCAST_CLOSED_BIT;
    if (weft__minus(tail, cursor) >= 0 && (cursor & 1) == 0) continue;
    weft__tell_behind(found, weft__index_of(at, &seat->cursor), "seat", i,
                      cursor, "Its position is odd, or beyond `tail`.", false);
  }
}

static inline void weft__call_ring_shows_behind(const void *at,
                                                weft__problems *found) {
  const weft_call_ring *r = (const weft_call_ring *)at;
  for (int32_t i = 0; i < weft_call_ring_slots(r); i++) {
    const weft_call *call = weft__call_at(r, i);
    int32_t state = weft__load(&call->state);
    int32_t phase = weft__call_phase(state);
    if (phase != WEFT_CALL_RING_FREE && (state & WEFT_CALL_RING_ID_MASK) == 0)
      weft__tell_behind(found, weft__index_of(at, &call->state), "slot", i,
                        state, "It is in use, but names no agent.", false);
    int32_t request = weft__load(&call->request_length);
    if ((phase == WEFT_CALL_RING_POSTED || phase == WEFT_CALL_RING_SERVING ||
         phase == WEFT_CALL_RING_DROPPED) &&
        (uint32_t)request > (uint32_t)weft_call_ring_max_request(r))
      weft__tell_behind(found, weft__index_of(at, &call->request_length),
                        "slot", i, request,
                        "The request is too long for a slot.", false);
    int32_t reply = weft__load(&call->reply_length);
    if ((phase == WEFT_CALL_RING_REPLIED || phase == WEFT_CALL_RING_FAILED) &&
        (uint32_t)reply > (uint32_t)r->reply)
      weft__tell_behind(found, weft__index_of(at, &call->reply_length), "slot",
                        i, reply, "The reply is too long for a slot.",
                        false);
  }
}

static inline void weft__shape_table_shows_behind(const void *at,
                                                  weft__problems *found) {
  const weft_shape_table *t = (const weft_shape_table *)at;
  for (int32_t i = 0; i < WEFT_SHAPE_TABLE_SLOTS; i++) {
    const weft__shape_slot *slot = &weft__shape_slots(t)[i];
    int32_t state = weft__load(&slot->state);
    if (state == WEFT__SHAPE_FREE || state == WEFT__SHAPE_CLAIMED) continue;
    if (weft__shape_is_whole(t, slot->place, state)) continue;
    weft__tell_behind(found, weft__index_of(at, &slot->place), "slot", i,
                      slot->place, "No text of a shape is there.", false);
  }
}

static inline void weft__slab_pool_shows_behind(const void *at,
                                                weft__problems *found) {
  weft_slab_pool *p = (weft_slab_pool *)(uintptr_t)at;
  const int32_t known =
      WEFT_SLAB_POOL_CACHED_BIT | (WEFT_SLAB_POOL_CACHED_BIT - 1);
  for (int32_t i = 0; i < p->capacity && i < WEFT__MOST_PARTS; i++) {
    const int32_t *word = weft__slab_owner(p, i);
    int32_t owner = weft__load(word);
    if ((owner & ~known) == 0 && owner != WEFT_SLAB_POOL_CACHED_BIT) continue;
    weft__tell_behind(found, weft__index_of(at, word), "block", i, owner,
                      WEFT__NO_AGENT, false);
  }
}

/* Tells of a stripe, if its words are not those of a sum. */
static inline void weft__stripe_shows(const void *at, weft__problems *found,
                                      int32_t i, const weft__stripe *sum) {
  if (weft__stripe_is_sum(sum)) return;
  weft__tell_behind(found, weft__index_of(at, &sum->high), "stripe", i,
                    weft__load(&sum->high),
                    "It does not fit the sum in `low`.", false);
}

/* What only a cache has. */
static inline void weft__hash_clock_shows(const weft_hash_map *m,
                                          const weft__hash_plan *plan,
                                          weft__problems *found) {
  for (int32_t i = 0; i < plan->capacity && i < WEFT__MOST_PARTS; i++) {
    const int32_t *used = weft__hash_entry(m, plan, i + 1) + plan->key - 1;
    int32_t word = weft__load(used);
    if (word != 0 && word != 1)
      weft__tell_behind(found, weft__index_of(m, used), "entry", i + 1, word,
                        WEFT__NO_FLAG, false);
  }
  for (int32_t i = 0; i < WEFT__HASH_STRIPES; i++) {
    const weft__hash_stripe *stripe = weft__hash_stripes(m, plan) + i;
    weft__stripe_shows(m, found, i, &stripe->hits);
    weft__stripe_shows(m, found, i, &stripe->misses);
    weft__stripe_shows(m, found, i, &stripe->evictions);
  }
}

/* The blocks. */
static inline void weft__hash_heap_shows(const weft_hash_map *m,
                                         const weft__hash_plan *plan,
                                         weft__problems *found) {
  weft__heap heap = weft__hash_heap_of(m, plan);
  for (int32_t i = 0; i < heap.count && i < WEFT__MOST_PARTS; i++) {
    const int32_t *block = weft__heap_at(&heap, i + 1);
    int32_t owner = weft__load(block + WEFT__HEAP_OWNER);
    if (owner < 0 || owner > plan->buckets)
      weft__tell_behind(found, weft__index_of(m, block), "block", i + 1, owner,
                        "There is no such bucket.", false);
    /* The word of a block that is free says nothing. */
    int32_t next = weft__load(block + WEFT__HEAP_NEXT);
    if (owner != 0 && (next < 0 || next > heap.count))
      weft__tell_behind(found, weft__index_of(m, block + WEFT__HEAP_NEXT),
                        "block", i + 1, next, "There is no such block.", false);
  }
}

static inline void weft__hash_map_shows_behind(const void *at,
                                               weft__problems *found) {
  const weft_hash_map *m = (const weft_hash_map *)at;
  weft__hash_plan plan = weft__hash_plan_of(m);
  for (int32_t i = 0; i < WEFT__HASH_GROUPS; i++) {
    const int32_t *word = (const int32_t *)(const void *)(m + 1) + 2 * i + 1;
    int32_t waiters = weft__load(word);
    if ((waiters & 0x40000000) == 0) continue;
    weft__tell_behind(found, weft__index_of(at, word), "waiters", i, waiters,
                      "There are fewer than 0 waiters.", false);
  }
  for (int32_t i = 0; i < weft__hash_flights(m->capacity); i++) {
    const int32_t *flight = weft__hash_flight(m, i);
    int32_t owner = weft__load(flight);
    if (owner >= 0 && owner <= WEFT_MUTEX_OWNER_MASK) continue;
    weft__tell_behind(found, weft__index_of(at, flight), "flight", i, owner,
                      WEFT__NO_AGENT, false);
  }
  for (int32_t i = 0; i < plan.buckets && i < WEFT__MOST_PARTS; i++) {
    const weft__hash_bucket *bucket = weft__hash_bucket_at(m, i);
    int32_t lock = weft__load(&bucket->lock.state);
    if (lock < 0)
      weft__tell_behind(found, weft__index_of(at, &bucket->lock.state),
                        "bucket", i, lock, "Bit 31 is never set.", false);
    int32_t head = weft__load(&bucket->head);
    if (head < 0 || head > plan.capacity)
      weft__tell_behind(found, weft__index_of(at, &bucket->head), "bucket", i,
                        head, "There is no such entry.", false);
  }
  for (int32_t i = 0; i < plan.capacity && i < WEFT__MOST_PARTS; i++) {
    const int32_t *entry = weft__hash_entry(m, &plan, i + 1);
    int32_t link = weft__load(entry);
    int32_t next = link & WEFT__HASH_NEXT_MASK;
    if (link == 0) continue;
    const char *text = NULL;
    if (link < 0) {
      int32_t id = link & ~WEFT__HASH_CLAIMED_BIT;
      if (id == 0 || id > WEFT_MUTEX_OWNER_MASK) text = WEFT__NO_AGENT;
    } else if (link == next || next > plan.capacity) {
      text = "There is no such entry.";
    }
    if (text != NULL)
      weft__tell_behind(found, weft__index_of(at, entry), "entry", i + 1, link,
                        text, false);
  }
  if (plan.evicts) weft__hash_clock_shows(m, &plan, found);
  if (plan.blocks != 0) weft__hash_heap_shows(m, &plan, found);
  bool fits = plan.expires ? m->ttl >= 1 && m->ttl <= WEFT__HASH_MOST_TTL
                           : m->ttl == 0;
  weft__tell(found, !fits, WEFT__AT(hash_map, ttl),
             "It does not fit the word `sizes`.");
}

static inline void weft__striped_counter_shows_behind(const void *at,
                                                      weft__problems *found) {
  const weft_striped_counter *c = (const weft_striped_counter *)at;
  const weft_striped_counter_stripe *stripes =
      (const weft_striped_counter_stripe *)(const void *)(c + 1);
  for (int32_t i = 0; i < c->stripes; i++)
    weft__stripe_shows(at, found, i, &stripes[i].sum);
}

WEFT__END

#endif

#endif /* WEFT_INSPECT_PARTS_H */
