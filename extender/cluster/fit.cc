#include "extender/cluster/fit.h"

#include <algorithm>

#include "common/text/number.h"
#include "extender/cluster/resources.h"
#include "extender/cluster/taints.h"

namespace crossover::extender {
namespace {

using placement::kMostPods;

std::string Whole(std::int64_t amount) { return std::to_string(amount); }

std::string Cores(std::int64_t milli) { return text::Decimal(static_cast<double>(milli) / 1000); }

std::string Bytes(std::int64_t bytes) {
  constexpr double kGibi = 1 << 30, kMebi = 1 << 20;
  const auto amount = static_cast<double>(bytes);
  if (amount >= kGibi) return text::Decimal(amount / kGibi) + " GiB";
  return text::Decimal(amount / kMebi) + " MiB";
}

// A Share says of one resource how much a node has, how much of it is taken, and how much one pod wants.
struct Share {
  std::int64_t has = 0, taken = 0, wanted = 0;
};

// Lowers `fit` to the number of pods that this resource leaves room for. A reason that holds forever
// replaces one that holds only now.
void Narrow(const Share& share, const std::string& name, std::string (*text)(std::int64_t),
            placement::Fit* fit) {
  if (share.wanted <= 0 || fit->never()) return;
  const std::string wants = ", and the pod wants " + text(share.wanted);
  if (share.has <= 0) {
    *fit = {.pods = 0, .ever = 0, .why = "the node has no " + name + wants};
    return;
  }
  if (share.wanted > share.has) {
    *fit = {.pods = 0,
            .ever = 0,
            .why = "the node's " + name + " is too little",
            .figures = text(share.has) + wants};
    return;
  }
  fit->ever = static_cast<int>(std::min<std::int64_t>(fit->ever, share.has / share.wanted));
  const std::int64_t room = std::max<std::int64_t>(0, kube::Sum(share.has, -share.taken)) / share.wanted;
  if (fit->pods == 0 || room >= fit->pods) return;
  fit->pods = static_cast<int>(room);
  if (room > 0) return;
  fit->why = "the node's " + name + " is taken";
  fit->figures = text(share.taken) + " of " + text(share.has) + wants;
}

placement::Fit RoomFor(const Resources& wanted, const Resources& has, const Resources& taken) {
  placement::Fit fit{.pods = kMostPods, .why = {}};
  const std::int64_t places = Amount(has, kPods), pods = Amount(taken, kPods);
  fit.pods = static_cast<int>(std::clamp<std::int64_t>(kube::Sum(places, -pods), 0, kMostPods));
  fit.ever = static_cast<int>(std::clamp<std::int64_t>(places, 0, kMostPods));
  if (fit.pods == 0) {
    fit.why = "the node takes no more pods";
    fit.figures = Whole(pods) + " of " + Whole(places);
  }
  Narrow({has.milli_cpu, taken.milli_cpu, wanted.milli_cpu}, "CPU", &Cores, &fit);
  Narrow({has.memory_bytes, taken.memory_bytes, wanted.memory_bytes}, "memory", &Bytes, &fit);
  for (const auto& [name, amount] : wanted.others)
    Narrow({Amount(has, name), Amount(taken, name), amount}, name, &Whole, &fit);
  return fit;
}

// Returns why the pod would not have what it needs at /dev/shm on the node, or "". Under MPS it needs the
// node's /dev/shm, which is large and holds what MPS's clients share. Elsewhere it needs its own volume, or
// the usual 64 MiB.
std::string WhyNotItsShm(const Pod& pod, const GpuNode& gpus) {
  const bool mps = gpus.sharing == "mps";
  if (mps && pod.shm == Shm::kOwn)
    return "the pod's volume at /dev/shm would hide the files of MPS there: set "
           "extender.config.webhook.shm=node, and make the pod again";
  if (!mps && pod.shm == Shm::kMoved)
    return "the pod's volume at /dev/shm was moved for MPS, but jobs do not share through MPS on the node";
  return "";
}

}  // namespace

placement::Fit FitOn(const ClusterCache& cache, const std::string& node, const Pod& pod,
                     const Resources& planned) {
  const Node* there = cache.FindNode(node);
  if (there == nullptr) return {.pods = 0, .why = "the node does not exist"};
  std::string why = WhyNotLetIn(pod, *there);
  if (why.empty()) why = kube::WhyNotSelected(pod.selection, there->name, there->labels);
  const GpuNode* gpus = cache.FindGpuNode(node);
  // The pods of the node do not change this. Only another way to share its GPUs does.
  if (why.empty() && gpus != nullptr) why = WhyNotItsShm(pod, *gpus);
  if (!why.empty()) return {.pods = 0, .ever = 0, .why = std::move(why)};
  Resources taken = cache.UsedOn(node);
  if (gpus != nullptr) taken += gpus->requested;
  taken += planned;
  return RoomFor(pod.requests, there->allocatable, taken);
}

}  // namespace crossover::extender
