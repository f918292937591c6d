/* _hash_waits.h - the twin of primitives/_map/waits.ts. */
#ifndef WEFT__HASH_WAITS_H
#define WEFT__HASH_WAITS_H

#include "_event_count.h"
#include "_hash_plan.h"
#include "agent.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* Ends the flights of agent `id`, which is dead; returns how many. */
static inline int32_t weft__hash_release_flights(const weft_hash_map *m,
                                                 int32_t id) {
  int32_t count = 0;
  for (int32_t i = 0; i < weft__hash_flights(m->capacity); i++) {
    int32_t *flight = weft__hash_flight(m, i);
    int32_t self = weft_agent_id();
    if (weft__load(flight) != id) continue;
    /* One agent does it: then nobody else's flight is ended. */
    if (weft__compare_exchange(flight, id, self) != id) continue;
    int32_t hash = weft__load(flight + WEFT__HASH_FLIGHT_HASH);
    weft__store(flight + WEFT__HASH_FLIGHT_HASH, 0); /* (E) then wake */
    weft__store(flight, 0);
    weft__event_wake(weft__hash_epoch(m, hash), WEFT__ALL);
    count++;
  }
  return count;
}

WEFT__END

#endif

#endif /* WEFT__HASH_WAITS_H */
