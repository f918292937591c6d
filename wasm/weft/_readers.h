/* _readers.h - twin of primitives/_lock/readers.ts, which explains the rows. */
#ifndef WEFT__READERS_H
#define WEFT__READERS_H

#include "_tracked.h"

WEFT__BEGIN

/* In `reads` of a row. */
#define WEFT__READING_MASK 0x3ff /* READER_BITS.READING */
#define WEFT__ONE_PENDING (1 << 10) /* READER_BITS.PENDING */
#define WEFT__PENDING_SHIFT 10 /* READER_BITS.PENDING */
#define WEFT__PHASE_SHIFT 20 /* READER_BITS.PHASE */
#define WEFT__PHASE_MASK 0xfff /* READER_BITS.PHASE, shifted */

/* How often one agent can read, or wait to. */
#define WEFT__MAX_READS 0x3ff /* READER_BITS.READING */

/* The row of an agent that reads. */
typedef struct {
  int32_t agent; /* its id, or 0 */
  int32_t reads; /* how often it reads and waits to, and in which phase */
  int32_t _pad[30];
} weft__reader;

/* All of them. */
typedef struct {
  weft__reader *rows;
  int32_t agents;
} weft__readers;

/* The row of the agent `id`, or NULL. */
static inline weft__reader *weft__reader_find(const weft__readers *r,
                                              int32_t id) {
  int32_t row = weft__row_find(&r->rows[0].agent, r->agents, id);
  return row < 0 ? NULL : &r->rows[row];
}

/* This agent's row, with room to read once more. It takes one if it has none;
   NULL if all are taken, or there is no room. */
static inline weft__reader *weft__reader_room(const weft__readers *r) {
  int32_t row = weft__row_own(&r->rows[0].agent, r->agents);
  if (row < 0) return NULL;
  int32_t reads = weft__hint(&r->rows[row].reads); /* this agent wrote it */
  int32_t pending = reads >> WEFT__PENDING_SHIFT & WEFT__READING_MASK;
  bool room = (reads & WEFT__READING_MASK) + pending < WEFT__MAX_READS;
  return room ? &r->rows[row] : NULL;
}

/* Whether agents that were pending with these `reads` have been let in. */
static inline bool weft__reader_is_in(int32_t reads, int32_t gate) {
  return ((reads >> WEFT__PHASE_SHIFT ^ gate >> 1) & WEFT__PHASE_MASK) != 0;
}

/* How often the agent with these `reads` reads in this phase of the gate. */
static inline int32_t weft__reading_of(int32_t reads, int32_t gate) {
  int32_t pending = reads >> WEFT__PENDING_SHIFT & WEFT__READING_MASK;
  return (reads & WEFT__READING_MASK) +
         (weft__reader_is_in(reads, gate) ? pending : 0);
}

/* The same `reads`, with what was let in no longer pending. */
static inline int32_t weft__reader_settled(int32_t reads, int32_t gate) {
  if (!weft__reader_is_in(reads, gate)) return reads;
  uint32_t phase = (uint32_t)(gate >> 1 & WEFT__PHASE_MASK);
  return (int32_t)((uint32_t)weft__reading_of(reads, gate) |
                   phase << WEFT__PHASE_SHIFT);
}

/* A row whose agent reads in this phase of the gate, or NULL. */
static inline weft__reader *weft__reader_blocking(const weft__readers *r,
                                                  int32_t gate) {
  for (int32_t row = 0; row < r->agents; row++)
    if (weft__reading_of(weft__load(&r->rows[row].reads), gate) > 0)
      return &r->rows[row];
  return NULL;
}

/* How often agents read. */
static inline int32_t weft__reader_count(const weft__readers *r, int32_t gate) {
  int32_t sum = 0;
  for (int32_t row = 0; row < r->agents; row++)
    sum += weft__reading_of(weft__load(&r->rows[row].reads), gate);
  return sum;
}

WEFT__END

#endif /* WEFT__READERS_H */
