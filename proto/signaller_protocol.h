/* The memory of signal words, and the messages about it over the node's Unix socket (SOCK_SEQPACKET, headers
 * of proto/arbiter_protocol.h): between a signaller and the arbiter, and between a client and the arbiter.
 *
 * There is one signaller per GPU. It makes the memory, or goes on with memory that the arbiter has kept, and
 * follows the turnstiles that the arbiter sends. Each turnstile has an area of the memory of its own.
 *
 *     signaller                       arbiter
 *       SignallerHello  ------------>
 *                       <------------  Follow + the turnstile's memfd, and the kept memory if there is any
 *       Signals + the memory  ------>                     (or Refused, and the turnstile is not followed)
 *                       <------------  Prove   (of a client; the arbiter fills in `client` and `line`)
 *       Proven          ------------>
 *
 * If no process may use the GPU, as in maintenance of the node, and no client is left, the arbiter sends
 * Rest (1). The signaller ends its context and all use of the driver. Then it connects anew, and its hello
 * says that it rests, until the arbiter sends Rest (0). A signaller of an older version skips both, and goes
 * on.
 *
 * An arbiter that has signals sends an Offer after each Welcome. A client of an older version skips it, and
 * an older arbiter sends none: both mean that the client takes its turns without signals. The client sends
 * none of the messages below, and no transport of enum crossover_transport above
 * CROSSOVER_TRANSPORT_RELAYED_GATES, before it has got an Offer, because an older arbiter ends a connection
 * for an unknown transport.
 *
 *     client                          arbiter
 *                       <------------  Offer (ASK)
 *       WantSignals (1) ------------>
 *                       <------------  Offer (GIVEN) + the memory, or Offer with the reason why there is none
 *       Prove           ------------>
 *                       <------------  Proven  (a client that gets none in time does without signals)
 *                       <------------  Offer   (at any time: the last one counts)
 *       WantSignals (0) ------------>          (it does without signals from now on)
 *
 * The last Offer counts. While it is GIVEN, the client may queue waits for its signal, in the area that the
 * Offer names. With any other state it queues no more of them, at once and until an Offer says GIVEN again,
 * which carries the memory again and asks for a new proof.
 *
 * Set-up proves the path without a wait in a stream: the client chooses a number other than 0, the signaller
 * writes it into the word `proof` of the client's line, and the client copies that word back and compares.
 *
 * The memory is one granule of device memory, exported as a POSIX descriptor:
 *
 *      byte 0  area 0   magic, version; no turnstile has this area
 *        1024  area 1   line 0 .. 14, one of 64 bytes for each slot; line 15 is unused
 *        2048  area 2   ...
 *
 * Trust: each client that has the descriptor writes the memory. No process acts on a word of it alone: see
 * turn/signal.h. Fields have fixed widths and are little endian. */
#ifndef CROSSOVER_PROTO_SIGNALLER_PROTOCOL_H_
#define CROSSOVER_PROTO_SIGNALLER_PROTOCOL_H_

#include <stdint.h>

#include "proto/arbiter_protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CROSSOVER_SIGNAL_MAGIC 0x4753534fu /* "OSSG" */
#define CROSSOVER_SIGNAL_VERSION 1u
#define CROSSOVER_SIGNAL_AREA_BYTES 1024

/* Types of messages beside those of enum crossover_message. */
enum crossover_signaller_message {
  CROSSOVER_SIGNALLER_HELLO = 8,
  CROSSOVER_FOLLOW = 9,
  CROSSOVER_SIGNALS = 10,
  CROSSOVER_OFFER = 11,
  CROSSOVER_WANT_SIGNALS = 12,
  CROSSOVER_PROVE = 13,
  CROSSOVER_PROVEN = 14,
  CROSSOVER_REST = 15
};

/* What a client may do with signals, and why not. A reader takes a value that it does not know for a reason
 * why there are none. */
