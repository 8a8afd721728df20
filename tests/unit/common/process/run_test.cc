#include "common/process/run.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iterator>

#include "tests/unit/common/hearing.h"

namespace crossover::process {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kPatience{60'000};

TEST(RunTest, WhatItReadsAndWrites) {
  const auto outcome = process::Run({"cat"}, {}, "one\ntwo\n", kPatience);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, 0);
  EXPECT_EQ(outcome->output, "one\ntwo\n");
}

TEST(RunTest, LongInputIsReadWholeOrNotAtAll) {
  const std::string input(500'000, 'x');
  const auto outcome = process::Run({"cat"}, {}, input, kPatience);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, input);
  EXPECT_FALSE(process::Run({"cat"}, {}, std::string(200u << 20, 'x'), kPatience)) << "no pipe is so large";
}

TEST(RunTest, VariablesComeBesideOurOwnAndBeforeThem) {
  const auto outcome =
      process::Run({"sh", "-c", "echo $MADE-${PATH:+set}"}, {{"MADE", "x y"}}, "", kPatience);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "x y-set\n");
  EXPECT_EQ(process::Run({"/bin/sh", "-c", "echo $PATH"}, {{"PATH", "/nowhere"}}, "", kPatience)->output,
            "/nowhere\n");
}

TEST(RunTest, ItsExitStatusAndTheSignalThatEndedIt) {
  EXPECT_EQ(process::Run({"sh", "-c", "exit 3"}, {}, "", kPatience)->status, 3);
  EXPECT_EQ(process::Run({"sh", "-c", "kill -9 $$"}, {}, "", kPatience)->status, 128 + 9);
}

TEST(RunTest, OneThatIsNotThereOrDoesNotEnd) {
  auto why = process::NoOutcome::kLate;
  EXPECT_FALSE(process::Run({"/nonexistent/program"}, {}, "", kPatience, {}, &why));
  EXPECT_EQ(why, process::NoOutcome::kNotStarted);
  EXPECT_FALSE(process::Run({"sleep", "1000"}, {}, "", milliseconds(50), {}, &why));
  EXPECT_EQ(why, process::NoOutcome::kLate);
  EXPECT_FALSE(process::Run({"sh", "-c", "exec sleep 1000 >&-"}, {}, "", milliseconds(50)))
      << "which says no more";
}

TEST(RunTest, ItsStandardErrorWhereThatIsWanted) {
  const std::vector<std::string> command = {"sh", "-c", "echo out; echo err >&2"};
  const auto outcome = process::Run(command, {}, "", kPatience, {.errors = true});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "out\n");
  EXPECT_EQ(outcome->errors, "err\n");
  EXPECT_EQ(process::Run(command, {}, "", kPatience)->errors, "");
  const auto both = process::Run({"sh", "-c", "yes | head -c 200000 >&2; yes | head -c 200000"}, {}, "",
                                 kPatience, {.most = 100'000, .errors = true});
  ASSERT_TRUE(both) << "neither waits for the other to be read";
  EXPECT_LT(both->output.size(), 100'000u + 4096);
  EXPECT_LT(both->errors.size(), 100'000u + 4096);
}

// Makes pidfd_open() fail in this process as it does on Linux before 5.3. Returns false if it cannot.
bool TakePidfdAway() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(steps)), steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
         syscall(SYS_pidfd_open, getpid(), 0) == -1 && errno == ENOSYS;
}

TEST(RunDeathTest, WithoutPidfdItsEndIsSeenToo) {
  const auto runs = [] {
    if (!TakePidfdAway()) return 2;
    const auto outcome = process::Run({"sh", "-c", "echo out; exit 3"}, {}, "", kPatience);
    if (!outcome || outcome->status != 3 || outcome->output != "out\n") return 3;
    auto why = process::NoOutcome::kNotStarted;
    const std::vector<std::string> silent = {"sh", "-c", "exec sleep 1000 >&-"};
    if (process::Run(silent, {}, "", milliseconds(50), {}, &why)) return 4;
    return why == process::NoOutcome::kLate ? 0 : 5;
  };
  EXPECT_EXIT(_exit(runs()), testing::ExitedWithCode(0), "");
}

// The program sends signals while its output, or its end, is waited for.
TEST(RunTest, ASignalEndsNoWait) {
  const std::string file = testing::TempDir() + "/run_test-" + std::to_string(getpid());
  const std::string signals = "while ! test -e " + file + "; do kill -USR1 $PPID; done; ";
  {
    const Hearing hearing(file);
    const auto outcome = process::Run({"sh", "-c", signals + "echo out"}, {}, "", kPatience);
    EXPECT_EQ(outcome ? outcome->output : "none", "out\n");
  }
  const Hearing hearing(file);
  const auto silent = process::Run({"sh", "-c", "exec >&-; " + signals + "exit 3"}, {}, "", kPatience);
  EXPECT_EQ(silent ? silent->status : -1, 3);
}

TEST(RunTest, WhatIsTooMuchIsLeftOut) {
  const auto outcome = process::Run({"sh", "-c", "yes | head -c 3000000"}, {}, "", kPatience);
  ASSERT_TRUE(outcome);
  EXPECT_LT(outcome->output.size(), kMostOutput + 4096);
}

}  // namespace
}  // namespace crossover::process
