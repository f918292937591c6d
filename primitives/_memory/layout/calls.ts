/**
 * The words of channels and of call rings.
 * `../layout.ts` says how a row is written.
 *
 * @module
 */

/**
 * A channel of messages.
 *
 * @behind The queue or ring that carries the messages, with its own head.
 * Without a carrier, that is an `mpmc_queue` for i32, f64 and record, and a
 * `record_ring` for the other codecs. With a carrier, it is an `spsc_queue`, an
 * `mpmc_queue` or a `lock_free_queue`; if messages differ in length, each
 * element begins with the length of its message. If the codec is `value`, a
 * `shape_table` with 3568 bytes for texts lies behind the queue or ring. If
 * ends are counted, rows of 32 words follow, first those of senders. A row has
 * the id of its agent, or 0; the sequence of the last confirmed change of that
 * agent; how many ends it has after its changes with an even sequence; and the
 * same for an odd one. If the capacity is 0, there is no queue: four words
 * follow that are 0, and then the place for one message, which begins with its
 * length if messages differ in length.
 */
export const CHANNEL = {
  /** Kind and layout version. */
  magic: 0,
  /**
   * 1 binary, 2 text, 3 json, 4 i32, 5 f64, 6 record, 7 structured, 8 own, 9
   * value.
   */
  codec: 1,
  /**
   * A number that tells apart records with different fields, and users' codecs
   * with different names; or 0.
   */
  shape: 2,
  /** Check word over the configuration. */
  seal: 3,
  /** The expected bytes of a message, by which `capacity` is counted, or 0. */
  message_size: 4,
  /**
   * 0, or if senders and receivers are counted:
   * bits 0-7: how many agents have rows at each end
   * bits 8-15: the same, each bit flipped
   * bits 16-31: 0x5765
   */
  tracked: 5,
  /**
   * bit 0: SENT: there was a sender
   * bit 1: RECEIVED: there was a receiver
   */
  ends: 6,
  /**
   * bits 0-11: the sequence of the last change, modulo 4096
   * bits 12-19: the row of the agent that made it
   * bits 20-31: how many more senders there can be
   */
  senders: 7,
  /**
   * bits 0-11: the sequence of the last change, modulo 4096
   * bits 12-19: the row of the agent that made it
   * bits 20-31: how many more receivers there can be
   */
  receivers: 8,
  /**
   * The bytes of the place for a message, if the capacity is 0; otherwise 0.
   */
  place: 9,
  /**
   * If the capacity is 0:
   * bits 0-1: PHASE: what is in the place: 0 nothing; 1 posted: a message,
   * whose sender waits; 2 handed: a message for a receiver that waits
   * bit 2: STOPPED: the channel is closed
   * bits 3-8: OFFERS: receivers that wait, and that no message was handed to
   * bits 9-12: ENDED: how often all offers were ended because an agent was
   * terminated, modulo 16
   * bits 13-31: NUMBER: of the last message, modulo 2^19
   */
  handoff: 10,
  /**
   * If the capacity is 0: changes when sleeping senders must look again that
   * can only send to a receiver that waits.
   * @sleeper senders
   */
  offer_epoch: 11,
  /**
   * bits 0-30: such senders that sleep, or are about to
   * bit 31: one of them awaits, or did
   */
  offer_waiters: 12,
  /**
   * A gong, for agents that wait to send here and for others.
   * @sleeper agents that wait at several ends
   */
  offer_gong: 13,
  /**
   * If the capacity is 0: changes when sleeping receivers must look again.
   * @sleeper receivers
   */
  message_epoch: 14,
  /**
   * bits 0-30: receivers that sleep, or are about to
   * bit 31: one of them awaits, or did
   */
  message_waiters: 15,
  /**
   * A gong, for agents that wait for messages here and for others.
   * @sleeper agents that wait at several ends
   */
  message_gong: 16,
  /**
   * If the capacity is 0: changes when sleeping senders must look again that
   * wait for the place.
   * @sleeper senders
   */
  room_epoch: 17,
  /**
   * bits 0-30: such senders that sleep, or are about to
   * bit 31: one of them awaits, or did
   */
  room_waiters: 18,
  /**
   * If the capacity is 0: changes when the sender of the posted message must
   * look again.
   * @sleeper senders
   */
  taken_epoch: 19,
  /**
   * bits 0-30: such senders that sleep, or are about to
   * bit 31: one of them awaits, or did
   */
  taken_waiters: 20,
  /**
   * If the capacity is 0: the id of the sender that may write a message, or 0.
   */
  writer: 21,
  length: 32,
} as const;

/** The bits of the words `ends` and `handoff` of a channel. */
export const CHANNEL_BITS = {
  SENT: 0,
  RECEIVED: 1,
  PHASE: [0, 1],
  STOPPED: 2,
  OFFERS: [3, 8],
  ENDED: [9, 12],
  NUMBER: [13, 31],
} as const;

/**
 * A ring of calls from many callers to many servers.
 *
 * @behind The slots, each at a multiple of 32 words. A slot has four words:
 * `state`, the agent id of the caller, the length of the request and the length
 * of the reply. The bytes of both follow. In `state`, bits 0-27 are the id of
 * the agent that the state names. Bits 28-30 are 0 FREE, 1 CLAIMED by a caller,
 * 2 POSTED, 3 SERVING, 4 DROPPED (a server has it, and the caller gave up), 5
 * REPLIED, 6 FAILED or 7 LOST (its server died). Bit 31 says that the caller
 * sleeps there. Bit 28 of the caller says that it died.
 */
export const CALL_RING = {
  /** Kind and layout version. */
  magic: 0,
  /**
   * bits 0-21: the most words of a request
   * bits 22-31: the number of slots, less 1
   */
  shape: 1,
  /** The most bytes of a reply, a multiple of 4. */
  reply: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * 1 after `close`.
   * @writer any agent
   */
  closed: 4,
  /**
   * Changes when sleeping servers must look again.
   * @writer callers
   * @sleeper servers
   */
  serve_epoch: 32,
  /**
   * bits 0-30: servers that sleep, or are about to
   * bit 31: one of them awaits, or did
   * @writer servers
   */
  serve_waiters: 33,
  /**
   * The slot where a server written in C looks first.
   * @writer servers
   */
  look: 34,
  /**
   * Changes when callers without a slot must look again.
   * @writer any agent
   * @sleeper callers without a slot
   */
  slot_epoch: 64,
  /**
   * bits 0-30: callers that sleep there, or are about to
   * bit 31: one of them awaits, or did
   * @writer callers
   */
  slot_waiters: 65,
  /**
   * How many pauses callers still owe to others, which found no free slot.
   * @writer callers
   */
  pauses: 66,
  /**
   * How many agents were abandoned, modulo 2^32.
   * @writer any agent
   */
  deaths: 67,
  /**
   * The first of 16 words for the agents that were abandoned last: entry `n`
   * lies in word 68 + `n` modulo 16.
   * bits 0-27: the agent
   * bits 28-31: `n` / 16, modulo 16
   * @writer any agent
   */
  dead: 68,
  length: 96,
} as const;

/** The bits in the words of {@linkcode CALL_RING}. */
export const CALL_RING_BITS = {
  WORDS: [0, 21],
  SLOTS: [22, 31],
  ID: [0, 27],
  PHASE: [28, 30],
  WAITING: 31,
  DEAD: 28,
  ROUND: [28, 31],
} as const;
