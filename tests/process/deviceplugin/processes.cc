#include "tests/process/deviceplugin/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace crossover::testing {

TempDir::TempDir() {
  std::string name = std::filesystem::temp_directory_path().string() + "/crossover-XXXXXX";
  path_ = mkdtemp(name.data());
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Program::Program(const std::vector<std::string>& command) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) abort();
  stderr_.Reset(ends[0]);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent has ended before that line
    dup2(ends[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
}

Program::~Program() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Program::ReadMore() {
  std::array<char, 4096> buffer;
  const ssize_t size = read(stderr_.get(), buffer.data(), buffer.size());
  if (size <= 0) return false;
  seen_.append(buffer.data(), static_cast<std::size_t>(size));
  return true;
}

bool Program::AwaitLine(const std::string& text) {
  for (;;) {
    const std::size_t found = seen_.find(text, searched_);
    if (found != std::string::npos) {
      searched_ = found + text.size();
      return true;
    }
    if (!ReadMore()) return false;
  }
}

void Program::Signal(int signal) const { kill(pid_, signal); }

int Program::Wait() {
  while (ReadMore()) {
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

Child::Child(const std::function<void(const Reporter&)>& body) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) abort();
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent has ended before that line
    close(ends[0]);
    body(Reporter(ends[1]));
    _exit(0);
  }
  close(ends[1]);
  reports_.Reset(ends[0]);
}

Child::~Child() { Kill(); }

void Child::Reporter::Report(char what) const {
  if (write(fd_, &what, 1) != 1) _exit(1);
}

char Child::Await() {
  char what = 0;
  return read(reports_.get(), &what, 1) == 1 ? what : '\0';
}

void Child::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace crossover::testing
