/* _gong.h - the twin of primitives/_wait/gong.ts, which explains gongs. */
#ifndef WEFT__GONG_H
#define WEFT__GONG_H

#include "_wait.h"

WEFT__BEGIN

#define WEFT__GONG_LINK_BIT 1 /* GONG_BITS.LINK */
#define WEFT__GONG_WAITING_BIT (1 << 1) /* GONG_BITS.WAITING */
#define WEFT__GONG_STRIKES_MASK (0x3fff << 2) /* GONG_BITS.STRIKES */
#define WEFT__GONG_SIGN_MASK (-(1 << 16)) /* GONG_BITS.SIGN */
/* The sign of a gong at which agents have met. */
#define WEFT__GONG_SIGN 0x676f0000

/*
 * Whether gongs lead to each other. In native programs, agents sleep on one
 * word of the program instead, and a gong only says that somebody may: a link
 * that is damaged could lead out of the program's memory. Processes that share
 * memory have no such word.
 */
#if defined(__wasm__) || defined(WEFT_PROCESS_SHARED)
#define WEFT__GONG_LINKS 1
#else
#define WEFT__GONG_LINKS 0
#endif

#if !WEFT__GONG_LINKS
/* How often a gong of this program was struck. It is weak, so that all
   translation units share it, and visible, so that shared libraries do, too. */
__attribute__((weak, visibility("default"))) int32_t weft__gong_strikes;

/* Wakes all who block at several ends, if one of them does at this end. */
WEFT__SELDOM static inline void weft__strike(int32_t *gong) {
  if ((weft__load(gong) & WEFT__GONG_WAITING_BIT) == 0) return;
  weft__store(gong, 0);
  weft__add(&weft__gong_strikes, 1);
  weft__notify(&weft__gong_strikes, WEFT__ALL);
}
#else
/* The gong to which one leads whose value is a link. NULL if it is damaged. */
static inline int32_t *weft__gong_next(int32_t *gong, int32_t link) {
  uintptr_t words = ((uint32_t)link >> 1) + (uintptr_t)1;
  return (uintptr_t)gong / 4 > words ? gong - words : NULL;
}

/* Wakes all who sleep where the gong of an end leads, if there are any. */
WEFT__SELDOM static inline void weft__strike(int32_t *gong) {
  int32_t value;
  do value = weft__load(gong);
  while (value & WEFT__GONG_LINK_BIT &&
         (gong = weft__gong_next(gong, value)) != NULL);
  /* It leads nowhere if it is damaged, and then LINK is still set. */
  const int32_t mask =
      WEFT__GONG_SIGN_MASK | WEFT__GONG_WAITING_BIT | WEFT__GONG_LINK_BIT;
  if ((value & mask) != (WEFT__GONG_SIGN | WEFT__GONG_WAITING_BIT)) return;
  /* WAITING ends, and carries into the number of strikes. If the word has
     changed, whoever changed it wakes those who slept here before. */
  int32_t next = WEFT__GONG_SIGN |
                 ((value + WEFT__GONG_WAITING_BIT) & WEFT__GONG_STRIKES_MASK);
  if (weft__compare_exchange(gong, value, next) == value)
    weft__notify(gong, WEFT__ALL);
}
#endif

#ifndef WEFT_REALTIME /* what may wait */
/* Where gongs lead: a place, and its value. */
typedef struct {
  int32_t *at;
  int32_t value;
} weft__gong_root;

#if !WEFT__GONG_LINKS
static inline int weft__gong_join(int32_t *a, int32_t *b) {
  (void)a, (void)b;
  return 0;
}

/* Where and at what value to sleep. The caller must then mark the gong of each
   end, announce itself there, and look there, before it sleeps. */
static inline weft__gong_root weft__gong_ask(int32_t *gong) {
  (void)gong;
  int32_t value = weft__load(&weft__gong_strikes);
  weft__gong_root root = {&weft__gong_strikes, value};
  return root;
}

static inline void weft__gong_mark(int32_t *gong) {
  weft__store(gong, WEFT__GONG_WAITING_BIT);
}
#else
static inline void weft__gong_mark(int32_t *gong) { (void)gong; }

/* The gong to which one leads; its `at` is NULL if the words are damaged. */
static inline weft__gong_root weft__gong_root_of(int32_t *gong) {
  for (;;) {
    int32_t value = weft__load(gong);
    if ((value & WEFT__GONG_LINK_BIT) == 0) {
      bool known = value == 0 ||
                   (value & WEFT__GONG_SIGN_MASK) == WEFT__GONG_SIGN;
      weft__gong_root root = {known ? gong : NULL, value};
      return root;
    }
    gong = weft__gong_next(gong, value);
    if (gong == NULL) {
      weft__gong_root none = {NULL, value};
      return none;
    }
  }
}

/* Makes two gongs lead to the same one, for ever. EINVAL if they are too far
   apart, or ENOTRECOVERABLE. */
static inline int weft__gong_join(int32_t *a, int32_t *b) {
  for (;;) {
    weft__gong_root of_a = weft__gong_root_of(a);
    weft__gong_root of_b = weft__gong_root_of(b);
    if (of_a.at == NULL || of_b.at == NULL) return ENOTRECOVERABLE;
    if (of_a.at == of_b.at) return 0;
    bool above = (uintptr_t)of_a.at > (uintptr_t)of_b.at;
    weft__gong_root high = above ? of_a : of_b;
    uintptr_t low = (uintptr_t)(above ? of_b : of_a).at;
    uintptr_t words = ((uintptr_t)high.at - low) / 4;
    if (words - 1 > INT32_MAX) return EINVAL;
    int32_t link =
        (int32_t)((uint32_t)(words - 1) << 1 | WEFT__GONG_LINK_BIT);
    if (weft__compare_exchange(high.at, high.value, link) != high.value)
      continue;
    /* (J) Those who sleep there shall sleep where it leads now. */
    if (high.value & WEFT__GONG_WAITING_BIT) weft__notify(high.at, WEFT__ALL);
    return 0;
  }
}

/* Asks for a strike where a gong leads, and tells where and at what value to
   sleep. The caller must announce itself at each end, and look there, before it
   sleeps. Its `at` is NULL if the words are damaged. */
static inline weft__gong_root weft__gong_ask(int32_t *gong) {
  for (;;) {
    weft__gong_root root = weft__gong_root_of(gong);
    if (root.at == NULL) return root;
    int32_t was = root.value;
    root.value = WEFT__GONG_SIGN | (was & WEFT__GONG_STRIKES_MASK) |
                 WEFT__GONG_WAITING_BIT;
    /* (W) ask for a strike, then announce, then look */
    if (was == root.value ||
        weft__compare_exchange(root.at, was, root.value) == was)
      return root;
  }
}
#endif
#endif

WEFT__END

#endif /* WEFT__GONG_H */
