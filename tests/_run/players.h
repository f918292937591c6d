/* Threads that play on one stage, in the native tests of what agents share. */
#ifndef PLAYERS_H
#define PLAYERS_H

#include "check.h"

/* One of them. */
typedef struct {
  uint32_t seed;
  int32_t index; /* counted from 0 */
  void *stage;
} player;

/* The most that play together. */
#define MOST_PLAYERS 16

/* Runs `play` in `count` threads, each with a player, until all have ended. */
static inline void play_together(int count, void *(*play)(void *),
                                 void *stage) {
  pthread_t threads[MOST_PLAYERS];
  player players[MOST_PLAYERS];
  CHECK(count <= MOST_PLAYERS);
  for (int i = 0; i < count; i++) {
    players[i].seed = (uint32_t)i + 1;
    players[i].index = i;
    players[i].stage = stage;
  }
  start_threads(threads, count, play, players, sizeof *players);
  join_threads(threads, count);
}

#endif
