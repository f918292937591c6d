/* _channel_words.h - the words of a channel, which its own functions and those
   of _handoff.h use. */
#ifndef WEFT__CHANNEL_WORDS_H
#define WEFT__CHANNEL_WORDS_H

#include "_region.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* In `ends`: there was a sender, there was a receiver. */
#define WEFT_CHANNEL_SENT_BIT 1 /* CHANNEL_BITS.SENT */
#define WEFT_CHANNEL_RECEIVED_BIT (1 << 1) /* CHANNEL_BITS.RECEIVED */

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A channel of messages.
 *
 * word 0   magic            Kind and layout version.
 * word 1   codec            1 binary, 2 text, 3 json, 4 i32, 5 f64, 6 record, 7
 *                           structured, 8 own, 9 value.
 * word 2   shape            A number that tells apart records with different
 *                           fields, and users' codecs with different names; or
 *                           0.
 * word 3   seal             Check word over the configuration.
 * word 4   message_size     The expected bytes of a message, by which
 *                           `capacity` is counted, or 0.
 * word 5   tracked          0, or if senders and receivers are counted:
 *                           bits 0-7    how many agents have rows at each end
 *                           bits 8-15   the same, each bit flipped
 *                           bits 16-31  0x5765
 * word 6   ends             bit 0  SENT: there was a sender
 *                           bit 1  RECEIVED: there was a receiver
 * word 7   senders          bits 0-11   the sequence of the last change, modulo
 *                                       4096
 *                           bits 12-19  the row of the agent that made it
 *                           bits 20-31  how many more senders there can be
 * word 8   receivers        bits 0-11   the sequence of the last change, modulo
 *                                       4096
 *                           bits 12-19  the row of the agent that made it
 *                           bits 20-31  how many more receivers there can be
 * word 9   place            The bytes of the place for a message, if the
 *                           capacity is 0; otherwise 0.
 * word 10  handoff          If the capacity is 0:
 *                           bits 0-1    PHASE: what is in the place: 0 nothing;
 *                                       1 posted: a message, whose sender
 *                                       waits; 2 handed: a message for a
 *                                       receiver that waits
 *                           bit 2       STOPPED: the channel is closed
 *                           bits 3-8    OFFERS: receivers that wait, and that
 *                                       no message was handed to
 *                           bits 9-12   ENDED: how often all offers were ended
 *                                       because an agent was terminated, modulo
 *                                       16
 *                           bits 13-31  NUMBER: of the last message, modulo
 *                                       2^19
 * word 11  offer_epoch      If the capacity is 0: changes when sleeping senders
 *                           must look again that can only send to a receiver
 *                           that waits.
 *                           sleepers: senders
 * word 12  offer_waiters    bits 0-30  such senders that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 13  offer_gong       A gong, for agents that wait to send here and for
 *                           others.
 *                           sleepers: agents that wait at several ends
 * word 14  message_epoch    If the capacity is 0: changes when sleeping
 *                           receivers must look again.
 *                           sleepers: receivers
 * word 15  message_waiters  bits 0-30  receivers that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 16  message_gong     A gong, for agents that wait for messages here and
 *                           for others.
 *                           sleepers: agents that wait at several ends
 * word 17  room_epoch       If the capacity is 0: changes when sleeping senders
 *                           must look again that wait for the place.
 *                           sleepers: senders
 * word 18  room_waiters     bits 0-30  such senders that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 19  taken_epoch      If the capacity is 0: changes when the sender of
 *                           the posted message must look again.
 *                           sleepers: senders
 * word 20  taken_waiters    bits 0-30  such senders that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 21  writer           If the capacity is 0: the id of the sender that may
 *                           write a message, or 0.
 * word 32  The queue or ring that carries the messages, with its own head.
 *          Without a carrier, that is an `mpmc_queue` for i32, f64 and record,
 *          and a `record_ring` for the other codecs. With a carrier, it is an
 *          `spsc_queue`, an `mpmc_queue` or a `lock_free_queue`; if messages
 *          differ in length, each element begins with the length of its
 *          message. If the codec is `value`, a `shape_table` with 3568 bytes
 *          for texts lies behind the queue or ring. If ends are counted, rows
 *          of 32 words follow, first those of senders. A row has the id of its
 *          agent, or 0; the sequence of the last confirmed change of that
 *          agent; how many ends it has after its changes with an even sequence;
 *          and the same for an odd one. If the capacity is 0, there is no
 *          queue: four words follow that are 0, and then the place for one
 *          message, which begins with its length if messages differ in length.
 *
 * Freed when: every operation of every agent has returned, close included, and
 * none will begin. That it is closed and empty does not say so.
 */
typedef struct {
  int32_t magic;
  int32_t codec;
  int32_t shape;
  int32_t seal;
  int32_t message_size;
  int32_t tracked;
  int32_t ends;
  int32_t senders;
  int32_t receivers;
  int32_t place;
  int32_t handoff;
  int32_t offer_epoch;
  int32_t offer_waiters;
  int32_t offer_gong;
  int32_t message_epoch;
  int32_t message_waiters;
  int32_t message_gong;
  int32_t room_epoch;
  int32_t room_waiters;
  int32_t taken_epoch;
  int32_t taken_waiters;
  int32_t writer;
  int32_t _pad0[10];
} weft_channel;
WEFT_WORD(channel, magic, 0);
WEFT_WORD(channel, codec, 1);
WEFT_WORD(channel, shape, 2);
WEFT_WORD(channel, seal, 3);
WEFT_WORD(channel, message_size, 4);
WEFT_WORD(channel, tracked, 5);
WEFT_WORD(channel, ends, 6);
WEFT_WORD(channel, senders, 7);
WEFT_WORD(channel, receivers, 8);
WEFT_WORD(channel, place, 9);
WEFT_WORD(channel, handoff, 10);
WEFT_WORD(channel, offer_epoch, 11);
WEFT_WORD(channel, offer_waiters, 12);
WEFT_WORD(channel, offer_gong, 13);
WEFT_WORD(channel, message_epoch, 14);
WEFT_WORD(channel, message_waiters, 15);
WEFT_WORD(channel, message_gong, 16);
WEFT_WORD(channel, room_epoch, 17);
WEFT_WORD(channel, room_waiters, 18);
WEFT_WORD(channel, taken_epoch, 19);
WEFT_WORD(channel, taken_waiters, 20);
WEFT_WORD(channel, writer, 21);
WEFT_LENGTH(channel, 32);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* Whether the capacity is 0. */
static inline bool weft__channel_hands(const weft_channel *c) {
  return c->place != 0;
}

/* The words behind the head of such a channel that are 0: others have a queue
   there, by whose head it is known. */
#define WEFT__CHANNEL_GAP 4

/* Its place for a message. */
static inline int32_t *weft__channel_place(const weft_channel *c) {
  return (int32_t *)(uintptr_t)(c + 1) + WEFT__CHANNEL_GAP;
}

WEFT__END

#endif

#endif /* WEFT__CHANNEL_WORDS_H */
