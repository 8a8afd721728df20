// Implements the root of a rendezvous: see rendezvous.h.
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>

#include "simgpu/nccl/rendezvous.h"
#include "simgpu/nccl/thread.h"

namespace simgpu::nccl {

namespace {

// A Root collects the ranks that join, and answers them.
class Root {
 public:
  Root(UniqueFd listener, std::uint64_t nonce) : listener_(std::move(listener)), nonce_(nonce) {}

  // Blocks until every rank has its answer: the table, or what went wrong. Late ranks get an answer too.
  void Serve() {
    while (ranks_ == 0 || answered_ < ranks_) {
      std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}};
      for (const Guest& guest : guests_) fds.push_back({guest.fd.get(), POLLIN, 0});
      if (poll(fds.data(), fds.size(), -1) < 0) continue;
      std::size_t index = 1;
      for (auto guest = guests_.begin(); guest != guests_.end();) {
        const bool ready = fds[index++].revents != 0;
        guest = ready && !Read(*guest) ? guests_.erase(guest) : std::next(guest);
      }
      if (fds[0].revents != 0) Welcome();
      Answer();
    }
  }

 private:
  struct Guest {
    UniqueFd fd;
    FrameReader reader;
    bool joined = false;
    bool answered = false;
    Join join;
  };

  void Welcome() {
    UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) guests_.push_back({std::move(fd), {}, false, false, {}});
  }

  // Reads from a guest. Returns false if the guest must be dropped.
  bool Read(Guest& guest) {
    const auto space = guest.reader.Space();
    const ssize_t got = recv(guest.fd.get(), space.data(), space.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) {
      if (!guest.joined) return false;
      if (!guest.answered) ++answered_;
      Fail("rank " + std::to_string(guest.join.rank) + " left before all ranks were there");
      return false;
    }
    guest.reader.Received(static_cast<std::size_t>(got));
    const auto frame = guest.reader.Next();
    if (!frame) return !guest.reader.broken();
    const auto join = frame->header.kind == Kind::kJoin ? DecodeJoin(frame->payload) : std::nullopt;
    if (join && join->nonce != nonce_) {
      // The system has given the address of an earlier root to this one.
      std::string ignored;
      SendAll(guest.fd.get(),
              EncodeError({ncclRemoteError, "the unique id is of an earlier start of the job"}), never_,
              &ignored);
    }
    if (!join || join->nonce != nonce_ || guest.joined) return false;  // not a rank of this communicator
    Admit(*join);
    guest.joined = true;
    guest.join = *join;
    return true;
  }

  // Checks a new rank against those that joined before.
  void Admit(const Join& join) {
    const std::string who = "rank " + std::to_string(join.rank);
    if (ranks_ == 0) {
      ranks_ = join.ranks;
      library_ = join.library;
    }
    const bool twice = std::any_of(guests_.begin(), guests_.end(), [&](const Guest& guest) {
      return guest.joined && guest.join.rank == join.rank;
    });
    if (join.version != kWireVersion) {
      Fail(who + " speaks another version of the protocol");
    } else if (join.ranks != ranks_) {
      Fail(who + " says nranks is " + std::to_string(join.ranks) + ", another rank said " +
           std::to_string(ranks_));
    } else if (join.library != library_) {
      Fail(who + " runs NCCL " + std::to_string(join.library) + ", another rank " + std::to_string(library_));
    } else if (twice) {
      Fail(who + " has joined twice");
    }
  }

  void Fail(const std::string& why) {
    if (failure_.empty()) failure_ = why;
  }

  void Answer() {
    const auto joined =
        std::count_if(guests_.begin(), guests_.end(), [](const Guest& g) { return g.joined; });
    if (failure_.empty() && (ranks_ == 0 || joined < ranks_)) return;
    const auto answer = failure_.empty() ? Table() : EncodeError({ncclRemoteError, failure_});
    std::string ignored;  // a rank that is gone notices by itself
    for (Guest& guest : guests_) {
      if (!guest.joined || guest.answered) continue;
      SendAll(guest.fd.get(), answer, never_, &ignored);
      guest.answered = true;
      ++answered_;
    }
  }

  std::vector<std::byte> Table() const {
    std::vector<Member> members(ranks_);
    for (const Guest& guest : guests_) {
      if (guest.joined) members[guest.join.rank] = guest.join.self;
    }
    return EncodeTable(members);
  }

  UniqueFd listener_;
  std::uint64_t nonce_;
  Cancel never_;
  std::list<Guest> guests_;
  std::uint32_t ranks_ = 0;  // 0: no rank has joined yet
  std::uint32_t library_ = 0;
  std::uint32_t answered_ = 0;
  std::string failure_;
};

}  // namespace

bool StartRoot(ncclUniqueId* id, std::string* error) {
  const auto address = ChooseAddress(error);
  if (!address) return false;
  Rendezvous where{*address, 0};
  if (getrandom(&where.nonce, sizeof where.nonce, 0) != sizeof where.nonce) {
    *error = std::string("getrandom: ") + std::strerror(errno);
    return false;
  }
  UniqueFd listener = Listen(&where.root, error);
  if (!listener) return false;
  EncodeUniqueId(where, id);
  StartThread([root = Root(std::move(listener), where.nonce)]() mutable { root.Serve(); }).detach();
  return true;
}

}  // namespace simgpu::nccl
