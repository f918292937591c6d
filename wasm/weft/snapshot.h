/* snapshot.h - the twin of primitives/snapshot.ts. */
#ifndef WEFT_SNAPSHOT_H
#define WEFT_SNAPSHOT_H

#include "_region.h"
#include "agent.h"

WEFT__BEGIN

/* With one reader, `state` names the middle copy and the copy of the reader. */
#define WEFT_SNAPSHOT_MIDDLE_MASK 3 /* SNAPSHOT_BITS.MIDDLE */
#define WEFT_SNAPSHOT_FRONT_SHIFT 2 /* SNAPSHOT_BITS.FRONT */
/* The middle copy is newer than the copy of the reader. */
#define WEFT_SNAPSHOT_NEW_BIT (1 << 4) /* SNAPSHOT_BITS.NEW */
#define WEFT_SNAPSHOT_VERSION_SHIFT 5 /* SNAPSHOT_BITS.VERSION */
#define WEFT__SNAPSHOT_ONE_VERSION (1 << 5) /* SNAPSHOT_BITS.VERSION */
/* The middle copy is 1 and the reader has 0, so the writer has 2. */
#define WEFT__SNAPSHOT_FIRST 1
#define WEFT__SNAPSHOT_MAX_SIZE (1 << 28)

/* The configuration of a snapshot: `size` bytes, a multiple of 4 up to 2^28.
   Set `single_reader` if only one agent reads: it is faster. */
typedef struct {
  int32_t size;
  bool single_reader;
} weft_snapshot_config;

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * The latest value of some bytes.
 *
 * word 0   magic          Kind and layout version.
 * word 1   size           Bytes of the value, a multiple of 4.
 * word 2   single_reader  1 if there is one reader.
 * word 3   seal           Check word over the configuration.
 * word 32  state          How many values were written. With `single_reader`:
 *                         bits 0-1   the middle copy
 *                         bits 2-3   the reader's copy
 *                         bit 4      NEW: the middle copy is newer than the
 *                                    reader's
 *                         bits 5-31  how many values were written, modulo 2^27
 * word 33  writer         The agent that writes, from its first value on, or 0.
 * word 34  reader         With `single_reader`, the agent that reads, from its
 *                         first look on, or 0.
 * word 64  Copies of the value, each padded to a multiple of 128 bytes. Without
 *          `single_reader` there are two: value number `v` lies in copy `v mod
 *          2`. With it there are three, and `state` names them.
 *
 * Freed when: every operation of every agent has returned, and none will begin.
 */
typedef struct {
  int32_t magic;
  int32_t size;
  int32_t single_reader;
  int32_t seal;
  int32_t _pad0[28];
  int32_t state;
  int32_t writer;
  int32_t reader;
  int32_t _pad1[29];
} weft_snapshot;
WEFT_WORD(snapshot, magic, 0);
WEFT_WORD(snapshot, size, 1);
WEFT_WORD(snapshot, single_reader, 2);
WEFT_WORD(snapshot, seal, 3);
WEFT_WORD(snapshot, state, 32);
WEFT_WORD(snapshot, writer, 33);
WEFT_WORD(snapshot, reader, 34);
WEFT_LENGTH(snapshot, 64);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* Words from copy to copy. */
static inline size_t weft__snapshot_stride(int32_t size) {
  return ((size_t)size + 127) / 128 * 32;
}

/* The bytes of a snapshot as a constant expression; 0 if out of range. */
#define WEFT_SNAPSHOT_BYTES(size, single_reader)                     \
  ((size) < 4 || (size) > WEFT__SNAPSHOT_MAX_SIZE || (size) % 4 != 0 \
       ? 0                                                           \
       : sizeof(weft_snapshot) +                                     \
             ((single_reader) ? 3ull : 2ull) * WEFT__MULTIPLE(size, 128))

/* The bytes of a snapshot of this configuration; 0 if it is out of range. */
static inline size_t weft_snapshot_bytes(weft_snapshot_config config) {
  return (size_t)WEFT_SNAPSHOT_BYTES((uint32_t)config.size,
                                     config.single_reader);
}

/* The snapshot at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_snapshot *weft_snapshot_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_snapshot) != NULL) return NULL;
  return (weft_snapshot *)at;
}

/* Initializes `bytes` bytes of unused memory as a snapshot whose value is all
   zero. NULL if the configuration is out of range, the bytes are too few, or
   `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_snapshot *weft_snapshot_init(
    void *at, size_t bytes, weft_snapshot_config config) {
  weft_snapshot *s = (weft_snapshot *)at;
  size_t needed = weft_snapshot_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  s->size = config.size;
  s->single_reader = config.single_reader ? 1 : 0;
  s->seal = weft__seal(WEFT_KIND_snapshot, s->size, s->single_reader);
  s->state = config.single_reader ? WEFT__SNAPSHOT_FIRST : 0;
  weft__store(&s->magic, weft__magic(WEFT_KIND_snapshot));
  return s;
}

/* Bytes of the value. */
static inline int32_t weft_snapshot_size(const weft_snapshot *s) {
  return s->size;
}

/* Whether only one agent may read. */
static inline bool weft_snapshot_single_reader(const weft_snapshot *s) {
  return s->single_reader != 0;
}

static inline int32_t weft__snapshot_version_of(const weft_snapshot *s,
                                                int32_t state) {
  return s->single_reader
             ? (int32_t)((uint32_t)state >> WEFT_SNAPSHOT_VERSION_SHIFT)
             : state & 0x07ffffff;
}

