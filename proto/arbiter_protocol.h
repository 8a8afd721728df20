/* The messages between a client and the arbiter over the node's Unix socket (SOCK_SEQPACKET).
 *
 * There is one connection per client, that is per process and GPU. The client sends Hello. The arbiter
 * answers with Welcome, which carries the turnstile's memfd as its only SCM_RIGHTS descriptor, or with
 * Refused and then end of file. Afterwards the client sends Profile messages, and the arbiter sends a Notice
 * now and then. The client takes part in turns as long as the connection is open: end of file means that it
 * leaves. All state that must arrive at once goes through the page.
 *
 *     client                          arbiter
 *       Hello    ------------------->
 *                <-------------------  Welcome + memfd   (or Refused, then end of file)
 *       Profile  ------------------->                    (about once a second)
 *                <-------------------  Notice            (seldom)
 *       Calls    ------------------->                    (seldom: what the job communicates)
 *       Reductions ----------------->                    (seldom: which of its reductions are compressed)
 *       close    ------------------->                    (the client leaves)
 *
 * In place of Hello, a process may send Ask, once, to learn its memory limit before it uses a GPU. The
 * arbiter answers with Limit, and the process closes the connection. An arbiter that does not know Ask does
 * not answer.
 *
 * Both sides skip a message of unknown type. A message of wrong size or version ends the connection. Fields
 * have fixed widths and are little endian. */
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
  CROSSOVER_NOTICE = 5,
  CROSSOVER_ASK = 6, /* a header alone */
  CROSSOVER_LIMIT = 7,
  /* proto/signaller_protocol.h has the types from 8 to 14, and 15 once more: CROSSOVER_REST, which only an
     arbiter sends, and only to a signaller. A new type begins at 17. */
  CROSSOVER_CALLS = 15,
  CROSSOVER_REDUCTIONS = 16
};

/* How a client takes turns: by which gates (sidecar/gates/gate.h). Metrics show it.
 *
 * An arbiter ends the connection of a client that names a transport which it does not know. So a new value is
 * sent only to an arbiter that has said that it knows it, as an Offer does for SIGNALLED_GATES. These places
 * have the list, too: ValidTransport() and kTransports in deviceplugin/arbiter/client_messages.cc,
 * TransportName() in deviceplugin/arbiter/observer.cc, ChooseGate() and the names in the log in
 * sidecar/session/session_client.cc, and tests/fuzz/fuzz_arbiter_protocol.cc. */
enum crossover_transport {
  CROSSOVER_TRANSPORT_NONE = 0,
  CROSSOVER_TRANSPORT_GPU_GATES = 1,
  CROSSOVER_TRANSPORT_HOST_GATES = 2,
  CROSSOVER_TRANSPORT_RELAYED_GATES = 3, /* the GPU waits for a word that a thread of the client sets */
  /* GPU gates, with waits for signals (proto/signaller_protocol.h). Only for an arbiter that has sent an
     Offer. */
  CROSSOVER_TRANSPORT_SIGNALLED_GATES = 4
};

/* How urgent a client's turns are. Of the clients that wait, those of the highest priority go first. */
enum crossover_priority {
  CROSSOVER_PRIORITY_NORMAL = 0,
  CROSSOVER_PRIORITY_LOW = 1,
  CROSSOVER_PRIORITY_HIGH = 2
};

struct crossover_header {
  uint32_t type;
  uint32_t bytes; /* size of the whole message, including this header */
  uint32_t version;
  uint32_t reserved;
};

struct crossover_hello {
  struct crossover_header header;
  char gang[CROSSOVER_GANG_NAME_MAX]; /* as given to `crossover run`; may be empty in a pod, where the
                                         daemon finds the gang itself */
  char gpu_uuid[CROSSOVER_UUID_MAX];
  uint32_t gang_size;    /* ranks of the whole job; 0 if unknown */
  uint32_t rank;         /* in the job's data-parallel communicator */
  uint32_t pid;          /* in the client's PID namespace; only displayed, never trusted */
  uint32_t transport;    /* enum crossover_transport */
  uint32_t priority;     /* enum crossover_priority */
  uint32_t max_slowdown; /* step together over step alone, in thousandths, 1050 to 10000; 0: no cap */
  uint32_t reserved[2];
};

struct crossover_welcome {
  struct crossover_header header;
  uint32_t slot; /* index into crossover_page.slot */
  /* Memory that the client may have on each GPU, in MiB, if the daemon knows it from the client's pod; 0
   * if it does not. */
  uint32_t memory_mib;
};

struct crossover_limit {
  struct crossover_header header;
  uint32_t memory_mib; /* as in the welcome; if it is known, 0 means that the process has no limit */
  uint32_t known;      /* 0: the arbiter does not know the process yet; the process asks again later */
};

struct crossover_refused {
  struct crossover_header header;
  char reason[CROSSOVER_REASON_MAX];
};

