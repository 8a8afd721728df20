/* What a client and the arbiter say to each other over the node's unix socket (SOCK_SEQPACKET).
 *
 * One connection per client, that is per process and GPU. Client: Hello. Arbiter: Welcome, with the
 * turnstile's memfd as the only SCM_RIGHTS descriptor, or Refused and then end of file. After that the
 * connection carries the client's Profile messages, now and then a Notice of the arbiter's, and stands for
 * its membership: end of file is a leave. Everything urgent goes through the page. A message of unknown type
 * is skipped by both sides; a message of wrong size or version ends the connection. Fixed width, little
 * endian. */
#ifndef CROSSOVER_PROTO_ARBITER_PROTOCOL_H_
#define CROSSOVER_PROTO_ARBITER_PROTOCOL_H_

#include <stdint.h>

#include "proto/turnstile.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CROSSOVER_PROTOCOL_VERSION 1u
#define CROSSOVER_GANG_NAME_MAX 128 /* with the closing zero */
#define CROSSOVER_UUID_MAX 48       /* "GPU-" and 36 characters, with the closing zero */
#define CROSSOVER_REASON_MAX 192

enum crossover_message {
  CROSSOVER_HELLO = 1,
  CROSSOVER_WELCOME = 2,
  CROSSOVER_REFUSED = 3,
  CROSSOVER_PROFILE = 4,
  CROSSOVER_NOTICE = 5
};

/* How a client takes turns: shown in metrics. */
enum crossover_transport {
  CROSSOVER_TRANSPORT_NONE = 0,
  CROSSOVER_TRANSPORT_GPU_GATES = 1,
  CROSSOVER_TRANSPORT_HOST_GATES = 2,
  CROSSOVER_TRANSPORT_RELAYED_GATES = 3 /* the GPU waits for a word that a thread of the client opens */
};

/* Whose turn comes first where it is not the same to everybody. */
enum crossover_priority {
  CROSSOVER_PRIORITY_NORMAL = 0,
  CROSSOVER_PRIORITY_LOW = 1,
  CROSSOVER_PRIORITY_HIGH = 2
};

struct crossover_header {
  uint32_t type;
  uint32_t bytes; /* of the whole message, this header included */
  uint32_t version;
  uint32_t reserved;
};

struct crossover_hello {
  struct crossover_header header;
  char gang[CROSSOVER_GANG_NAME_MAX]; /* as given to `crossover run`; in a pod, where the daemon knows better,
                                         it may be empty */
  char gpu_uuid[CROSSOVER_UUID_MAX];
  uint32_t gang_size;    /* ranks of the whole job; 0 if unknown */
  uint32_t rank;         /* in the job's data-parallel communicator */
  uint32_t pid;          /* in the client's own namespace: shown, never trusted */
  uint32_t transport;    /* enum crossover_transport */
  uint32_t priority;     /* enum crossover_priority */
  uint32_t max_slowdown; /* step together over step alone, in thousandths, 1050 to 10000; 0: none */
  uint32_t reserved[2];
};

struct crossover_welcome {
  struct crossover_header header;
  uint32_t slot;  /* index into crossover_page.slot */
  uint32_t state; /* 0 */
};

struct crossover_refused {
  struct crossover_header header;
  char reason[CROSSOVER_REASON_MAX];
};

/* What whoever started the job should know: one line for its log. */
struct crossover_notice {
  struct crossover_header header;
  char text[2 * CROSSOVER_REASON_MAX];
};

/* Sent about once a second while turns are taken or observed. */
struct crossover_profile {
  struct crossover_header header;
  uint64_t iterations;    /* periods seen since the connection was made */
  uint64_t turns;         /* turns enqueued */
  uint64_t launches;      /* launches that went through the slow path */
  uint32_t period_tokens; /* collectives in the learned period, 0 while learning */
  uint32_t turns_per_period;
  uint32_t transport; /* enum crossover_transport */
  uint32_t reserved;
};

CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_header) == 16, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_hello) == 16 + 128 + 48 + 32, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_welcome) == 24, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_refused) == 16 + 192, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_notice) == 16 + 384, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_profile) == 16 + 24 + 16, "wire size");

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* CROSSOVER_PROTO_ARBITER_PROTOCOL_H_ */