/* How many values were written, modulo 2^27. */
static inline int32_t weft_snapshot_version(const weft_snapshot *s) {
  return weft__snapshot_version_of(s, weft__load(&s->state));
}

static inline int32_t *weft__snapshot_copy(weft_snapshot *s, int32_t number) {
  return (int32_t *)(s + 1) + (size_t)number * weft__snapshot_stride(s->size);
}

/* The state in which copy `mine` is the middle one and new. */
static inline int32_t weft__snapshot_written(int32_t state, int32_t mine) {
  int32_t front = state & 3 << WEFT_SNAPSHOT_FRONT_SHIFT;
  int32_t version = weft__plus(state & -WEFT__SNAPSHOT_ONE_VERSION,
                               WEFT__SNAPSHOT_ONE_VERSION);
  return version | WEFT_SNAPSHOT_NEW_BIT | front | mine;
}

/* Whether the copies of the reader, the middle and the writer are three
   different ones. A damaged state may name a copy twice, or one that does not
   exist. */
static inline bool weft__snapshot_is_whole(int32_t state) {
  int32_t middle = state & WEFT_SNAPSHOT_MIDDLE_MASK;
  int32_t front = state >> WEFT_SNAPSHOT_FRONT_SHIFT & 3;
  return middle != front && middle < 3 && front < 3;
}

/* write of the agent that is the writer. */
static inline int weft__snapshot_write(weft_snapshot *s, const void *src) {
  const int32_t *from = (const int32_t *)src;
  int32_t count = s->size / 4;
  int32_t state = weft__hint(&s->state); /* ours; if not, the exchange fails */
  if (!s->single_reader) {
    int32_t next = weft__plus(state, 1);
    int32_t *at = weft__snapshot_copy(s, next & 1);
    for (int32_t i = 0; i < count; i++)
      weft__store(at + i, from[i]); /* published by (V) */
    weft__store(&s->state, next);   /* (V) */
    return 0;
  }
  if (!weft__snapshot_is_whole(state)) return ENOTRECOVERABLE;
  /* The reader swaps the two other copies and never touches this one. */
  int32_t mine = 3 - (state & WEFT_SNAPSHOT_MIDDLE_MASK) -
                 (state >> WEFT_SNAPSHOT_FRONT_SHIFT & 3);
  weft__copy(weft__snapshot_copy(s, mine), from, count);
  for (;;) {
    int32_t next = weft__snapshot_written(state, mine);
    int32_t seen = weft__compare_exchange(&s->state, state, next); /* (V) */
    if (seen == state) return 0;
    state = seen;
  }
}

/* Makes the bytes at `src` the latest value: as many as the value has, at a
   multiple of 4. The first agent that calls it is the writer. Returns 0, EPERM
   if another agent is the writer, or ENOTRECOVERABLE if the state is damaged;
   then nothing is written. */
static inline int weft_snapshot_write(weft_snapshot *s, const void *src) {
  if (weft__take_role(&s->writer) != 0) return EPERM;
  return weft__snapshot_write(s, src);
}

/* read of the agent that is the reader, or of one of many. */
static inline int32_t weft__snapshot_read(weft_snapshot *s, void *dst) {
  int32_t *to = (int32_t *)dst;
  int32_t count = s->size / 4;
  int32_t state = weft__load(&s->state); /* pairs with (V) */
  while (s->single_reader && state & WEFT_SNAPSHOT_NEW_BIT) {
    int32_t middle = state & WEFT_SNAPSHOT_MIDDLE_MASK;
    int32_t front = state >> WEFT_SNAPSHOT_FRONT_SHIFT & 3;
    int32_t swapped = (state & -WEFT__SNAPSHOT_ONE_VERSION) |
                      middle << WEFT_SNAPSHOT_FRONT_SHIFT | front;
    int32_t seen = weft__compare_exchange(&s->state, state, swapped);
    state = seen == state ? swapped : seen;
  }
  if (s->single_reader) {
    if (!weft__snapshot_is_whole(state)) return -ENOTRECOVERABLE;
    int32_t front = state >> WEFT_SNAPSHOT_FRONT_SHIFT & 3;
    weft__copy(to, weft__snapshot_copy(s, front), count);
    return weft__snapshot_version_of(s, state);
  }
  for (;;) {
    const int32_t *at = weft__snapshot_copy(s, state & 1);
    for (int32_t i = 0; i < count; i++)
      to[i] = weft__load(at + i); /* published by (V) */
    /* Pairs with (V): no word of the value after the next was stored before
       the next value's number. */
    int32_t seen = weft__load(&s->state);
    if (seen == state) return weft__snapshot_version_of(s, state);
    state = seen;
  }
}

/* Copies the latest value to `dst`, at a multiple of 4. Returns its version, 0
   if none was written yet, -EPERM if there is one reader, and it is another
   agent, or -ENOTRECOVERABLE if the state is damaged. */
static inline int32_t weft_snapshot_read(weft_snapshot *s, void *dst) {
  if (s->single_reader && weft__take_role(&s->reader) != 0) return -EPERM;
  return weft__snapshot_read(s, dst);
}

/*
 * Ends the roles of agent `id`, known never to run again, so that the next
 * agent that writes is the writer, and with one reader the next one that reads
 * is the reader. Returns how many roles those were. An agent may give its own
 * role up by its own id.
 */
static inline int32_t weft_snapshot_abandon(weft_snapshot *s, int32_t id) {
  return weft__leave_role(&s->writer, id) + weft__leave_role(&s->reader, id);
}

WEFT__END

#endif /* WEFT_SNAPSHOT_H */