/* Carries one line that the client writes into the job's log, for the user who started the job. */
struct crossover_notice {
  struct crossover_header header;
  char text[2 * CROSSOVER_REASON_MAX];
};

/* The client sends this about once a second while turns are taken or observed. */
struct crossover_profile {
  struct crossover_header header;
  uint64_t iterations;    /* periods seen since the client connected */
  uint64_t turns;         /* turns enqueued */
  uint64_t launches;      /* launches that took the slow path */
  uint32_t period_tokens; /* collectives in the learned period; 0 while learning */
  uint32_t turns_per_period;
  uint32_t transport; /* enum crossover_transport */
  /* For how long of an iteration the GPU has nothing to do because the client's host launches nothing: one
   * more than the microseconds, or 0 if that is not known. */
  uint32_t input_wait;
};

/* An NCCL function that moves data. */
enum crossover_function {
  CROSSOVER_ALL_REDUCE = 1,
  CROSSOVER_BROADCAST = 2, /* also ncclBcast */
  CROSSOVER_REDUCE = 3,
  CROSSOVER_ALL_GATHER = 4,
  CROSSOVER_REDUCE_SCATTER = 5,
  CROSSOVER_SEND = 6,
  CROSSOVER_RECV = 7,
  CROSSOVER_ALL_TO_ALL = 8,
  CROSSOVER_GATHER = 9,
  CROSSOVER_SCATTER = 10
};

#define CROSSOVER_NO_PEER 0xffffffffu
#define CROSSOVER_CALLS_MAX 40       /* of one report */
#define CROSSOVER_CALLS_OF_MESSAGE 5 /* no message is longer than Hello: an older arbiter reads no more */

/* Sums up the calls of one function on one communicator with one peer, in one iteration. */
struct crossover_call {
  uint64_t communicator; /* a number that all ranks of the communicator give it; never 0 */
  uint64_t bytes;        /* count times size of the data type, as in the arguments, of all these calls */
  uint32_t ranks;        /* of the communicator, at least 2 */
  uint32_t rank;         /* this process's own */
  uint32_t function;     /* enum crossover_function */
  uint32_t peer;         /* of Send and Recv: the other rank; with a root: the root; else CROSSOVER_NO_PEER */
};

/* The client sends a report of its calls once it has seen a period often enough, and again when they have
 * changed. A report has several messages, in order: a message with `first` 0 begins it. A report of which a
 * message is missing does not count. */
struct crossover_calls {
  struct crossover_header header;
  uint32_t first; /* number of the first call in this message; earlier messages have the ones before */
  uint32_t total; /* calls of the report, at most CROSSOVER_CALLS_MAX */
  uint32_t count; /* calls in this message */
  uint32_t reserved;
  struct crossover_call call[CROSSOVER_CALLS_OF_MESSAGE];
};

/* Says whether the ranks of a communicator are on several nodes, as NCCL tells nodes apart. */
enum crossover_span {
  CROSSOVER_SPAN_UNKNOWN = 0,
  CROSSOVER_SPAN_ONE_NODE = 1,
  CROSSOVER_SPAN_SEVERAL_NODES = 2
};

#define CROSSOVER_REDUCTION_LEVELS 8
#define CROSSOVER_PLAIN_REASONS_MAX 32

/* The client sends this where the owner of its job asks for compressed reductions, and again when something
 * of it has changed. Each message has the whole state of the process, so that a later one takes the place of
 * all before. Levels and reasons are numbers of common/base/shrink_level.h and common/base/plain_reason.h.
 * The arbiter takes any: a newer library may know more of them.
 *
 * libcrossover-shrink.so hands the message to libcrossover.so by a function that the latter exports:
 *
 *     void crossover_report_reductions(const struct crossover_reductions* report);
 *
 * `header.bytes` has the size that the caller knows, and libcrossover.so ignores a report of another size. */
struct crossover_reductions {
  struct crossover_header header;
  uint32_t asked;  /* the level that the owner asks for; that of no level: it could not be read */
  uint32_t reason; /* why the newest communicator that is plain is so; 0 also while there is none */
  uint32_t ranks;  /* of the newest communicator of those below; 0 while there is none */
  uint32_t span;   /* of the same: enum crossover_span */
  uint32_t narrowed[CROSSOVER_REDUCTION_LEVELS]; /* by level: communicators that run with it now */
  uint32_t plain[CROSSOVER_PLAIN_REASONS_MAX];   /* by reason: communicators that were plain so far */
};

CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_header) == 16, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_hello) == 16 + 128 + 48 + 32, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_welcome) == 24, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_limit) == 24, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_refused) == 16 + 192, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_notice) == 16 + 384, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_profile) == 16 + 24 + 16, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_call) == 32, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_calls) == 16 + 16 + 5 * 32, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_calls) <= sizeof(struct crossover_hello), "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_reductions) == 16 + 16 + 8 * 4 + 32 * 4, "wire size");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_reductions) <= sizeof(struct crossover_hello), "wire size");

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* CROSSOVER_PROTO_ARBITER_PROTOCOL_H_ */
