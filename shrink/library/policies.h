// Defines what the wrappers of NCCL functions do around the real call, in a process whose owner asks for it.
// Each policy's Run() has the real function and the arguments of the call.
#pragma once

#include "shrink/library/advice.h"
#include "shrink/library/agreement.h"
#include "shrink/library/eligible.h"
#include "shrink/library/settings.h"
#include "shrink/library/table.h"

namespace crossover::shrink::library {

// Returns whether the owner asks for anything. Reads the environment at the first call. Thread-safe.
bool IsOn();

// Returns the votes of this process. Those of the product are in the_agreement.cc; tests have others.
Agreement& TheAgreement();

// A Reduction is one call of all-reduce, and how it goes on with other buffers and another type.
struct Reduction {
  const void* send;
  void* receive;
  std::size_t count;
  NcclDataType type;
  NcclRedOp op;
  NcclComm comm;
  NcclStream stream;
  hooks::PFN_ncclReduction real;  // null: it is `with_settings`
  hooks::PFN_ncclReductionConfig with_settings;
  const hooks::NcclCollConfig* settings;
  NcclResult Go(const void* from, void* to, NcclDataType as) const {
    if (real != nullptr) return real(from, to, count, as, op, comm, stream);
    return with_settings(from, to, count, as, op, comm, stream, settings);
  }
};

// An Init is a call that makes a communicator with an ID, and how it goes on.
struct Init {
  NcclComm* comm;
  int ranks;
  int rank;
  NcclUniqueId id;
  int ids;
  const void* config;
};

// These do what the policies say. They are in library.cc, what makes and ends communicators in creation.cc,
// and what the dry run does in dry_run.cc.
NcclResult Reduce(const Reduction& call);
void NoteOther(const Call& call, NcclComm comm);
void CountGroupStart();
NcclResult EndGroup(hooks::PFN_ncclGroup real);
void OfferPort(NcclUniqueId* id);
Meeting BeforeInit(const Init& init);
NcclResult AfterInit(const Init& init, Meeting meeting, NcclResult result);
NcclResult BeforeDerived(NcclComm parent, const void* config);
NcclResult AfterDerived(NcclComm parent, NcclComm* child, NcclResult result);
NcclResult AskAsyncError(PFN_CommGetAsyncError real, NcclComm comm, NcclResult* error);
enum class Ending : std::uint8_t { kDestroy, kAbort };
NcclResult End(hooks::PFN_ncclCommEnd real, NcclComm comm, Ending ending);

struct AllReduce {
  static NcclResult Run(hooks::PFN_ncclReduction real, const void* send, void* receive, std::size_t count,
                        NcclDataType type, NcclRedOp op, NcclComm comm, NcclStream stream) {
    return Reduce({send, receive, count, type, op, comm, stream, real, nullptr, nullptr});
  }
  static NcclResult Run(hooks::PFN_ncclReductionConfig real, const void* send, void* receive,
                        std::size_t count, NcclDataType type, NcclRedOp op, NcclComm comm, NcclStream stream,
                        const hooks::NcclCollConfig* settings) {
    return Reduce({send, receive, count, type, op, comm, stream, nullptr, real, settings});
  }
};

// These are listed, and pass.
struct Rooted {
  static NcclResult Run(hooks::PFN_ncclRooted real, const void* send, void* receive, std::size_t count,
                        NcclDataType type, int root, NcclComm comm, NcclStream stream) {
    NoteOther({Function::kBroadcast, type, 0, count}, comm);
    return real(send, receive, count, type, root, comm, stream);
  }
};
struct ToOneRank {
  static NcclResult Run(hooks::PFN_ncclReduce real, const void* send, void* receive, std::size_t count,
                        NcclDataType type, NcclRedOp op, int root, NcclComm comm, NcclStream stream) {
    NoteOther({Function::kReduce, type, op, count}, comm);
    return real(send, receive, count, type, op, root, comm, stream);
  }
};
struct Unrooted {
  static NcclResult Run(hooks::PFN_ncclUnrooted real, const void* send, void* receive, std::size_t count,
                        NcclDataType type, NcclComm comm, NcclStream stream) {
    NoteOther({Function::kAllGather, type, 0, count}, comm);
    return real(send, receive, count, type, comm, stream);
  }
};
struct ReduceScatter {
  static NcclResult Run(hooks::PFN_ncclReduction real, const void* send, void* receive, std::size_t count,
                        NcclDataType type, NcclRedOp op, NcclComm comm, NcclStream stream) {
    NoteOther({Function::kReduceScatter, type, op, count}, comm);
    return real(send, receive, count, type, op, comm, stream);
  }
};

struct GroupStart {
  static NcclResult Run(hooks::PFN_ncclGroup real) {
    const NcclResult result = real();
    if (result == hooks::kNcclSuccess) CountGroupStart();
    return result;
  }
};
struct GroupEnd {
  static NcclResult Run(hooks::PFN_ncclGroup real) { return EndGroup(real); }
};

struct GetUniqueId {
  static NcclResult Run(PFN_GetUniqueId real, NcclUniqueId* id) {
    const NcclResult result = real(id);
    if (result == hooks::kNcclSuccess && id != nullptr) OfferPort(id);
    return result;
  }
};

struct CommInitRank {
  static NcclResult Run(hooks::PFN_ncclCommInitRank real, NcclComm* comm, int ranks, NcclUniqueId id,
                        int rank) {
    const Init init{comm, ranks, rank, id, 1, nullptr};
    Meeting meeting = BeforeInit(init);
    return AfterInit(init, static_cast<Meeting&&>(meeting), real(comm, ranks, id, rank));
  }
  static NcclResult Run(hooks::PFN_ncclCommInitRankConfig real, NcclComm* comm, int ranks, NcclUniqueId id,
                        int rank, void* config) {
    const Init init{comm, ranks, rank, id, 1, config};
    Meeting meeting = BeforeInit(init);
    return AfterInit(init, static_cast<Meeting&&>(meeting), real(comm, ranks, id, rank, config));
  }
};

struct CommInitRankScalable {
  static NcclResult Run(hooks::PFN_ncclCommInitRankScalable real, NcclComm* comm, int ranks, int rank,
                        int ids, NcclUniqueId* id, void* config) {
    const Init init{comm, ranks, rank, ids >= 1 && id != nullptr ? *id : NcclUniqueId{}, ids, config};
    Meeting meeting = BeforeInit(init);
    return AfterInit(init, static_cast<Meeting&&>(meeting), real(comm, ranks, rank, ids, id, config));
  }
};

struct CommSplit {
  static NcclResult Run(hooks::PFN_ncclCommSplit real, NcclComm parent, int color, int key, NcclComm* child,
                        void* config) {
    const NcclResult refused = BeforeDerived(parent, config);
    if (refused != hooks::kNcclSuccess) return refused;
    return AfterDerived(parent, child, real(parent, color, key, child, config));
  }
};
struct CommShrink {
  static NcclResult Run(hooks::PFN_ncclCommShrink real, NcclComm parent, int* excluded, int count,
                        NcclComm* child, void* config, int flags) {
    const NcclResult refused = BeforeDerived(parent, config);
    if (refused != hooks::kNcclSuccess) return refused;
    return AfterDerived(parent, child, real(parent, excluded, count, child, config, flags));
  }
};

struct CommGetAsyncError {
  static NcclResult Run(PFN_CommGetAsyncError real, NcclComm comm, NcclResult* error) {
    return AskAsyncError(real, comm, error);
  }
};

struct CommDestroy {
  static NcclResult Run(hooks::PFN_ncclCommEnd real, NcclComm comm) {
    return End(real, comm, Ending::kDestroy);
  }
};
struct CommAbort {
  static NcclResult Run(hooks::PFN_ncclCommEnd real, NcclComm comm) {
    return End(real, comm, Ending::kAbort);
  }
};

}  // namespace crossover::shrink::library
