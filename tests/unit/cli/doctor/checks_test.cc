// A healthy machine passes every check. Each planted fault is seen by its check, and by no other unless the
// fault says so.
#include "cli/doctor/checks.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <set>

#include "proto/crossover_node.pb.h"

namespace crossover::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::shared_ptr<node::v1::Top> HealthyDaemon() {
  auto top = std::make_shared<node::v1::Top>();
  top->mutable_daemon()->set_uptime_s(1000);
  top->mutable_daemon()->set_mode("enforce");
  top->mutable_daemon()->set_mode_configured("enforce");
  node::v1::Gpu* gpu = top->add_gpus();
  gpu->set_uuid("GPU-0");
  gpu->set_mode("gate");
  gpu->set_clients(2);
  for (const char* gang : {"alpha", "beta"}) {
    node::v1::Client* client = top->add_jobs()->add_clients();
    client->set_gang(gang);
    client->set_gpu_uuid("GPU-0");
    client->set_pid(gang[0] == 'a' ? 100 : 200);
    client->set_connected_s(900);
    client->set_learned(true);
  }
  return top;
}

Facts Healthy() {
  Facts facts;
  facts.user = 1000;
  facts.arbiter = {.path = "/run/a.sock", .exists = true, .is_socket = true, .mode = 0666};
  facts.api = {.path = "/run/api.sock", .exists = true, .is_socket = true, .mode = 0600};
  facts.library.path = "/lib/libcrossover.so";
  facts.library.readable = true;
  facts.library.file = facts.library.own = {.is_elf = true, .elf_class = ELFCLASS64, .machine = EM_X86_64};
  facts.library.tried = true;
  facts.driver = {.loaded = true, .error = "", .version = 13000};
  facts.mps = {.control = "/tmp/nvidia-mps/control", .connect_errno = 0};
  facts.kernel = {
      .release = "6.6", .memfd_error = "", .robust_futex = true, .peer_pidfd = true, .membarrier = true};
  facts.daemon = HealthyDaemon();
  facts.process_age_s = {{100, 901}, {200, 901}};
  return facts;
}

Finding Of(const std::vector<Finding>& findings, const std::string& name) {
  for (const Finding& finding : findings) {
    if (finding.name == name) return finding;
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

TEST(DoctorTest, AHealthyMachinePassesEveryCheck) {
  const std::vector<Finding> findings = Examine(Healthy());
  std::set<std::string> names;
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.verdict, Verdict::kOk) << finding.name << ": " << finding.seen;
    EXPECT_THAT(finding.seen, Not(IsEmpty())) << finding.name;
    EXPECT_THAT(finding.advice, IsEmpty()) << finding.name;
    EXPECT_TRUE(names.insert(finding.name).second) << finding.name;
  }
  EXPECT_EQ(ExitCode(findings), 0);
}

struct Fault {
  const char* check;
  Verdict verdict;
  const char* seen;  // a part of what is said
  std::function<void(Facts* facts)> plant;
  std::set<std::string> also = {};  // other checks that see this fault
};

node::v1::Client* FirstClient(Facts* facts) {
  auto top = std::make_shared<node::v1::Top>(*facts->daemon);
  facts->daemon = top;
  return top->mutable_jobs(0)->mutable_clients(0);
}

node::v1::Gpu* FirstGpu(Facts* facts) {
  auto top = std::make_shared<node::v1::Top>(*facts->daemon);
  facts->daemon = top;
  return top->mutable_gpus(0);
}

node::v1::Daemon* DaemonOf(Facts* facts) {
  auto top = std::make_shared<node::v1::Top>(*facts->daemon);
  facts->daemon = top;
  return top->mutable_daemon();
}

