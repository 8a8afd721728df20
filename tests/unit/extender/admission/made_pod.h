// A pod as an API server shows it to a webhook.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace crossover::extender::admission {

inline nlohmann::json MadeContainer(const std::string& name, const nlohmann::json& amounts) {
  return {{"name", name}, {"image", "x"}, {"resources", {{"limits", amounts}, {"requests", amounts}}}};
}

// Of one container that asks for that many whole GPUs.
inline nlohmann::json MadePod(const nlohmann::json& annotations, const std::string& gpus = "2") {
  return {{"metadata", {{"generateName", "train-"}, {"annotations", annotations}}},
          {"spec",
           {{"containers",
             nlohmann::json::array({MadeContainer("main", {{"nvidia.com/gpu", gpus}, {"cpu", "1"}})})},
            {"schedulerName", "default-scheduler"}}}};
}

}  // namespace crossover::extender::admission
