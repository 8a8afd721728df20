/* The memory of signal words, and the messages between a signaller and the arbiter over the node's Unix
 * socket (SOCK_SEQPACKET, headers of proto/arbiter_protocol.h).
 *
 * There is one signaller per GPU. It makes the memory, or goes on with memory that the arbiter has kept, and
 * follows the turnstiles that the arbiter sends. Each turnstile has an area of the memory of its own.
 *
 *     signaller                       arbiter
 *       SignallerHello  ------------>
 *                       <------------  Follow + the turnstile's memfd, and the kept memory if there is any
 *       Signals + the memory  ------>                     (or Refused, and the turnstile is not followed)
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
  CROSSOVER_SIGNALS = 10
};

struct crossover_signal_line {
  uint32_t signal; /* turn/signal.h: a stream waits until it is at or past 1 */
  uint32_t reserved[15];
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

CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_signal_line) == 64, "a slot has a cache line");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_signal_line) * (CROSSOVER_MAX_CLIENTS + 1) ==
                            CROSSOVER_SIGNAL_AREA_BYTES,
                        "an area has a line for each slot, and one more");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_signaller_hello) == 16 + 48 + 8, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_follow) == 24, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_signals) == 24, "wire size");

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* CROSSOVER_PROTO_SIGNALLER_PROTOCOL_H_ */