std::vector<Fault> MachineFaults() {
  return {
      {"arbiter_socket",
       Verdict::kFail,
       "expected the socket of the daemon, got no file",
       [](Facts* f) { f->arbiter = {.path = "/run/a.sock", .connect_errno = ENOENT}; },
       {"arbiter_permissions"}},
      {"arbiter_socket",
       Verdict::kFail,
       "Connection refused",
       [](Facts* f) { f->arbiter.connect_errno = ECONNREFUSED; },
       {"arbiter_permissions"}},
      {"arbiter_socket",
       Verdict::kFail,
       "expected a socket, got another kind of file",
       [](Facts* f) {
         f->arbiter.is_socket = false;
         f->arbiter.connect_errno = ECONNREFUSED;
       },
       {"arbiter_permissions"}},
      {"arbiter_socket",
       Verdict::kFail,
       "Protocol wrong type for socket",
       [](Facts* f) { f->arbiter.connect_errno = EPROTOTYPE; },
       {"arbiter_permissions"}},
      {"arbiter_permissions",
       Verdict::kFail,
       "user 1000 may not connect to /run/a.sock (mode 0600)",
       [](Facts* f) {
         f->arbiter.mode = 0600;
         f->arbiter.connect_errno = EACCES;
       },
       {"arbiter_socket"}},
      {"arbiter_permissions",
       Verdict::kFail,
       "user 1000 may not connect to /run/a.sock, nor look at the file",
       [](Facts* f) { f->arbiter = {.path = "/run/a.sock", .connect_errno = EACCES}; },
       {"arbiter_socket"}},
      {"api_socket", Verdict::kUnknown, "user 1000 may not ask",
       [](Facts* f) { f->api.connect_errno = EACCES; }},
      {"api_socket", Verdict::kWarn, "no daemon answers, although one listens on /run/a.sock",
       [](Facts* f) { f->api.connect_errno = ENOENT; }},
      {"api_socket",
       Verdict::kFail,
       "no daemon answers",
       [](Facts* f) { f->api.connect_errno = f->arbiter.connect_errno = ECONNREFUSED; },
       {"arbiter_socket", "arbiter_permissions"}},
      {"library",
       Verdict::kFail,
       "or in ../lib or ../lib/crossover from there, got none that this user can read",
       [](Facts* f) { f->library = {}; },
       {"library_fits", "library_loads"}},
      {"library",
       Verdict::kFail,
       "expected a file that this user can read, got none",
       [](Facts* f) {
         f->library.readable = false;
         f->library.tried = false;
       },
       {"library_fits", "library_loads"}},
      {"library_fits", Verdict::kFail, "expected an ELF file", [](Facts* f) { f->library.file = {}; }},
      {"library_fits", Verdict::kFail, "ELF class 1",
       [](Facts* f) { f->library.file.elf_class = ELFCLASS32; }},
      {"library_fits", Verdict::kFail, "machine 183", [](Facts* f) { f->library.file.machine = EM_AARCH64; }},
      {"library_loads", Verdict::kFail, "libfoo.so.1: cannot open",
       [](Facts* f) { f->library.complaint = "libfoo.so.1: cannot open shared object file"; }},
      {"driver", Verdict::kWarn, "libcuda.so.1 cannot be loaded here: not found",
       [](Facts* f) { f->driver = {.loaded = false, .error = "not found"}; }},
      {"mps", Verdict::kWarn, "/tmp/nvidia-mps/control: no MPS control daemon: Connection refused",
       [](Facts* f) { f->mps.connect_errno = ECONNREFUSED; }},
      {"mps", Verdict::kFail, "MPS takes no new clients: its server is in FAULT",
       [](Facts* f) { f->mps.fault = "MPS takes no new clients: its server is in FAULT"; }},
      {"mps", Verdict::kWarn, "the node daemon cannot ask MPS: the client program",
       [](Facts* f) { f->mps.unasked = "the client program of MPS cannot be run"; }},
      {"mps", Verdict::kUnknown, "cannot be connected to: Too many open files",
       [](Facts* f) { f->mps.connect_errno = EMFILE; }},
      {"mps_shm", Verdict::kWarn, "a common /dev/shm of 64 GiB, 9% of it free",
       [](Facts* f) {
         f->mps.shm_bytes = 64ULL << 30;
         f->mps.shm_free_bytes = 6ULL << 30;
       }},
      {"mps_shm", Verdict::kWarn, "a common /dev/shm of 1024 MiB, 100% of it free",
       [](Facts* f) { f->mps.shm_bytes = f->mps.shm_free_bytes = 1ULL << 30; }},
      {"mps_shm", Verdict::kWarn, "a common /dev/shm of 512 MiB, 100% of it free",
       [](Facts* f) { f->mps.shm_bytes = f->mps.shm_free_bytes = 1ULL << 29; }},
      {"memfd", Verdict::kFail, "sealing a memfd",
       [](Facts* f) { f->kernel.memfd_error = "sealing a memfd: Operation not permitted"; }},
      {"robust_futex", Verdict::kWarn, "refused", [](Facts* f) { f->kernel.robust_futex = false; }},
      {"pidfd",
       Verdict::kWarn,
       "SO_PEERPIDFD: expected in kernel 6.5 and later, got kernel 6.6 without it",
       [](Facts* f) { f->kernel.peer_pidfd = f->kernel.robust_futex = false; },
       {"robust_futex"}},
      {"membarrier", Verdict::kWarn, "expected MEMBARRIER_CMD_PRIVATE_EXPEDITED from the kernel, got none",
       [](Facts* f) { f->kernel.membarrier = false; }},
  };
}

