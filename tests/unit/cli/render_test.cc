// Tests what top and timeline print for people.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "cli/profiles/table.h"
#include "cli/render/json.h"
#include "cli/render/table.h"
#include "cli/timeline/chart.h"
#include "cli/top/table.h"
#include "proto/crossover_node.pb.h"

namespace crossover::cli {
namespace {

using ::testing::HasSubstr;

template <class Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

constexpr char kShared[] = R"(
  daemon { version: "1.2.3" pid: 7 uptime_s: 5400 mode: "enforce" mode_configured: "enforce" }
  gpus {
    uuid: "GPU-0" mode: "gate" holders: "alpha" waiting: "beta" gain: 1.5714 turns: 200 handed_over: 190 granted: 10
    rest_s: 0.01 rest_ratio: 0.0012 clients: 2
  }
  gpus { uuid: "GPU-1" mode: "observe" }
  jobs {
    gang: "alpha" size: 4 uid: 1000
    clients {
      gang: "alpha" rank: 0 gpu_uuid: "GPU-0" pid: 4242 transport: "gpu_gates" phase: "taking" mode: "gate"
      learned: true holding: true holding_ms: 3.14 turns: 100 wait_ms: 1.26 hold_ms: 20.04 step_ms: 41.5
      compute_ms: 20.04 input_wait_ms: 3.5
      alone { step_ms: 32.1 age_s: 75 source: "measured" } slowdown: 1.2928
      max_slowdown: 1.5
    }
  }
  jobs {
    gang: "beta" size: 4 uid: 1000
    clients {
      gang: "beta" rank: 12 gpu_uuid: "GPU-0" transport: "host_gates" phase: "taking" mode: "gate"
      learned: true waiting: true turns: 99 step_ms: 41.5
      alone { step_ms: 33 age_s: 7200 source: "remembered" } max_slowdown: 1.25 max_slowdown_refused: true
    }
  })";

TEST(TopTableTest, AGainThatIsUncertainSaysSo) {
  node::v1::Top top;
  node::v1::Gpu* gpu = top.add_gpus();
  gpu->set_uuid("GPU-0");
  gpu->set_clients(2);
  gpu->set_gain(2.08);
  gpu->set_gain_error(0.144);
  gpu->set_gain_uncertain(true);
  EXPECT_NE(TopTable(top).find("gain 2.08x over one after the other (uncertain, +-14%)"), std::string::npos);
}

TEST(TopTableTest, ShowsWhoHoldsWhoWaitsAndWhatItCosts) {
  EXPECT_EQ(TopTable(Parse<node::v1::Top>(kShared)),
            R"(daemon 1.2.3, up 90.0 min, mode enforce

GPU GPU-0: turns are taken; gain 1.57x over one after the other; rested while a client waited 0.12%
  GANG   RANK   PID  PHASE   TRANSPORT   NOW           TURNS  WAIT ms  HOLD ms  COMPUTE ms  INPUT ms  STEP ms  ALONE ms    AGE  SLOWDOWN      CAP
  alpha     0  4242  taking  gpu_gates   holds 3.1 ms    100      1.3     20.0        20.0       3.5     41.5      32.1   75 s     1.29x    1.50x
  beta     12     -  taking  host_gates  waits            99        -        -           -         -     41.5    33.0 *  2.0 h         -  1.25x !

GPU GPU-1: no client

* of an earlier process of the same gang, user and size

! this cap cannot be kept beside the other jobs of the GPU: the daemon's log says why
)");
}

TEST(TopTableTest, SaysWhatIsNotAsItShouldBe) {
  const std::string text = TopTable(Parse<node::v1::Top>(R"(
    daemon { version: "1" uptime_s: 5 mode: "off" mode_configured: "enforce" events_dropped: 3 }
    gpus { uuid: "GPU-0" mode: "off" clients: 1 why_no_turns: "the daemon's mode is off" watchdog_openings: 2 }
    jobs { gang: "a" clients { gang: "a" gpu_uuid: "GPU-0" phase: "locked" offender: true transport: "none" } })"));
  EXPECT_THAT(
      text,
      HasSubstr("daemon 1, up 5 s, mode off (configured: enforce), 3 events missing from these figures\n"));
  EXPECT_THAT(text, HasSubstr("GPU GPU-0: no turns: the daemon's mode is off; watchdog openings 2\n"));
  EXPECT_THAT(text, HasSubstr("  a        0    -  offender  none"));
}

TEST(TopTableTest, ShowsWhatSignalsCost) {
  const std::string text = TopTable(Parse<node::v1::Top>(R"(
    gpus { uuid: "GPU-0" signals { signallers: 2 host_memory_bytes: 9437184 cpu_s: 1.25
                                   device_memory_bytes: 2097152 device_memory_source: "exported" late: 3 } }
    gpus { uuid: "GPU-1" signals { signallers: 1 } })"));
  EXPECT_THAT(text,
              HasSubstr("GPU GPU-0: no client\n  signals: 2 signallers; host memory 9 MiB, processor time "
                        "1.2 s, GPU memory 2 MiB (exported); written late 3\n"));
  EXPECT_THAT(text,
              HasSubstr("GPU GPU-1: no client\n  signals: 1 signallers; host memory -, processor time -, "
                        "GPU memory -; written late 0\n"));
}

TEST(TopTableTest, MarksWhatIsEstimated) {
  const std::string text = TopTable(Parse<node::v1::Top>(R"(
    gpus { uuid: "GPU-0" mode: "gate" clients: 1 }
    jobs { gang: "a" clients { gang: "a" gpu_uuid: "GPU-0" alone { step_ms: 32 age_s: 1 source: "estimated" } } })"));
  EXPECT_THAT(text, HasSubstr("32.0 ~"));
  EXPECT_THAT(text, HasSubstr("\n~ estimated from its turns"));
}

TEST(TopTableTest, SaysWhoOnlyWatchesAndWhy) {
  const std::string text = TopTable(Parse<node::v1::Top>(R"(
    gpus { uuid: "GPU-0" mode: "observe" clients: 1 }
    jobs { gang: "a" clients { gang: "a" rank: 3 gpu_uuid: "GPU-0" phase: "learning"
                               watched_only: "one-sided communication" } })"));
  EXPECT_THAT(text, HasSubstr("  a        3    -  watched  "));
  EXPECT_THAT(text, HasSubstr("\na rank 3 takes no turns: one-sided communication\n"));
}

TEST(TopTableTest, SaysWhoseReductionsArePlainAndWhy) {
  const std::string text = TopTable(Parse<node::v1::Top>(R"(
    gpus { uuid: "GPU-0" mode: "gate" clients: 1 }
    jobs { gang: "a" clients { gang: "a" rank: 3 gpu_uuid: "GPU-0"
      reductions { asked: "bf16" compressed { level: "bf16" communicators: 1 }
                   plain { reason: "captured" words: "an all-reduce is captured" communicators: 1 } } } })"));
  EXPECT_THAT(text, HasSubstr("\na rank 3 has plain reductions, and bf16 is asked for: an all-reduce is "
                              "captured\n"));
}

TEST(TopTableTest, WithoutJobsItSaysSo) { EXPECT_THAT(TopTable({}), HasSubstr("no job has connected yet")); }

TEST(ProfilesTableTest, ShowsWhatIsKnownAndHowOldItIs) {
  EXPECT_EQ(ProfilesTable(Parse<node::v1::ListProfilesResponse>(R"(
    directory: "/p"
    profiles {
      gang: "alpha" uid: 1000 size: 4
      compute_ms { value: 20.04 source: "turns" learned_at_s: 1000 }
      away_ms { value: 12 source: "turns" learned_at_s: 1000 }
      jitter { value: 0.052 source: "turns" learned_at_s: 1000 }
      step_alone_ms { value: 32.1 source: "measured" learned_at_s: 400 }
      peak_memory_bytes { value: 1073741824 source: "nvml" learned_at_s: 1060 }
    }
    profiles { gang: "beta" uid: 0 step_alone_ms { value: 7 source: "estimated" learned_at_s: 9999 } })"),
                          1075),
            "GANG   USER  RANKS  C ms  M ms  JITTER  ALONE ms  MEMORY MiB   AGE\n"
            "alpha  1000      4  20.0  12.0    5.2%      32.1        1024  15 s\n"
            "beta      0      -     -     -       -     7.0 ~           -   0 s\n"
            "\n~ estimated from its turns and the gaps between them\n");
}

TEST(ProfilesTableTest, MarksJobsThatWereDisturbed) {
  const std::string table = ProfilesTable(Parse<node::v1::ListProfilesResponse>(R"(
    directory: "/p" profiles { gang: "alpha" disturbed_at_s: 1000 } profiles { gang: "beta" })"),
                                          1075);
  EXPECT_THAT(table, HasSubstr("alpha !"));
  EXPECT_THAT(table, Not(HasSubstr("beta !")));
  EXPECT_THAT(table, HasSubstr("! has run beside a process that took no part"));
}

TEST(ProfilesTableTest, MarksMemoryThatIsAGuess) {
  const std::string table = ProfilesTable(Parse<node::v1::ListProfilesResponse>(R"(
    directory: "/p"
    profiles { gang: "alpha" peak_memory_bytes { value: 1073741824 source: "refused" learned_at_s: 1060 } }
    profiles { gang: "beta" peak_memory_bytes { value: 2147483648 source: "nvml" learned_at_s: 1060 } })"),
                                          1075);
  EXPECT_THAT(table, HasSubstr(" 1024 ?  15 s\n"));
  EXPECT_THAT(table, HasSubstr(" 2048  15 s\n"));
  EXPECT_THAT(
      table,
      HasSubstr(
          "\n? not measured: one and a half times the memory budget of the job, which was too small\n"));
}

TEST(ProfilesTableTest, SaysWhyThereAreNone) {
  EXPECT_THAT(ProfilesTable({}, 0), HasSubstr("profiles are off"));
  EXPECT_THAT(ProfilesTable(Parse<node::v1::ListProfilesResponse>(R"(directory: "/p")"), 0),
              HasSubstr("no job has left a profile yet in /p\n"));
}

// Scripts read this, so the names and kinds of its fields stay.
TEST(TopJsonTest, FieldsThatAreNotKnownAreLeftOutAndOthersAreThere) {
  EXPECT_EQ(
      Json(Parse<node::v1::Top>(R"(
    daemon { version: "1" uptime_s: 5.5 mode: "off" mode_configured: "enforce" arbiter_socket: "/a" }
    gpus { uuid: "GPU-0" holders: "a" gain: 1.5 }
    jobs { gang: "a" clients { gang: "a" step_ms: 2.5 } })"),
           false),
      R"({"daemon":{"version":"1","pid":0,"uptime_s":5.5,"mode":"off","mode_configured":"enforce",)"
      R"("events_dropped":0,"arbiter_socket":"/a"},)"
      R"("gpus":[{"uuid":"GPU-0","mode":"","why_no_turns":"","holders":["a"],"waiting":[],)"
      R"("turns":0,"handed_over":0,"granted":0,"watchdog_openings":0,"rest_s":0,"offenders":[],"clients":0,)"
      R"("gain_uncertain":false,"gain":1.5}],)"
      R"("jobs":[{"gang":"a","size":0,"uid":0,"clients":[{"gang":"a","rank":0,"gpu_uuid":"","slot":0,"pid":0,)"
      R"("transport":"","phase":"","mode":"","connected_s":0,"learned":false,"holding":false,"waiting":false,)"
      R"("turns":0,"faults":0,"offender":false,"max_slowdown_refused":false,"watched_only":"","step_ms":2.5}],"shares_with":[]}]})");
}

TEST(JsonStringTest, EscapesWhatMustBe) {
  EXPECT_EQ(JsonString("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(JsonString("\xff"), "\"\xef\xbf\xbd\"") << "no UTF-8, as another program may have said it";
}

TEST(ColumnsTest, NumbersStandAtTheRight) {
  EXPECT_EQ(Columns({{"NAME", "N"}, {"a", "10"}, {"bcd", "-"}}), "NAME   N\na     10\nbcd    -\n");
}

TEST(PictureTest, FilledWhereItHoldsHatchedWhereItWaits) {
  const auto turns = Parse<node::v1::ListTurnsResponse>(R"(
    now_s: 100.2
    turns { gpu_uuid: "GPU-0" gang: "alpha" asked_s: 99.1 began_s: 99.1 ended_s: 99.4 }
    turns { gpu_uuid: "GPU-0" gang: "alpha" asked_s: 99.6 began_s: 99.8 }
    turns { gpu_uuid: "GPU-0" gang: "beta" asked_s: 99.2 began_s: 99.4 ended_s: 99.8 }
    turns { gpu_uuid: "GPU-1" gang: "beta" asked_s: 98 began_s: 99.5 ended_s: 100 })");
  EXPECT_EQ(Chart(turns, 1.0, 20),
            "GPU GPU-0\n"
            "  alpha  ··██████····░░░░████\n"
            "  beta   ····░░░░████████····\n"
            "GPU GPU-1\n"
            "  beta   ░░░░░░░░░░██████████\n"
            "         -1000 ms      newest\n"
            "█ holds the turn  ░ waits for it\n");
}

TEST(PictureTest, TurnsBeforeTheWindowAreLeftOut) {
  const auto turns = Parse<node::v1::ListTurnsResponse>(R"(
    turns { gpu_uuid: "GPU-0" gang: "first" asked_s: 1 began_s: 1 ended_s: 2 }
    turns { gpu_uuid: "GPU-0" gang: "later" asked_s: 90 began_s: 90 ended_s: 100 })");
  const std::string text = Chart(turns, 5, 20);
  EXPECT_THAT(text, HasSubstr("later  ████████████████████\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("first")));
  EXPECT_EQ(Chart({}, 1, 20), "no turns were taken\n");
}

TEST(EventLineTest, OneLineEach) {
  auto event = Parse<node::v1::TurnEvent>(R"(
    at_s: 12.5 event: "hold" gpu_uuid: "GPU-0" gang: "alpha" rank: 3 duration_ms: 1.256)");
  EXPECT_EQ(EventLine(event), "12.500000  GPU GPU-0  alpha rank 3  holds the turn, waited 1.26 ms\n");
  event.set_event("release");
  event.set_dropped(4);
  EXPECT_EQ(EventLine(event),
            "(4 events were lost here)\n12.500000  GPU GPU-0  alpha rank 3  gives it back after 1.26 ms\n");
  event.set_dropped(0);
  event.set_event("arrive");
  EXPECT_EQ(EventLine(event), "");
  event.set_event("damage");
  EXPECT_EQ(EventLine(event), "12.500000  GPU GPU-0  alpha rank 3  damage\n");
  EXPECT_EQ(EventLine(Parse<node::v1::TurnEvent>(R"(at_s: 12.5 event: "damage" gpu_uuid: "GPU-0")")),
            "12.500000  GPU GPU-0  damage\n")
      << "it is not known which client it was";
}

}  // namespace
}  // namespace crossover::cli
