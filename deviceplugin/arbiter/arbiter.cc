#include "deviceplugin/arbiter/arbiter.h"

#include <sys/prctl.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/job_environment.h"
#include "common/base/refusal.h"

namespace crossover::arbiter {
namespace {

std::string Seconds(turn::Time time) { return std::to_string(time / base::kNsPerSecond) + " s"; }

constexpr std::uint64_t kMailTag = 0;
constexpr std::uint64_t kExtensionTag = 1;
static_assert(kExtensionTag < ClientServer::kFirstTag);

// A stopping daemon opens gates for at most this long, for clients that still arrive at one.
constexpr turn::Time kFarewell = 100 * base::kNsPerMs;
constexpr turn::Time kFarewellPoll = base::kNsPerMs;

std::string Describe(const Member& member) {
  return "gpu " + member.gpu->uuid + " slot " + std::to_string(member.slot) + ": gang " + member.gang +
         " rank " + std::to_string(member.rank) + " (pid " + std::to_string(member.pid) + ", uid " +
         std::to_string(member.uid) + ")";
}

}  // namespace

Arbiter::Entry::Entry(const std::shared_ptr<const GpuInfo>& info, const LiveSettings& live,
                      Observer* observer, Liveness::OnDead on_dead)
    : gpu(info, live.turn, live.policy, observer), liveness(*info->page, std::move(on_dead)) {
  Apply(live);
}

void Arbiter::Entry::Apply(const LiveSettings& live) {
  gpu.set_policy(live.policy);
  gpu.set_held(live.held.contains(gpu.info().uuid));
  gpu.set_guard(live.guard);
  gpu.set_settings(live.turn);
  next_poll = 0;
}

Arbiter::Arbiter(const Settings& settings, Observer* observer, const ProfileSource* profiles,
                 const IdentitySource* identities, Extension* extension)
    : settings_(settings),
      observer_(observer),
      profiles_(profiles),
      identities_(identities),
      extension_(extension),
      server_(settings.limits, &poller_, this) {}

Arbiter::~Arbiter() { server_.CloseAll("the daemon stops"); }

bool Arbiter::Start(std::string* error) {
  if (!poller_.Open(error) || !mailbox_.Open(error)) return false;
  if (!poller_.Add(mailbox_.fd(), kMailTag)) {
    *error = "watching the mailbox failed";
    return false;
  }
  if (extension_ != nullptr &&
      (!extension_->Open(observer_, error) || !poller_.Add(extension_->fd(), kExtensionTag))) {
    if (error->empty()) *error = "watching the signallers failed";
    return false;
  }
  return server_.Open(settings_.socket, error);
}

void Arbiter::Run() {
  prctl(PR_SET_NAME, "xo-arbiter");
  prctl(PR_SET_TIMERSLACK, 1UL);  // the default slack of 50 us is as long as a hand-over
  while (!stop_) {
    const turn::Time now = base::MonotonicNs();
    server_.Tick(now);
    for (const std::string& uuid : quarantine_.TakeReleased(now)) Release(uuid);
    const turn::Time polls = PollDue(now);
    const turn::Time next =
        std::min({polls, ServeExtension(now), server_.next_tick(), quarantine_.next_release()});
    const turn::Time timeout = next == turn::kNever ? turn::kNever : next - base::MonotonicNs();
    for (const std::uint64_t tag : poller_.Wait(timeout)) {
      if (tag == kMailTag) {
        HandleMail();
      } else if (tag == kExtensionTag) {
        extension_->OnReady(base::MonotonicNs());
      } else {
        server_.OnReady(tag, base::MonotonicNs());
      }
    }
  }
  OpenGatesAndWait();
  server_.CloseAll("the daemon stops");
}

bool Arbiter::Answers(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kLook{1};
  const std::uint64_t before = answered_.load();
  mailbox_.PutPing();
  const auto end = std::chrono::steady_clock::now() + patience;
  while (answered_.load() == before) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

turn::Time Arbiter::PollDue(turn::Time now) {
  turn::Time next = turn::kNever;
  std::vector<std::string> damaged;
  for (auto& [key, entry] : gpus_) {
    if (entry->next_poll <= now) {
      entry->next_poll = entry->gpu.Poll(now);
      for (const Gpu::Notice& notice : entry->gpu.TakeNotices())
        server_.SendNotice(notice.client, notice.text);
    }
    if (entry->gpu.damaged() && !entry->gpu.empty()) damaged.push_back(key);
    next = std::min(next, entry->next_poll);
  }
  for (const std::string& key : damaged) OnDamage(key, now);
  return next;
}

// Returns when the extension is due again.
turn::Time Arbiter::ServeExtension(turn::Time now) {
  if (extension_ == nullptr) return turn::kNever;
  const turn::Time next = extension_->Tick(now);
  for (const Mail& mail : extension_->TakeMail()) {
    server_.Send(mail.client, mail.bytes, mail.descriptor == nullptr ? -1 : mail.descriptor->get());
  }
  return next;
}

// Handles a page that a client has written over: closes the connections of all its clients and drops the
// page. The clients connect again and then get a new page (quarantine.h).
void Arbiter::OnDamage(const std::string& key, turn::Time now) {
  const Gpu& gpu = gpus_.at(key)->gpu;
  const auto members = gpu.Members();
  const std::string uuid = gpu.info().uuid;
  std::string gangs;
  for (const auto& member : members) gangs += (gangs.empty() ? "" : ", ") + member->gang;
  Event event{.kind = EventKind::kDamage, .at = now, .gpu = members.front()->gpu, .member = nullptr};
  if (key != uuid) {  // no other client has ever had this page
    event.member = members.front();
    quarantine_.Block(uuid, gangs, members.front()->uid, now);
    Log(LogLevel::kWarn, "gpu " + uuid + ": gang " + gangs + " (uid " + std::to_string(members.front()->uid) +
                             ", pid " + std::to_string(members.front()->pid) +
                             ") writes over its turnstile (" + gpu.evidence() + "): it is turned away for " +
                             Seconds(Quarantine::kTurnedAway));
  } else {
    quarantine_.Begin(uuid, now);
    Log(LogLevel::kWarn, "gpu " + uuid + ": one of the gangs " + gangs + " writes over the turnstile (" +
                             gpu.evidence() +
                             "): no turns are taken on this GPU until it is known who, for at most " +
                             Seconds(Quarantine::kLongest));
  }
  observer_->OnEvent(event);
  CloseAll(key, "the turnstile was written over");
  gpus_.erase(key);
}

void Arbiter::Release(const std::string& uuid) {
  std::vector<std::string> apart;
  for (const auto& [key, entry] : gpus_) {
    if (entry->gpu.info().uuid == uuid && key != uuid) apart.push_back(key);
  }
  for (const std::string& key : apart) {
    CloseAll(key, "its GPU's clients share a turnstile again");
    gpus_.erase(key);
  }
  Log(LogLevel::kInfo, "gpu " + uuid + ": its clients share a turnstile again");
}

void Arbiter::CloseAll(const std::string& key, const std::string& why) {
  for (const auto& member : gpus_.at(key)->gpu.Members()) server_.Close(member->id, why);
}

void Arbiter::HandleMail() {
  Mailbox::Content mail = mailbox_.Take();
  for (const std::uint64_t id : mail.dead) server_.Close(id, "its process is ending");
  if (mail.settings) Apply(std::move(*mail.settings));
  if (mail.review) ReviewAll();
  stop_ |= mail.stop;
  if (mail.ping) answered_.fetch_add(1);
}

void Arbiter::Apply(LiveSettings settings) {
  settings_.live = std::move(settings);
  for (auto& [key, entry] : gpus_) entry->Apply(settings_.live);
}

// Asks again what each client may do. Tells a client that may not stay why, and closes its connection. The
// client then asks to join again.
void Arbiter::ReviewAll() {
  if (identities_ == nullptr) return;
  std::vector<std::pair<std::uint64_t, std::string>> away;
  for (auto& [key, entry] : gpus_) {
    for (const auto& member : entry->gpu.Members()) {
      const Permissions allowed = identities_->PermissionsOf(*member);
      if (allowed.policy == Policy::kOff) away.emplace_back(member->id, allowed.reason);
      member->observed = allowed.policy == Policy::kObserve;
    }
    entry->next_poll = 0;
  }
  for (const auto& [id, reason] : away) {
    server_.SendNotice(id, "this process takes no turns: " + reason);
    server_.Close(id, reason);
  }
}

// Opens all gates before the daemon stops, because no other process would open them. A client that arrives at
// its gate later has by then seen the end of its connection, and opens its own gate.
void Arbiter::OpenGatesAndWait() {
  const turn::Time deadline = base::MonotonicNs() + kFarewell;
  for (auto& [uuid, entry] : gpus_) entry->gpu.set_policy(Policy::kOff);
  bool any_waits = true;
  while (any_waits && base::MonotonicNs() < deadline) {
    any_waits = false;
    for (auto& [uuid, entry] : gpus_) {
      entry->gpu.Poll(base::MonotonicNs());
      any_waits |= entry->gpu.AnyWaits();
    }
    if (any_waits) poller_.Wait(kFarewellPoll);
  }
}

bool Arbiter::Allowed(const std::string& uuid) const {
  const auto& gpus = settings_.live.gpus;
  return !gpus || std::find(gpus->begin(), gpus->end(), uuid) != gpus->end();
}

// Returns whether there is room for another GPU. Clients name the GPUs, so one client could name very many.
// At the limit, this drops a GPU without clients for the new one.
bool Arbiter::MakeRoom() {
  if (gpus_.size() < settings_.limits.gpus) return true;
  const auto unused =
      std::find_if(gpus_.begin(), gpus_.end(), [](const auto& entry) { return entry.second->gpu.empty(); });
  if (unused == gpus_.end()) return false;
  gpus_.erase(unused);
  return true;
}

// Returns the entry that the client joins. While its GPU is in quarantine, the client gets an entry with a
// page of its own. Returns null, with the reason in `refusal`, if the client is refused.
Arbiter::Entry* Arbiter::EntryFor(const Connection& connection, const Hello& hello, std::string* refusal) {
  const turn::Time away = quarantine_.TurnedAwayFor(hello.gang, connection.peer().uid, base::MonotonicNs());
  if (away > 0) {
    *refusal = "the gang has written over a turnstile: turned away for " +
               std::to_string(away / base::kNsPerSecond + 1) + " s more";
    return nullptr;
  }
  const std::string& uuid = hello.gpu_uuid;
  if (!quarantine_.Has(uuid)) return FindOrMake(uuid, uuid, refusal);
  const auto of_gpu = [&uuid](const auto& entry) { return entry.second->gpu.info().uuid == uuid; };
  if (std::count_if(gpus_.begin(), gpus_.end(), of_gpu) >= CROSSOVER_MAX_CLIENTS) {
    *refusal = "gpu " + uuid + ": " + std::to_string(CROSSOVER_MAX_CLIENTS) +
               " clients are on it already, and no more can be";
    return nullptr;
  }
  return FindOrMake(uuid, uuid + "/" + std::to_string(connection.id()), refusal);
}

Arbiter::Entry* Arbiter::FindOrMake(const std::string& uuid, const std::string& key, std::string* refusal) {
  if (!Allowed(uuid)) {
    *refusal = "gpu " + uuid + " is not among the GPUs that the daemon serves (its setting gpus)";
    return nullptr;
  }
  if (const auto it = gpus_.find(key); it != gpus_.end()) return it->second.get();
  if (!MakeRoom()) {
    *refusal =
        std::to_string(settings_.limits.gpus) + " GPUs are in use already, and limits.gpus allows no more";
    return nullptr;
  }
  auto info = std::make_shared<GpuInfo>();
  info->uuid = uuid;
  info->key = key;
  info->page = Page::Create(refusal);
  if (info->page == nullptr) return nullptr;
  auto entry = std::make_unique<Entry>(std::move(info), settings_.live, observer_,
                                       [this](std::uint64_t id) { mailbox_.PutDead(id); });
  return gpus_.emplace(key, std::move(entry)).first->second.get();
}

Account Arbiter::AccountOf(const Peer& peer) const {
  return identities_ != nullptr ? identities_->AccountOf(peer) : AccountOfUser(peer);
}

// Returns 0, no limit, without identities: there are no pods then.
std::optional<std::uint32_t> Arbiter::MemoryOf(const Account& account) const {
  return identities_ == nullptr ? 0 : identities_->MemoryOf(account);
}

void Arbiter::OnTooMany(const std::string& account) {
  too_many_.fetch_add(1);
  const auto whom = static_cast<std::int64_t>(std::hash<std::string>()(account));
  if (said_too_many_.IsNews(whom, "", base::MonotonicNs()))
    Log(LogLevel::kWarn, "refused connections of " + account + ": expected at most " +
                             std::to_string(settings_.limits.connections_per_user) + " of it and " +
                             std::to_string(settings_.limits.connections) + " of all, got more");
}

std::string Arbiter::OnHello(Connection& connection, const Hello& hello) {
  if (identities_ != nullptr) {
    const auto identified = identities_->Identify(connection.peer(), hello);
    if (const auto* unknown = std::get_if<Unidentified>(&identified)) {
      return Refuse(connection, "a client of gpu " + hello.gpu_uuid, unknown->reason);
    }
    return Welcome(connection, std::get<Hello>(identified));
  }
  if (hello.gang.empty())
    return Refuse(connection, "a client of gpu " + hello.gpu_uuid,
                  base::Refusal("gang", base::kGang.expected, ""));
  return Welcome(connection, hello);
}

void Arbiter::OnMalformed(const Connection& connection, const std::string& why) {
  malformed_.fetch_add(1);
  SayRefusal(connection, "process " + std::to_string(connection.peer().pid), why);
}

// Counts and logs a refusal, and returns `reason`.
std::string Arbiter::Refuse(const Connection& connection, const std::string& who, const std::string& reason) {
  not_allowed_.fetch_add(1);
  SayRefusal(connection, who, reason);
  return reason;
}

// Logs a refusal. A refused client asks again twice a second. The same refusal is logged once.
void Arbiter::SayRefusal(const Connection& connection, const std::string& who, const std::string& reason) {
  if (said_refusals_.IsNews(connection.peer().pid, who + reason, base::MonotonicNs()))
    Log(LogLevel::kWarn, "refused " + who + ": " + reason);
}

std::string Arbiter::Welcome(Connection& connection, const Hello& hello) {
  auto member = std::make_shared<Member>();
  member->id = connection.id();
  member->gang = hello.gang;
  member->name_space = hello.name_space;
  member->pod = hello.pod;
  member->pod_uid = hello.pod_uid;
  member->gang_size = hello.gang_size;
  member->rank = hello.rank;
  member->pid = connection.peer().pid;
  member->uid = connection.peer().uid;
  member->transport = hello.transport;
  member->priority = hello.priority;
  member->max_slowdown = hello.max_slowdown / 1000.0;
  member->memory_mib = hello.memory_mib;
  if (identities_ != nullptr) {
    const Permissions allowed = identities_->PermissionsOf(*member);
    if (allowed.policy == Policy::kOff) return Refuse(connection, "gang " + hello.gang, allowed.reason);
    member->observed = allowed.policy == Policy::kObserve;
  }
  std::string refusal;
  Entry* entry = EntryFor(connection, hello, &refusal);
  if (entry == nullptr) return Refuse(connection, "gang " + hello.gang, refusal);
  if (profiles_ != nullptr) {
    member->known = profiles_->Find(member->gang, member->uid, member->gang_size).value_or(turn::Demand());
  }
  auto joined = entry->gpu.Join(std::move(member), base::MonotonicNs());
  if (const auto* refused = std::get_if<Membership::Refusal>(&joined)) {
    return Refuse(connection, "gang " + hello.gang + " on gpu " + hello.gpu_uuid, refused->reason);
  }
  connection.member = std::get<std::shared_ptr<const Member>>(joined);
  entry->liveness.Watch(connection.member->slot, connection.id());
  entry->next_poll = 0;
  if (extension_ != nullptr) extension_->OnJoin(connection.member);
  Log(LogLevel::kInfo, Describe(*connection.member) + " joined");
  return "";
}

// Warns a client that itself says that it takes no turns, if another rank of its job on this node takes
// turns: the job then waits for turns on its other GPUs and gains nothing. Writes the warning to the daemon's
// log, too.
void Arbiter::TellOfUnlikeRanks(Connection& connection) {
  const Member& member = *connection.member;
  const auto own = gpus_.find(member.gpu->key);
  if (own == gpus_.end()) return;
  const base::WatchReason reason = own->second->gpu.ReasonOf(member.slot);
  if (reason == base::WatchReason::kNone) return;
  const auto takes = [&member](const Gpu& gpu) {
    const auto members = gpu.Members();
    return std::any_of(members.begin(), members.end(), [&](const std::shared_ptr<const Member>& other) {
      return other->id != member.id && other->gang == member.gang && other->uid == member.uid &&
             gpu.Takes(other->slot);
    });
  };
  if (std::none_of(gpus_.begin(), gpus_.end(), [&](const auto& entry) { return takes(entry.second->gpu); }))
    return;
  const std::string text = "other ranks of this job take turns, and this one does not";
  const std::string with_reason = text + ": " + base::Text(reason);
  if (!said_unlike_.IsNews(static_cast<std::int64_t>(member.id), with_reason, base::MonotonicNs())) return;
  connection.SendNotice(text);  // the client has told the reason itself
  Log(LogLevel::kWarn, Describe(member) + ": " + with_reason);
}

void Arbiter::OnProfile(Connection& connection, const Profile& profile) {
  TellOfUnlikeRanks(connection);
  const Member& member = *connection.member;
  member.input_wait = profile.input_wait;
  const std::uint32_t before = member.transport.exchange(profile.transport);
  if (before == profile.transport) return;
  ++member.transport_changes;
  Log(LogLevel::kInfo, Describe(member) + " takes turns by " + TransportName(profile.transport) +
                           " now, not by " + TransportName(before));
}

// Puts the messages of a report together. A message that does not follow the one before is dropped, unless it
// begins a report.
void Arbiter::OnCalls(Connection& connection, const Calls& calls) {
  CallList& so_far = connection.calls;
  if (calls.first == 0) so_far.clear();
  if (calls.first != so_far.size()) return;
  so_far.insert(so_far.end(), calls.calls.begin(), calls.calls.end());
  if (so_far.size() < calls.total) return;
  Event event{.kind = EventKind::kCalls,
              .at = base::MonotonicNs(),
              .gpu = connection.member->gpu,
              .member = connection.member};
  event.calls = std::make_shared<const CallList>(std::exchange(so_far, {}));
  observer_->OnEvent(event);
}

void Arbiter::OnReductions(Connection& connection, const Reductions& reductions) {
  Event event{.kind = EventKind::kReductions,
              .at = base::MonotonicNs(),
              .gpu = connection.member->gpu,
              .member = connection.member};
  event.reductions = std::make_shared<const crossover_reductions>(reductions);
  observer_->OnEvent(event);
}

bool Arbiter::OnOther(Connection& connection, const Unknown& message, std::string* why) {
  return extension_ == nullptr || extension_->OnMessage(connection, message, why);
}

void Arbiter::OnGone(const Connection& connection, std::string_view why) {
  const Member& member = *connection.member;
  if (extension_ != nullptr) extension_->OnGone(member);
  const auto it = gpus_.find(member.gpu->key);
  if (it == gpus_.end()) return;
  Entry& entry = *it->second;
  entry.liveness.Unwatch(member.slot);
  entry.gpu.Poll(base::MonotonicNs());  // a client that exits in its turn has given it back just now
  entry.gpu.Leave(member.slot, base::MonotonicNs());
  Log(LogLevel::kInfo, Describe(member) + " left: " + std::string(why));
  // A page of one client is not reused for another client. A damaged page is not reused either.
  if (entry.gpu.empty() && (entry.gpu.damaged() || member.gpu->key != member.gpu->uuid)) {
    gpus_.erase(it);
    return;
  }
  // A client that waited for the one that left must not wait for the next regular poll.
  entry.next_poll = entry.gpu.Poll(base::MonotonicNs());
}

}  // namespace crossover::arbiter
