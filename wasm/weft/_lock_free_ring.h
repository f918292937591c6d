/* _lock_free_ring.h - a ring of entries, where slots are put in and taken out.
   A queue has two of them. */
#ifndef WEFT__LOCK_FREE_RING_H
#define WEFT__LOCK_FREE_RING_H

#include "_words.h"

WEFT__BEGIN

/* The slot bits of an entry that is not FILLED, if no ticket is given out from
   here on. */
#define WEFT_LOCK_FREE_QUEUE_CLOSED 1
/* How many tickets go by between two updates of the noted tickets. */
#define WEFT__LOCK_FREE_NOTED 2

/* What a ring returns instead of a slot. */
enum {
  WEFT__LOCK_FREE_NONE = -1,
  WEFT__LOCK_FREE_OVER = -2,
  WEFT__LOCK_FREE_DAMAGED = -3
};

/* One of the two rings: its entries, and the words for its next tickets. */
typedef struct {
  int32_t *entries;
  int32_t *tail;
  int32_t *head;
  int32_t filled; /* the number of entries, and FILLED in one */
} weft__lock_free_ring;

/* The word of a ticket's entry. */
static inline int32_t *weft__lock_free_entry(weft__lock_free_ring ring,
                                             int32_t ticket) {
  return ring.entries + (ticket & (ring.filled - 1));
}

/* The entry of a ticket before it is put in. */
static inline int32_t weft__lock_free_lap(weft__lock_free_ring ring,
                                          int32_t ticket) {
  int32_t first = ticket & -ring.filled;
  return weft__plus(first, first);
}

/* How many laps `entry` is after that of `ticket`, in tickets. */
static inline int32_t weft__lock_free_ahead(weft__lock_free_ring ring,
                                            int32_t entry, int32_t ticket) {
  int32_t lap = entry & (-2 * ring.filled);
  return weft__minus(lap, weft__lock_free_lap(ring, ticket)) >> 1;
}

/* A later ticket to put in at: `entry` is no longer free for this one. */
static inline int32_t weft__lock_free_after_put(weft__lock_free_ring ring,
                                                int32_t ticket,
                                                int32_t entry) {
  uint32_t n = (uint32_t)ring.filled;
  uint32_t past =
      (uint32_t)weft__minus(entry, weft__lock_free_lap(ring, ticket));
  if (past >= n && past <= 2 * n) return weft__plus(ticket, 1); /* most often */
  int32_t ahead = weft__lock_free_ahead(ring, entry, ticket);
  if (ahead < 0) return weft__load(ring.tail); /* a stale look */
  /* The ticket of the entry itself was put in, or the one of the lap before. */
  int32_t put = entry & ring.filled ? ahead : ahead - ring.filled;
  return weft__plus(ticket, put + 1);
}

/* A later ticket to take: the `entry` of this one was taken. */
static inline int32_t weft__lock_free_after_take(weft__lock_free_ring ring,
                                                 int32_t ticket,
                                                 int32_t entry) {
  uint32_t n = (uint32_t)ring.filled;
  uint32_t past =
      (uint32_t)weft__minus(entry, weft__lock_free_lap(ring, ticket));
  if (past >= 2 * n && past < 4 * n) /* most often */
    return weft__plus(ticket, 1);
  int32_t ahead = weft__lock_free_ahead(ring, entry, ticket);
  if (ahead < 0) return weft__load(ring.head);
  if (ahead == 0) return ticket; /* put in just now */
  return weft__plus(ticket, ahead - ring.filled + 1);
}

/* Notes that all tickets before this one are done, so that others begin
   here. */
static inline void weft__lock_free_note(int32_t *note, int32_t ticket) {
  int32_t noted = weft__hint(note);
  if (weft__minus(ticket, noted) <= 0) return;
  weft__compare_exchange(note, noted, ticket);
}

/* Whether a ticket of the queue was put in and also taken. */
static inline bool weft__lock_free_is_taken(weft__lock_free_ring ring,
                                            int32_t ticket) {
  int32_t *at = weft__lock_free_entry(ring, ticket);
  /* A ticket that was taken stays taken, so only the other answer needs a
     second look. */
  return weft__lock_free_ahead(ring, weft__hint(at), ticket) > 0 ||
         weft__lock_free_ahead(ring, weft__load(at), ticket) > 0;
}

/* Puts a slot into a ring, with `ticket` or a later one. Returns 0, NONE if
   `capacity` slots are in it (a `capacity` of 0 means no limit), OVER if it is
   closed, or DAMAGED. */
