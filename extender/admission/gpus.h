// How many GPUs the containers of a pod ask for, whole ones or slots. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace crossover::extender::admission {

struct Asking {
  const char* list = "";  // of the pod's spec: initContainers or containers
  std::size_t index = 0;  // there
  std::string name;
  bool init = false;
  bool sidecar = false;  // initialises, and stays
  int gpus = 0;
  std::string whole;  // the resource by which it asks for whole GPUs; empty: for slots, or for nothing
};

// Of each container, in the order in which a kubelet starts them. `whole`: names of resources whose unit is a
// whole GPU. The text says what is wrong: a quantity that is no count, requests that differ from limits, both
// kinds at once.
std::variant<std::vector<Asking>, std::string> GpusOf(const nlohmann::json& spec,
                                                      const std::vector<std::string>& whole);

// A kubelet hands the slots of plain init containers that have ended to later containers. What is wrong where
// nobody could say which GPUs each gets, or no later container asks for any (common/kube/left_over.h).
std::optional<std::string> Misplaced(const std::vector<Asking>& containers);

}  // namespace crossover::extender::admission
