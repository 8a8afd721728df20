#include "tests/process/deviceplugin/client.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/futex.h"

namespace crossover::testing {
namespace {

std::atomic_ref<std::uint32_t> At(std::uint32_t& word) { return std::atomic_ref<std::uint32_t>(word); }

std::uint32_t& WordOf(crossover_slot& slot, turn::Word word) {
  switch (word) {
    case turn::Word::kReady:
      return slot.ready;
    case turn::Word::kHold:
      return slot.hold;
    case turn::Word::kRel:
      return slot.rel;
    case turn::Word::kGate:
      break;
  }
  return slot.gate;
}

void Perform(crossover_page* page, const turn::Op& op) {
  std::uint32_t& word = WordOf(page->slot[op.slot], op.word);
  if (op.kind == turn::Op::Kind::kWrite) {
    At(word).store(op.value);
    base::FutexWakeAll(&word);
    return;
  }
  for (std::uint32_t seen = At(word).load(); !turn::AtOrPast(seen, op.value); seen = At(word).load()) {
    base::FutexWait(&word, seen, base::kNsPerSecond);
  }
}

}  // namespace

crossover_hello MakeHello(const std::string& gang, const std::string& uuid) {
  crossover_hello hello{};
  hello.header = {CROSSOVER_HELLO, sizeof(hello), CROSSOVER_PROTOCOL_VERSION, 0};
  std::strncpy(hello.gang, gang.c_str(), sizeof(hello.gang) - 1);
  std::strncpy(hello.gpu_uuid, uuid.c_str(), sizeof(hello.gpu_uuid) - 1);
  hello.gang_size = 2;
  hello.transport = CROSSOVER_TRANSPORT_HOST_GATES;
  return hello;
}

Client::Client(const std::string& socket_path) : socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  connected_ = connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
}

Client::~Client() {
  if (page_ != nullptr) munmap(page_, sizeof(*page_));
}

bool Client::SendBytes(const void* bytes, std::size_t size) const {
  return send(socket_.get(), bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

Answer Client::Receive() const {
  std::array<char, 512> bytes;
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
  Answer answer;
  if (size <= 0) return answer;
  answer.kind = Answer::Kind::kOther;
  if (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(rights), sizeof(fd));
    answer.page.Reset(fd);
  }
  crossover_welcome welcome;
  crossover_refused refused;
  if (size == sizeof(welcome)) {
    std::memcpy(&welcome, bytes.data(), sizeof(welcome));
    if (welcome.header.type == CROSSOVER_WELCOME) answer.kind = Answer::Kind::kWelcome;
    answer.slot = welcome.slot;
  } else if (size == sizeof(refused)) {
    std::memcpy(&refused, bytes.data(), sizeof(refused));
    if (refused.header.type == CROSSOVER_REFUSED) answer.kind = Answer::Kind::kRefused;
    answer.reason = refused.reason;
  }
  return answer;
}

bool Client::Join(const std::string& gang, const std::string& uuid) {
  const crossover_hello hello = MakeHello(gang, uuid);
  if (!SendBytes(&hello, sizeof(hello))) return false;
  Answer answer = Receive();
  refusal_ = answer.reason;
  if (answer.kind != Answer::Kind::kWelcome) return false;
  slot_ = answer.slot;
  page_fd_ = std::move(answer.page);
  void* memory = mmap(nullptr, sizeof(crossover_page), PROT_READ | PROT_WRITE, MAP_SHARED, page_fd_.get(), 0);
  if (memory == MAP_FAILED) return false;
  page_ = static_cast<crossover_page*>(memory);
  return true;
}

void Client::AwaitEnd() const {
  while (Receive().kind != Answer::Kind::kEnd) {
  }
}

void Client::StartLiveness() const {
  std::atomic<bool> ready = false;
  std::thread([this, &ready] {
    static thread_local robust_list node;
    static thread_local robust_list_head head;
    node.next = &head.list;
    head.list.next = &node;
    head.list_op_pending = nullptr;
    head.futex_offset =
        static_cast<long>(reinterpret_cast<char*>(&self().alive) - reinterpret_cast<char*>(&node));
    syscall(SYS_set_robust_list, &head, sizeof(head));
    At(self().alive).store(static_cast<std::uint32_t>(syscall(SYS_gettid)));
    base::FutexWakeAll(&self().alive);
    ready = true;
    ready.notify_one();
    for (;;) pause();
  }).detach();
  ready.wait(false);
}

void Client::SetPhase(std::uint32_t phase) const { At(self().phase).store(phase); }

void Client::AwaitMode(std::uint32_t mode) const {
  while (At(self().mode).load() != mode) poll(nullptr, 0, 1);
}

void Client::Acquire(std::uint32_t turn) const {
  for (const turn::Op& op : turn::Acquire(slot_, turn::FirstStretch(turn))) Perform(page_, op);
}

void Client::Release(std::uint32_t turn) const {
  const turn::TurnNumber k = turn::FirstStretch(turn);
  const std::uint32_t successor = At(self().successor[0]).load() % CROSSOVER_MAX_CLIENTS;
  const std::uint32_t ready = At(page_->slot[successor].ready).load();
  for (const turn::Op& op : turn::Release(slot_, k, successor, turn::OpenFor(slot_, k, successor, ready))) {
    Perform(page_, op);
  }
}

}  // namespace crossover::testing
