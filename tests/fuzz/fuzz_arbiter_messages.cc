// libs: crossover_sidecar_core
// Sends the library what an arbiter may send, with any descriptors. No connection takes more messages than
// came. A membership has a page and a slot that can be used, text ends, and no descriptor is left behind.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "common/base/descriptors.h"
#include "common/base/fd.h"
#include "sidecar/arbiter_client/arbiter_messages.h"
#include "sidecar/arbiter_client/connection.h"
#include "sidecar/arbiter_client/page.h"
#include "sidecar/ipc/signals.h"
#include "sidecar/log/log.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/require.h"

namespace {

using namespace crossover;  // NOLINT(google-build-using-namespace)
using crossover::fuzz::Bytes;
using crossover::fuzz::Require;

constexpr std::size_t kLongest = 1200;  // of a message: longer than any that is known

// Returns how many descriptors are open. This process has few, and the kernel gives out the lowest numbers.
int OpenDescriptors() {
  constexpr int kMost = 64;
  int open = 0;
  for (int fd = 0; fd < kMost; ++fd) open += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return open;
}

int Turnstile(int seals, off_t bytes, std::uint32_t version) {
  const int fd = ::memfd_create("turnstile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  Require(fd >= 0 && ::ftruncate(fd, bytes) == 0);
  const std::uint32_t head[] = {CROSSOVER_TURNSTILE_MAGIC, version, sizeof(crossover_page),
                                CROSSOVER_MAX_CLIENTS};
  Require(::pwrite(fd, head, sizeof head, 0) == sizeof head);
  if (seals != 0) Require(::fcntl(fd, F_ADD_SEALS, seals) == 0);
  return fd;
}

// Returns a descriptor that an arbiter may send along: a turnstile, or something that is none.
int Descriptor(std::uint8_t which) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  static const int descriptors[] = {
      Turnstile(kSeals, CROSSOVER_PAGE_BYTES, CROSSOVER_TURNSTILE_VERSION),
      Turnstile(0, CROSSOVER_PAGE_BYTES, CROSSOVER_TURNSTILE_VERSION),
      Turnstile(kSeals, 2 * CROSSOVER_PAGE_BYTES, CROSSOVER_TURNSTILE_VERSION),
      Turnstile(kSeals, CROSSOVER_PAGE_BYTES, CROSSOVER_TURNSTILE_VERSION + 1),
      Turnstile(kSeals | F_SEAL_WRITE, CROSSOVER_PAGE_BYTES, CROSSOVER_TURNSTILE_VERSION),
      STDIN_FILENO,
  };
  return descriptors[which % std::size(descriptors)];
}

struct Sent {
  std::array<char, kLongest> bytes{};
  std::size_t size = 0;
  std::vector<int> fds;
};

// Reads a message from the input: one that an arbiter may send, or one with any bytes.
Sent NextMessage(Bytes* input) {
  Sent sent;
  const std::uint8_t kind = input->NextByte();
  constexpr std::uint32_t kSizes[] = {sizeof(crossover_welcome),
                                      sizeof(crossover_refused),
                                      sizeof(crossover_notice),
                                      sizeof(crossover_header),
                                      kLongest,
                                      sizeof(crossover_offer),
                                      sizeof(crossover_proof)};
  constexpr std::uint32_t kTypes[] = {
      CROSSOVER_WELCOME, CROSSOVER_REFUSED, CROSSOVER_NOTICE, CROSSOVER_PROFILE, 99,
      CROSSOVER_OFFER,   CROSSOVER_PROVEN};
  const std::size_t which = kind % std::size(kTypes);
  crossover_header header{kTypes[which], kSizes[which], CROSSOVER_PROTOCOL_VERSION, 0};
  sent.size = header.bytes;
  if ((kind & 0x40) != 0) sent.size = input->Next<std::uint16_t>() % kLongest;
  if ((kind & 0x80) != 0) header = input->Next<crossover_header>();
  std::memcpy(sent.bytes.data(), &header, sizeof header);
  const std::size_t body = input->Next<std::uint16_t>();
  input->Take(sent.bytes.data() + sizeof header, std::min(body, kLongest - sizeof header));
  const std::uint8_t along = input->NextByte();
  for (int i = 0; i < along % 4; ++i) sent.fds.push_back(Descriptor(input->NextByte()));
  return sent;
}

void Send(int socket, const Sent& sent) {
  const ssize_t size =
      base::SendWithDescriptors(socket, sent.bytes.data(), sent.size, sent.fds, MSG_NOSIGNAL);
  Require(size == static_cast<ssize_t>(sent.size));
}

template <std::size_t kSize>
void RequireText(const char (&text)[kSize]) {
  Require(std::memchr(text, 0, kSize) != nullptr);
}

void ReadAlone(const Sent& sent) {
  arbiter_client::Message message{};
  std::memcpy(&message, sent.bytes.data(), std::min(sizeof message, sent.size));
  switch (arbiter_client::Read(&message, sent.size)) {
    case arbiter_client::MessageKind::kWelcome:
      Require(message.welcome.slot < CROSSOVER_MAX_CLIENTS && sent.size == sizeof message.welcome);
      break;
    case arbiter_client::MessageKind::kRefused:
      RequireText(message.refused.reason);
      break;
    case arbiter_client::MessageKind::kNotice:
      RequireText(message.notice.text);
      break;
    case arbiter_client::MessageKind::kOffer:
      Require(sent.size == sizeof message.offer);
      break;
    case arbiter_client::MessageKind::kProven:
      Require(sent.size == sizeof message.proven);
      break;
    case arbiter_client::MessageKind::kBroken:
    case arbiter_client::MessageKind::kMalformed:
    case arbiter_client::MessageKind::kUnknown:
    case arbiter_client::MessageKind::kLimit:
      break;
  }
}

// Hands what came to the state of signals, as the helper does, with a driver that has no function. No offer
// of any bytes gets as far as an import, and no message goes out that the arbiter has not asked for.
void Answer(arbiter_client::Received* received, const arbiter_client::Membership& membership) {
  static constinit gates::Driver driver;
  static constinit gates::GpuGate gate;
  static constinit ipc::Signals state;
  state.Attach(&driver, nullptr, ipc::Wish::kAsOffered, &gate, membership.page, membership.slot);
  const bool asked = received->kind == arbiter_client::MessageKind::kOffer &&
                     received->message.offer.state == CROSSOVER_OFFER_ASK;
  if (received->kind == arbiter_client::MessageKind::kOffer)
    state.OnOffer(received->message.offer, std::move(received->fd));
  if (received->kind == arbiter_client::MessageKind::kProven) state.OnProven(received->message.proven);
  arbiter_client::ToArbiter message;
  Require(state.NextMessage(&message) == asked);
  crossover_offer given = received->message.offer;
  given.state = CROSSOVER_OFFER_GIVEN;
  state.OnOffer(given, std::move(received->fd));
  Require(!state.awaited());
}

// Does as the helper does: joins, then listens until the connection ends. The arbiter's end is closed
// already.
void Live(base::UniqueFd client, std::size_t messages) {
  arbiter_client::Connection connection(std::move(client));
  crossover_hello hello{};
  hello.header = arbiter_client::MakeHeader(CROSSOVER_HELLO, sizeof hello);
  arbiter_client::Membership membership;
  char reason[CROSSOVER_REASON_MAX] = {};
  if (!connection.Join(hello, &membership, reason, sizeof reason)) {
    RequireText(reason);
    Require(reason[0] != '\0' || messages > 0);
    return;
  }
  Require(membership.page != nullptr && membership.slot < CROSSOVER_MAX_CLIENTS);
  Require(membership.page->magic == CROSSOVER_TURNSTILE_MAGIC);
  membership.page->slot[membership.slot].heartbeat += 1;  // it can be written
  std::size_t looks = 0;
  arbiter_client::Received received;
  while (!connection.AwaitEnd(0, &received)) {
    Require(++looks <= messages);
    Answer(&received, membership);
  }
  arbiter_client::UnmapPage(membership.page);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostMessages = 8;  // what a socket holds
  log::SetLevel(log::Level::kError);
  Descriptor(0);
  const int before = OpenDescriptors();
  {
    int ends[2];
    Require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    base::UniqueFd arbiter(ends[0]);
    base::UniqueFd client(ends[1]);
    Bytes input(data, size);
    std::size_t messages = 0;
    for (; !input.empty() && messages < kMostMessages; ++messages) {
      const Sent sent = NextMessage(&input);
      ReadAlone(sent);
      Send(arbiter.get(), sent);
    }
    ::shutdown(arbiter.get(), SHUT_WR);  // the hello can still be sent
    Live(std::move(client), messages);
  }
  Require(OpenDescriptors() == before);
  return 0;
}
