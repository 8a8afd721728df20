#include "extender/placement/users.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace crossover::placement {
namespace {

// A Company says which gangs are on a node.
struct Company {
  bool any = false;           // some gang is
  Users users = Users::kOne;  // the most that one of them has

  void Add(const Gang& gang) {
    any = true;
    users = std::max(users, gang.users);
  }
};
using GangsOn = std::map<std::string, std::vector<const Gang*>>;  // by node

GangsOn GangsIn(const State& state) {
  GangsOn gangs;
  for (const Placed& placed : state.placed) {
    for (const Seat& seat : placed.seats) gangs[seat.node].push_back(&placed.gang);
  }
  return gangs;
}

// Returns who is on a node that has the gangs `there`, once what is planned has been carried out.
Company CompanyOf(std::span<const Gang* const> there, std::span<const Planned> planned) {
  Company company;
  for (const Gang* gang : there) {
    const auto leaves = [gang](const Planned& change) { return change.gang == gang && change.pods < 0; };
    if (std::ranges::none_of(planned, leaves)) company.Add(*gang);
  }
  for (const Planned& change : planned) {
    if (change.pods > 0) company.Add(*change.gang);
  }
  return company;
}

constexpr char kServes[] = "MPS serves one user ID at a time, and ";

// Returns, in words for the user, why a gang of such users is not beside others on a node with MPS.
std::string WhyNot(Users users) {
  const std::string serves = kServes;
  switch (users) {
    case Users::kMixed:
      return serves + "the containers of one pod have several user IDs: use the same runAsUser";
    case Users::kOwn:
      return serves + "with hostUsers: false each pod has a user ID of its own: leave hostUsers out";
    case Users::kUnlike:
    case Users::kOne:
      break;
  }
  return serves + "the pods of one job have several user IDs: use the same runAsUser";
}

// Returns, in words for the user, why a gang of one user is not beside a gang of such users on a node with
// MPS.
std::string WhyNotBeside(Users there) {
  return std::string(kServes) +
         (there == Users::kOwn
              ? "a job there has hostUsers: false, which gives each of its pods a user ID of its own: wait"
              : "a job there has several user IDs: wait");
}

void Limit(const Gang& gang, const Company& there, Fit* fit) {
  const bool one = gang.users == Users::kOne;
  if (one && there.users == Users::kOne) return;
  const bool full = one || there.any;
  if (gang.users == Users::kMixed) fit->ever = 0;
  if (!one) fit->ever = std::min(fit->ever, 1);
  fit->pods = std::min({fit->pods, fit->ever, full ? 0 : 1});
  if (fit->pods > 0 && gang.pods <= 1) return;
  fit->why = one ? WhyNotBeside(there.users) : WhyNot(gang.users);
  fit->figures.clear();
}

}  // namespace

Fitness LimitedByUser(const State& state, Fitness fitness) {
  const auto gangs = std::make_shared<const GangsOn>(GangsIn(state));
  return [&state, gangs, fitness = std::move(fitness)](const Gang& gang, int index,
                                                       std::span<const Planned> planned) -> Fit {
    Fit fit = fitness(gang, index, planned);
    const Node& node = state.nodes[static_cast<std::size_t>(index)];
    if (!node.one_user || fit.never()) return fit;
    const auto found = gangs->find(node.name);
    using There = std::span<const Gang* const>;
    const Company there = CompanyOf(found == gangs->end() ? There() : There(found->second), planned);
    // If another limit leaves no room already, its words stay, unless the gang itself has several users.
    if (fit.pods > 0 || gang.users != Users::kOne) Limit(gang, there, &fit);
    return fit;
  };
}

}  // namespace crossover::placement
