#include "common/process/run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <span>

#include "common/base/fd.h"
#include "common/base/retry.h"

extern char** environ;

namespace crossover::process {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Pipe {
  base::UniqueFd read, write;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read.Reset(ends[0]);
    write.Reset(ends[1]);
    return true;
  }
};

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Environment(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : variables) replaced |= text.compare(0, name.size() + 1, name + "=") == 0;
    if (!replaced) all.push_back(text);
  }
  return all;
}

// Starts a program and returns its process ID, or 0 if it cannot be started. The program begins with no
// signal blocked, whatever this process blocks.
pid_t Spawn(std::vector<std::string> command, std::vector<std::string> environment, int in, int out,
            int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (errors >= 0) posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const auto arguments = Pointers(&command);
  const auto variables = Pointers(&environment);
  if (posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), variables.data()) != 0)
    pid = 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

// Writes all of `text` into an empty pipe, which grows to hold it. Returns false if it cannot: the write must
// not block, because the reader is not there yet.
bool Fill(int pipe, const std::string& text) {
  constexpr std::size_t kUsualPipe = 65536;
  if (text.size() > kUsualPipe && fcntl(pipe, F_SETPIPE_SZ, static_cast<int>(text.size())) < 0) return false;
  fcntl(pipe, F_SETFL, O_NONBLOCK);
  return write(pipe, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A Stream is the read end of a pipe and the text that has come through it.
struct Stream {
  int fd;  // -1: closed
  std::string* text;
};

void ReadSome(Stream* stream, std::size_t most) {
  char buffer[4096];
  const ssize_t size = base::RetryOnSignal([&] { return read(stream->fd, buffer, sizeof buffer); });
  if (size <= 0) stream->fd = -1;
  if (size > 0 && stream->text->size() < most) stream->text->append(buffer, static_cast<std::size_t>(size));
}

milliseconds Until(steady_clock::time_point end) {
  return std::max(std::chrono::duration_cast<milliseconds>(end - steady_clock::now()), milliseconds(0));
}

// Returns whether one of the descriptors is ready, or becomes so before `end`.
bool AwaitReady(std::span<pollfd> fds, steady_clock::time_point end) {
  return base::RetryOnSignal(
             [&] { return poll(fds.data(), fds.size(), static_cast<int>(Until(end).count())); }) > 0;
}

// Reads from both pipes until the program has closed them. Returns false if that lasts beyond `end`.
bool Collect(std::array<Stream, 2> streams, steady_clock::time_point end, std::size_t most) {
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    std::array<pollfd, 2> readable{{{streams[0].fd, POLLIN, 0}, {streams[1].fd, POLLIN, 0}}};
    if (steady_clock::now() >= end || !AwaitReady(readable, end)) return false;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (readable[i].revents != 0) ReadSome(&streams[i], most);
    }
  }
  return true;
}

// Returns whether the process has ended, and leaves its exit status for waitpid(). Returns true, too, if
// there is no status to wait for.
bool HasEnded(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

// Waits until the process has ended, and leaves its exit status for waitpid(). Returns false if that
// lasts beyond `end`.
bool AwaitEnd(pid_t pid, steady_clock::time_point end) {
  const base::UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{process.get(), POLLIN, 0};
  if (process) return AwaitReady({&ended, 1}, end);
  // Linux before 5.3 has no pidfd_open(), and descriptors may be used up: look repeatedly.
  constexpr milliseconds kLook{5};
  while (!HasEnded(pid)) {
    if (steady_clock::now() >= end) return false;
    poll(nullptr, 0, static_cast<int>(std::min(Until(end), kLook).count()));
  }
  return true;
}

}  // namespace

std::optional<Outcome> Run(const std::vector<std::string>& command,
                           const std::vector<std::pair<std::string, std::string>>& variables,
                           const std::string& input, milliseconds patience, const Wanted& wanted,
                           NoOutcome* why) {
  if (why != nullptr) *why = NoOutcome::kNotStarted;
  const auto end = steady_clock::now() + patience;
  Pipe in, out, errors;
  if (!in.Open() || !out.Open() || (wanted.errors && !errors.Open())) return std::nullopt;
  if (!Fill(in.write.get(), input)) return std::nullopt;
  const pid_t pid =
      Spawn(command, Environment(variables), in.read.get(), out.write.get(), errors.write.get());
  in.read.Reset();
  in.write.Reset();
  out.write.Reset();
  errors.write.Reset();
  if (pid == 0) return std::nullopt;
  Outcome outcome;
  const bool ended = Collect({{{out.read.get(), &outcome.output}, {errors.read.get(), &outcome.errors}}}, end,
                             wanted.most) &&
                     AwaitEnd(pid, end);
  if (!ended) kill(pid, SIGKILL);
  if (!ended && why != nullptr) *why = NoOutcome::kLate;
  int status = 0;
  const bool known = base::RetryOnSignal([&] { return waitpid(pid, &status, 0); }) == pid;
  if (!known || !ended) return std::nullopt;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

}  // namespace crossover::process