static inline int32_t weft__lock_free_put(weft__lock_free_ring ring,
                                          int32_t ticket, int32_t slot,
                                          int32_t capacity) {
  for (int32_t tries = WEFT__MOST_TRIES; tries > 0; tries--) {
    int32_t *at = weft__lock_free_entry(ring, ticket);
    int32_t free = weft__lock_free_lap(ring, ticket);
    int32_t entry = weft__hint(at); /* the exchange below checks it */
    if (entry == free) {
      if (capacity > 0 &&
          !weft__lock_free_is_taken(ring, weft__minus(ticket, capacity))) {
        entry = weft__load(at); /* full, unless closed before */
        if (entry == free) return WEFT__LOCK_FREE_NONE;
      } else {
        int32_t put = free | ring.filled | slot;
        entry = weft__compare_exchange(at, free, put);
        if (entry == free) {
          if ((ticket & (WEFT__LOCK_FREE_NOTED - 1)) == 0)
            weft__lock_free_note(ring.tail, weft__plus(ticket, 1));
          return 0;
        }
      }
    }
    if (entry == (free | WEFT_LOCK_FREE_QUEUE_CLOSED))
      return WEFT__LOCK_FREE_OVER;
    ticket = weft__lock_free_after_put(ring, ticket, entry);
  }
  return WEFT__LOCK_FREE_DAMAGED;
}

/* Takes a slot out of a ring. Returns it, NONE if the ring is empty, OVER if it
   is also closed, or DAMAGED. */
static inline int32_t weft__lock_free_take(weft__lock_free_ring ring) {
  const int32_t mask = ring.filled - 1;
  int32_t tries = WEFT__MOST_TRIES;
  for (int32_t ticket = weft__hint(ring.head); tries > 0; tries--) {
    int32_t *at = weft__lock_free_entry(ring, ticket);
    int32_t free = weft__lock_free_lap(ring, ticket);
    int32_t closed = free | WEFT_LOCK_FREE_QUEUE_CLOSED;
    int32_t entry = weft__hint(at); /* what follows checks it */
    if ((entry & ~mask) == (free | ring.filled)) {
      int32_t taken = weft__plus(free, 2 * ring.filled);
      int32_t seen = weft__compare_exchange(at, entry, taken);
      if (seen == entry) {
        if ((ticket & (WEFT__LOCK_FREE_NOTED - 1)) == 0)
          weft__lock_free_note(ring.head, weft__plus(ticket, 1));
        /* A ring has one entry more than there are slots. */
        return (entry & mask) < mask ? entry & mask : WEFT__LOCK_FREE_DAMAGED;
      }
      entry = seen;
    } else if (entry == free || entry == closed) {
      entry = weft__load(at);
      if (entry == free) return WEFT__LOCK_FREE_NONE;
      if (entry == closed) return WEFT__LOCK_FREE_OVER;
    }
    ticket = weft__lock_free_after_take(ring, ticket, entry);
  }
  return WEFT__LOCK_FREE_DAMAGED;
}

/* Whether a ring has a ticket that is not taken; *front is the first one. */
static inline bool weft__lock_free_front(weft__lock_free_ring ring,
                                         int32_t *front) {
  int32_t ticket = weft__load(ring.head);
  for (int32_t tries = WEFT__MOST_TRIES; tries > 0; tries--) {
    int32_t entry = weft__load(weft__lock_free_entry(ring, ticket));
    *front = ticket;
    if (weft__lock_free_ahead(ring, entry, ticket) == 0) return true;
    ticket = weft__lock_free_after_take(ring, ticket, entry);
  }
  return false;
}

/* Whether a ring has a ticket that was not put in; *end is the first one. */
static inline bool weft__lock_free_end(weft__lock_free_ring ring,
                                       int32_t *end) {
  int32_t ticket = weft__load(ring.tail);
  for (int32_t tries = WEFT__MOST_TRIES; tries > 0; tries--) {
    int32_t entry = weft__load(weft__lock_free_entry(ring, ticket));
    int32_t state = weft__minus(entry, weft__lock_free_lap(ring, ticket));
    *end = ticket;
    if (state == 0 || state == WEFT_LOCK_FREE_QUEUE_CLOSED) return true;
    ticket = weft__lock_free_after_put(ring, ticket, entry);
  }
  return false;
}

/* Slots in a ring, or DAMAGED. If slots are taken out during each of many
   looks, it counts those only that were there at the last look. */
static inline int32_t weft__lock_free_count(weft__lock_free_ring ring) {
  int32_t front = 0, end = 0;
  if (!weft__lock_free_front(ring, &front)) return WEFT__LOCK_FREE_DAMAGED;
  for (int32_t looks = 8;; looks--) {
    int32_t was = front;
    if (!weft__lock_free_end(ring, &end) ||
        !weft__lock_free_front(ring, &front))
      return WEFT__LOCK_FREE_DAMAGED;
    /* (C) otherwise slots came and went meanwhile */
    if (front == was || looks == 1) break;
  }
  int32_t count = weft__minus(end, front);
  if (count < 0) return 0;
  return count < ring.filled ? count : ring.filled - 1;
}

WEFT__END

#endif /* WEFT__LOCK_FREE_RING_H */