std::vector<Fault> EnvironmentFaults() {
  const auto set = [](const char* name, const char* value) {
    return [=](Facts* facts) { facts->environment[name] = value; };
  };
  return {
      {"environment", Verdict::kFail, "CROSSOVER_GATES: expected gpu, ipc, relay or host, got maybe",
       set("CROSSOVER_GATES", "maybe")},
      {"environment", Verdict::kFail,
       "CROSSOVER_GANG: expected 1 to 127 printable ASCII characters without spaces, got two words",
       set("CROSSOVER_GANG", "two words")},
      {"environment", Verdict::kFail,
       "CROSSOVER_GANG_SIZE: expected a number of ranks from 1 to 1000000, got 0",
       set("CROSSOVER_GANG_SIZE", "0")},
      {"environment", Verdict::kFail, "CROSSOVER_TURN_PRIORITY: expected high, normal or low, got urgent",
       set("CROSSOVER_TURN_PRIORITY", "urgent")},
      {"environment", Verdict::kFail, "CROSSOVER_LOG: expected error, warn, info or debug, got loud",
       set("CROSSOVER_LOG", "loud")},
      {"environment", Verdict::kFail, "CROSSOVER_SOCKET: expected a path of 1 to 107 bytes, got \"\"",
       set("CROSSOVER_SOCKET", "")},
      {"environment", Verdict::kFail, "LD_PRELOAD names /no/lib.so",
       [](Facts* f) { f->unreadable_preloads = {"/no/lib.so"}; }},
      {"environment", Verdict::kWarn, "LD_PRELOAD names no libcrossover.so", set("CROSSOVER_GANG", "a")},
      {"disabled", Verdict::kWarn, "CROSSOVER_DISABLE=1", set("CROSSOVER_DISABLE", "1")},
      {"launch_blocking", Verdict::kWarn, "CUDA_LAUNCH_BLOCKING=1", set("CUDA_LAUNCH_BLOCKING", "1")},
      {"one_connection", Verdict::kWarn, "CUDA_DEVICE_MAX_CONNECTIONS=1",
       set("CUDA_DEVICE_MAX_CONNECTIONS", "1")},
  };
}

std::vector<Fault> DaemonFaults() {
  return {
      {"mode", Verdict::kWarn, "switched to off; configured is enforce",
       [](Facts* f) { DaemonOf(f)->set_mode("off"); }},
      {"mode", Verdict::kWarn, "off; configured is enforce; this node is in maintenance",
       [](Facts* f) {
         DaemonOf(f)->set_mode("off");
         DaemonOf(f)->set_mode_limited_by("this node is in maintenance");
       }},
      {"mode", Verdict::kWarn, "observe, as configured",
       [](Facts* f) {
         DaemonOf(f)->set_mode("observe");
         DaemonOf(f)->set_mode_configured("observe");
       }},
      {"turns", Verdict::kWarn, "GPU GPU-0: its jobs take no turns: gang beta has not shown a period yet",
       [](Facts* f) { FirstGpu(f)->set_why_no_turns("gang beta has not shown a period yet"); }},
      {"periods", Verdict::kWarn,
       "gang alpha rank 0 on GPU GPU-0 has shown no iterations that repeat in 15.0 min",
       [](Facts* f) { FirstClient(f)->set_learned(false); }},
      {"periods", Verdict::kWarn, "no client on that GPU takes turns: collectives are captured into graphs",
       [](Facts* f) {
         node::v1::Client* client = FirstClient(f);
         client->set_learned(false);
         client->set_watched_only("collectives are captured into graphs");
       }},
      {"offenders", Verdict::kWarn, "gang alpha rank 0 on GPU GPU-0 held its turn too long",
       [](Facts* f) { FirstClient(f)->set_offender(true); }},
      {"openings", Verdict::kWarn, "GPU GPU-0: 3 times",
       [](Facts* f) { FirstGpu(f)->set_watchdog_openings(3); }},
      {"faults", Verdict::kWarn, "opened its own gate 2 times",
       [](Facts* f) { FirstClient(f)->set_faults(2); }},
      {"restarts", Verdict::kWarn, "less than the process of gang alpha",
       [](Facts* f) { f->process_age_s[100] = 1010; }},
      {"events", Verdict::kWarn, "7 events were dropped",
       [](Facts* f) { DaemonOf(f)->set_events_dropped(7); }},
  };
}

