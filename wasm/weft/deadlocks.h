/* deadlocks.h - the twin of AgentTable in primitives/tools/deadlocks.ts. */
#ifndef WEFT_DEADLOCKS_H
#define WEFT_DEADLOCKS_H

#include "_layout.h"
#include "_wait.h"
#include "agent.h"

/*
 * Threads that have a name in a table note there on which word they sleep, so
 * that `deadlocks` of @weft/sync/deadlocks can tell who waits for whom, across
 * threads of C and agents of JavaScript. The table must lie in the same memory
 * as the primitives. Define WEFT_NAMED_AGENTS before every #include of weft.h:
 * code that was compiled without it notes nothing.
 *
 * Freed when: every agent that has a name took it away by weft_agent_unname, or
 * ended, every operation has returned, and none will begin. An agent with a
 * name writes to its row whenever it sleeps.
 */
#if defined(WEFT_NAMED_AGENTS) && !defined(WEFT_REALTIME)

WEFT__BEGIN

/* A table of agents. Its rows follow. */
typedef struct {
  int32_t magic;
  int32_t agents; /* how many rows there are, 1 to 255 */
  int32_t _pad0[30];
} weft_agent_table;

/* What a thread notes: AGENT_ROW in primitives/_memory/layout.ts. */
typedef struct {
  int32_t agent;     /* the id of the thread, 0, or -id of who clears it */
  int32_t sequence;  /* changes with each sleep */
  int32_t on;        /* the word on which it blocks, or 0 */
  int32_t awaits[8]; /* of agents that await, which threads of C never do */
  int32_t bytes;     /* of its name */
  char name[80];     /* in UTF-8 */
} weft__agent_row_words;

#define WEFT__AGENT_TABLE_MAGIC 0x57544142
#define WEFT__AGENT_TABLE_MOST 255
#define WEFT__AGENT_NAME_MOST 80

/* clang-format off */
WEFT__ASSERT(offsetof(weft_agent_table, agents) == 4 * 1, "AGENT_TABLE.agents");
WEFT__ASSERT(sizeof(weft_agent_table) == 4 * 32, "AGENT_TABLE.rows");
WEFT__ASSERT(offsetof(weft__agent_row_words, agent) == 4 * 0, "AGENT_ROW.agent");
WEFT__ASSERT(offsetof(weft__agent_row_words, sequence) == 4 * 1, "AGENT_ROW.sequence");
WEFT__ASSERT(offsetof(weft__agent_row_words, on) == 4 * 2, "AGENT_ROW.on");
WEFT__ASSERT(offsetof(weft__agent_row_words, awaits) == 4 * 3, "AGENT_ROW.awaits");
WEFT__ASSERT(offsetof(weft__agent_row_words, bytes) == 4 * 11, "AGENT_ROW.bytes");
WEFT__ASSERT(offsetof(weft__agent_row_words, name) == 4 * 12, "AGENT_ROW.name");
WEFT__ASSERT(sizeof(weft__agent_row_words) == 4 * 32, "AGENT_ROW.words");
WEFT__ASSERT(WEFT__ROW_SEQUENCE == 1 && WEFT__ROW_ON == 2, "_wait.h");
/* clang-format on */

/* The bytes of a table for `agents` names; 0 unless that is 1 to 255. */
static inline size_t weft_agent_table_bytes(int32_t agents) {
  if (agents < 1 || agents > WEFT__AGENT_TABLE_MOST) return 0;
  return sizeof(weft_agent_table) +
         (size_t)agents * sizeof(weft__agent_row_words);
}

/* Initializes unused memory as a table without names. */
static inline weft_agent_table *weft_agent_table_init(void *at, size_t bytes,
                                                      int32_t agents) {
  size_t needed = weft_agent_table_bytes(agents);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft_agent_table *t = (weft_agent_table *)at;
  weft__zero(at, needed);
  t->agents = agents;
  weft__store(&t->magic, WEFT__AGENT_TABLE_MAGIC);
  return t;
}

/* Attaches to a table; NULL if there is none. */
static inline weft_agent_table *weft_agent_table_attach(void *at) {
  if (!weft__aligned(at)) return NULL;
  weft_agent_table *t = (weft_agent_table *)at;
  if (weft__load(&t->magic) != WEFT__AGENT_TABLE_MAGIC) return NULL;
  return weft_agent_table_bytes(t->agents) == 0 ? NULL : t;
}

/* The row of thread `id`, which takes one if it has none; NULL if all are
   taken. */
static inline weft__agent_row_words *weft__agent_row_for(weft_agent_table *t,
                                                         int32_t id) {
  weft__agent_row_words *rows = (weft__agent_row_words *)(void *)(t + 1);
  for (int32_t from = id;; from = 0) {
    for (int32_t i = 0; i < t->agents; i++)
      if (weft__load(&rows[i].agent) == from &&
          weft__compare_exchange(&rows[i].agent, from, id) == from)
        return &rows[i];
    if (from == 0) return NULL;
  }
}

/* Gives this thread a name, of up to 80 bytes, or another one. From now on it
   notes there on what it sleeps. EINVAL if the name is too long, EBUSY if all
   rows of the table are taken. */
static inline int weft_agent_name(weft_agent_table *t, const char *name) {
  int32_t bytes = 0;
  while (bytes <= WEFT__AGENT_NAME_MOST && name[bytes] != 0) bytes++;
  if (bytes > WEFT__AGENT_NAME_MOST) return EINVAL;
  weft__agent_row_words *row = weft__agent_row_for(t, weft_agent_id());
  if (row == NULL) return EBUSY;
  weft__store(&row->bytes, 0);
  __builtin_memcpy(row->name, name, (size_t)bytes);
  weft__store(&row->bytes, bytes); /* publishes the name */
  weft__agent_row = &row->agent;
  return 0;
}

/* Frees a row if `owner` is its first word. */
static inline bool weft__agent_row_free(weft__agent_row_words *row,
                                        int32_t owner) {
  /* The row is this thread's before it is cleared: if two threads cleared it,
     the slower one would clear the name of the next thread. */
  int32_t mine = -weft_agent_id();
  if (weft__compare_exchange(&row->agent, owner, mine) != owner) return false;
  weft__store(&row->on, 0);
  for (int i = 0; i < 8; i++) weft__store(&row->awaits[i], 0);
  weft__store(&row->bytes, 0);
  weft__store(&row->agent, 0);
  return true;
}

/* Frees the row of thread `id`, which will never run again. Returns how many
   rows that were. Any number of threads may call it for one id at once. */
static inline int32_t weft_agent_table_abandon(weft_agent_table *t,
                                               int32_t id) {
  weft__agent_row_words *rows = (weft__agent_row_words *)(void *)(t + 1);
  int32_t count = 0;
  for (int32_t i = 0; id > 0 && i < t->agents; i++) {
    int32_t owner = weft__load(&rows[i].agent);
    if (owner != id && owner != -id) continue;
    if (weft__agent_row_free(&rows[i], owner)) count++;
  }
  return count;
}

/* Takes this thread's name away. It notes nothing any more. */
static inline void weft_agent_unname(void) {
  int32_t *row = weft__agent_row;
  if (row == NULL) return;
  weft__agent_row = NULL;
  weft__agent_row_free((weft__agent_row_words *)(void *)row, weft_agent_id());
}

WEFT__END

#endif

#endif /* WEFT_DEADLOCKS_H */