enum crossover_offer_state {
  CROSSOVER_OFFER_GIVEN = 0,        /* the memory comes along */
  CROSSOVER_OFFER_ASK = 1,          /* clients that send WantSignals get signals if there are any */
  CROSSOVER_OFFER_NO_SIGNALLER = 2, /* no signaller follows the turnstile, yet or any more */
  CROSSOVER_OFFER_STILL = 3,        /* the signaller's beat stands still */
  CROSSOVER_OFFER_KINDS_MEET = 4,   /* another client of the GPU takes turns without signals */
  CROSSOVER_OFFER_APART = 5,        /* the client has a turnstile of its own for now */
  CROSSOVER_OFFER_REFUSED = 6,      /* the signaller refuses the turnstile, or its driver does */
  CROSSOVER_OFFER_ERASED = 7        /* signals are erased again and again */
};
#define CROSSOVER_OFFER_STATES 8u

struct crossover_signal_line {
  uint32_t signal; /* turn/signal.h: a stream waits until it is at or past 1 */
  uint32_t proof;  /* the number of the last Prove */
  uint32_t reserved[14];
};

/* The head of the memory, in area 0. */
struct crossover_signal_head {
  uint32_t magic;
  uint32_t version;
};

struct crossover_signaller_hello {
  struct crossover_header header;
  char gpu_uuid[CROSSOVER_UUID_MAX];
  uint32_t signal_version; /* CROSSOVER_SIGNAL_VERSION */
  uint32_t rests;          /* 1: it does not use the GPU, and waits for a Rest; older versions say 0 */
};

/* Tells a signaller to release its GPU, or tells one that has released its GPU that it may use the GPU again.
 */
struct crossover_rest {
  struct crossover_header header;
  uint32_t rest; /* 1: it lets go; 0: it may use the GPU */
  uint32_t reserved;
};

/* Carries the memfd of a turnstile, and behind it the memory if `kept` is 1. */
struct crossover_follow {
  struct crossover_header header;
  uint32_t kept; /* 0 or 1 */
  uint32_t area; /* of this turnstile in the kept memory, from 1 on; 0: the signaller chooses one */
};

/* Carries the memory. */
struct crossover_signals {
  struct crossover_header header;
  uint32_t area;  /* of the turnstile that the signaller was told to follow */
  uint32_t bytes; /* of the memory */
};

/* Carries the memory if `state` is CROSSOVER_OFFER_GIVEN. The other fields are 0 if it is not. */
struct crossover_offer {
  struct crossover_header header;
  uint32_t state; /* enum crossover_offer_state */
  uint32_t area;  /* of the client's turnstile, from 1 on; the client's line there is that of its slot */
  uint32_t bytes; /* of the memory */
  uint32_t signal_version;
};

struct crossover_want_signals {
  struct crossover_header header;
  uint32_t want; /* 0 or 1 */
  uint32_t reserved;
};

/* Both Prove and Proven, on the way to the signaller and back. */
struct crossover_proof {
  struct crossover_header header;
  uint64_t client; /* the arbiter's number of the client; 0 between the client and the arbiter */
  uint32_t area;
  uint32_t line;    /* the client's slot; the arbiter fills it in */
  uint32_t number;  /* not 0 */
  uint32_t written; /* of Proven: 1 if the word has the number, 0 if the driver refused; of Prove: 0 */
};

CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_signal_line) == 64, "a slot has a cache line");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_signal_line) * (CROSSOVER_MAX_CLIENTS + 1) ==
                            CROSSOVER_SIGNAL_AREA_BYTES,
                        "an area has a line for each slot, and one more");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_signaller_hello) == 16 + 48 + 8, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_rest) == 24, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_follow) == 24, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_signals) == 24, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_offer) == 32, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_want_signals) == 24, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_proof) == 40, "wire size");

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* CROSSOVER_PROTO_SIGNALLER_PROTOCOL_H_ */