void ExpectSeen(const std::vector<Fault>& faults, std::set<std::string>* planted) {
  for (const Fault& fault : faults) {
    SCOPED_TRACE(std::string(fault.check) + ": " + fault.seen);
    planted->insert(fault.check);
    Facts facts = Healthy();
    fault.plant(&facts);
    const std::vector<Finding> findings = Examine(facts);
    const Finding finding = Of(findings, fault.check);
    EXPECT_EQ(finding.verdict, fault.verdict);
    EXPECT_THAT(finding.seen, HasSubstr(fault.seen));
    EXPECT_THAT(finding.advice, Not(IsEmpty()));
    for (const Finding& other : findings) {
      if (other.name == fault.check || fault.also.contains(other.name)) continue;
      EXPECT_EQ(other.verdict, Verdict::kOk) << other.name << ": " << other.seen;
    }
    EXPECT_EQ(ExitCode(findings), fault.verdict == Verdict::kFail ? 1 : 0);
  }
}

TEST(DoctorTest, EachPlantedFaultIsSeenByItsCheck) {
  std::set<std::string> planted;
  ExpectSeen(MachineFaults(), &planted);
  ExpectSeen(EnvironmentFaults(), &planted);
  ExpectSeen(DaemonFaults(), &planted);
  for (const Finding& finding : Examine(Healthy()))
    EXPECT_TRUE(planted.contains(finding.name)) << finding.name;
}

TEST(DoctorTest, AProcessThatListensAndIsNoNodeDaemonIsTold) {
  Facts facts = Healthy();
  facts.daemon = nullptr;
  const Finding finding = Of(Examine(facts), "api_socket");
  EXPECT_EQ(finding.verdict, Verdict::kWarn);
  EXPECT_THAT(finding.seen, HasSubstr("a process listens there, but it did not answer as a node daemon"));
}

TEST(DoctorTest, WhatIsNoFaultIsNotSeen) {
  Facts facts = Healthy();
  facts.environment = {{"CROSSOVER_GANG", "a"},
                       {"CROSSOVER_GPU_MEMORY", ""},  // as in a pod that was granted no limit
                       {"CROSSOVER_GATES", "host"},
                       {"CROSSOVER_DISABLE", "0"},
                       {"CUDA_LAUNCH_BLOCKING", ""},
                       {"CUDA_DEVICE_MAX_CONNECTIONS", "8"},
                       {"LD_PRELOAD", "/lib/libcrossover.so"}};
  facts.kernel.peer_pidfd = false;  // robust futexes are there
  facts.mps.shm_bytes = facts.mps.shm_free_bytes = 3ULL << 29;
  EXPECT_THAT(Of(Examine(facts), "mps_shm").seen, HasSubstr("/dev/shm of 1536 MiB")) << "more than 1 GiB";
  FirstGpu(&facts)->set_clients(1);
  FirstGpu(&facts)->set_why_no_turns("alone on its GPU");
  FirstClient(&facts)->set_learned(false);  // it is alone, so it keeps no other job waiting
  for (const Finding& finding : Examine(facts)) {
    EXPECT_EQ(finding.verdict, Verdict::kOk) << finding.name << ": " << finding.seen;
  }
}

TEST(DoctorTest, ADaemonThatWasNotAskedIsUnknown) {
  Facts facts = Healthy();
  facts.daemon = nullptr;
  for (const char* name :
       {"mode", "turns", "periods", "offenders", "openings", "faults", "restarts", "events"}) {
    EXPECT_EQ(Of(Examine(facts), name).verdict, Verdict::kUnknown) << name;
  }
  const Finding socket = Of(Examine(facts), "api_socket");
  EXPECT_EQ(socket.verdict, Verdict::kWarn) << "a process listens, and is no daemon that answers";
  EXPECT_THAT(socket.seen, HasSubstr("did not answer as a node daemon"));
}

const std::vector<Finding> kFindings = {
    {.name = "library", .verdict = Verdict::kOk, .seen = "/lib/x.so", .advice = ""},
    {.name = "mps", .verdict = Verdict::kWarn, .seen = "no \"MPS\"", .advice = "start it"},
    {.name = "memfd", .verdict = Verdict::kFail, .seen = "none", .advice = "a newer kernel"},
};

TEST(DoctorReportTest, Text) {
  EXPECT_EQ(ReportText(kFindings),
            "ok       library  /lib/x.so\n"
            "warn     mps      no \"MPS\"\n"
            "                  -> start it\n"
            "fail     memfd    none\n"
            "                  -> a newer kernel\n");
}

TEST(DoctorReportTest, Json) {
  EXPECT_EQ(ReportJson(kFindings), R"({
 "verdict": "fail",
 "checks": [
  {"name": "library", "verdict": "ok", "seen": "/lib/x.so", "advice": ""},
  {"name": "mps", "verdict": "warn", "seen": "no \"MPS\"", "advice": "start it"},
  {"name": "memfd", "verdict": "fail", "seen": "none", "advice": "a newer kernel"}
 ]
}
)");
}

}  // namespace
}  // namespace crossover::cli
