// Is the base of tests of Gangs that carry out its writes by hand.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/names.h"
#include "extender/gang/gangs.h"
#include "extender/gang/made_room.h"

namespace crossover::extender {

// Has a ClusterCache and the Gangs that a test makes of it. The test says when it writes what Gangs asks for.
class ByHand : public ::testing::Test {
 protected:
  // Adds a pod or changes it, and tells Gangs, if there are any.
  void Put(Pod pod) {
    pod.version = std::to_string(version_++);
    const std::string uid = pod.uid;
    cache_.Put(std::move(pod));
    if (gangs_) gangs_->PodChanged(uid, now_s_);
  }
  void Change(const std::string& uid, const std::function<void(Pod&)>& change) {
    Pod pod = *cache_.FindPod(uid);
    change(pod);
    Put(std::move(pod));
  }
  void Remove(const std::string& uid) {
    cache_.RemovePod(uid);
    gangs_->PodChanged(uid, now_s_);
  }
  // Takes the node away from pods that are not bound yet, or gives it back.
  void Cordon(bool cordoned, const std::string& name = "n0") {
    Node node = *cache_.FindNode(name);
    node.cordoned = cordoned;
    cache_.Put(node);
    if (gangs_) gangs_->ClusterChanged();
  }
  // Makes Gangs of the ClusterCache, like a new leader.
  void Begin(GangSettings settings) {
    gangs_ = std::make_unique<Gangs>(cache_, std::move(settings), nullptr, "e" + std::to_string(epoch_++));
  }
  // Returns the pending actions of one kind, and removes them from `pending_`.
  std::vector<Action> Do(Action::Kind kind) {
    for (Action& action : gangs_->Step(now_s_)) pending_.push_back(std::move(action));
    std::vector<Action> found;
    std::erase_if(pending_, [&](const Action& action) {
      if (action.kind != kind) return false;
      found.push_back(action);
      return true;
    });
    return found;
  }
  // Writes the action to its pod, as the API server does.
  void Accept(const Action& action) {
    using Kind = Action::Kind;
    Change(action.pod.uid, [&action](Pod& pod) {
      if (action.kind == Kind::kReserve) {
        pod.annotations[base::kReservationAnnotation] = action.text;
        if (!action.shrink.empty()) {
          pod.annotations[base::kShrinkChoiceAnnotation] = action.shrink;
          pod.annotations[base::kShrinkWhyAnnotation] = action.shrink_why;
        }
      }
      if (action.kind == Kind::kRelease) pod.gates.clear();
      if (action.kind == Kind::kClear) pod.annotations.erase(base::kReservationAnnotation);
      if (action.kind == Kind::kAge) pod.annotations[kMadeRoomAnnotation] = action.text;
      if (action.kind == Kind::kEvict) pod.deleting = true;
    });
    gangs_->Written(action.id,
                    {.outcome = Outcome::kDone, .version = cache_.FindPod(action.pod.uid)->version}, now_s_);
  }

  ClusterCache cache_;
  std::unique_ptr<Gangs> gangs_;
  std::vector<Action> pending_;
  double now_s_ = 1000;
  int version_ = 1;
  int epoch_ = 0;
};

}  // namespace crossover::extender
