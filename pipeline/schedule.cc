#include "pipeline/schedule.h"

#include <algorithm>

namespace crossover::pipeline {
namespace {

using Order = std::vector<Operation>;

void AddForward(const Shape& shape, int chunk, int microbatch, Order* order) {
  if (microbatch >= shape.sliced) {
    order->push_back({true, chunk, microbatch, Half::kWhole});
    return;
  }
  order->push_back({true, chunk, microbatch, Half::kFirst});
  order->push_back({true, chunk, microbatch, Half::kSecond});
}

// Returns the operations of one device with one chunk: `warm` forward passes, then one forward and one
// backward pass in turn, then the backward passes that are left.
Order OneForwardOneBackward(const Shape& shape, int device) {
  const int warm = std::min(shape.devices - 1 - device, shape.microbatches);
  Order order;
  for (int m = 0; m < warm; ++m) AddForward(shape, device, m, &order);
  for (int m = warm; m < shape.microbatches; ++m) {
    AddForward(shape, device, m, &order);
    order.push_back({false, device, m - warm});
  }
  for (int m = shape.microbatches - warm; m < shape.microbatches; ++m) order.push_back({false, device, m});
  return order;
}

// Returns the same with several chunks. The devices take groups of as many micro-batches as there are
// devices, each group through one chunk after the other.
Order Interleaved(const Shape& shape, int device) {
  const int per_round = shape.devices * shape.chunks_per_device;
  const int all = shape.microbatches * shape.chunks_per_device;
  const int ahead = (shape.devices - device - 1) * 2 + (shape.chunks_per_device - 1) * shape.devices;
  const int warm = shape.microbatches == shape.devices ? all : std::min(all, ahead);
  const auto microbatch = [&](int k) { return k / per_round * shape.devices + k % shape.devices; };
  const auto place = [&](int k) { return k % per_round / shape.devices; };  // of the chunk on its device
  const auto chunk = [&](int on_device) { return on_device * shape.devices + device; };
  Order order;
  const auto forward = [&](int k) { AddForward(shape, chunk(place(k)), microbatch(k), &order); };
  const auto backward = [&](int k) {
    order.push_back({false, chunk(shape.chunks_per_device - 1 - place(k)), microbatch(k)});
  };
  for (int k = 0; k < warm; ++k) forward(k);
  for (int k = warm; k < all; ++k) {
    forward(k);
    backward(k - warm);
  }
  for (int k = all - warm; k < all; ++k) backward(k);
  return order;
}

Order GPipe(const Shape& shape, int device) {
  Order order;
  for (int m = 0; m < shape.microbatches; ++m) AddForward(shape, device, m, &order);
  for (int m = 0; m < shape.microbatches; ++m) order.push_back({false, device, m});
  return order;
}

}  // namespace

std::string FaultOf(const Shape& shape) {
  const auto got = [](int number) { return ", got " + std::to_string(number); };
  if (shape.devices < 1) return "expected at least one device" + got(shape.devices);
  if (shape.microbatches < 1) return "expected at least one micro-batch" + got(shape.microbatches);
  if (shape.sliced < 0 || shape.sliced > shape.microbatches) {
    return "expected from 0 to " + std::to_string(shape.microbatches) +
           " micro-batches with halved forward passes" + got(shape.sliced);
  }
  if (shape.chunks_per_device < 1)
    return "expected at least one chunk on each device" + got(shape.chunks_per_device);
  if (shape.kind != Kind::kInterleaved && shape.chunks_per_device > 1) {
    return "expected one chunk on each device without the interleaved schedule" +
           got(shape.chunks_per_device);
  }
  if (shape.kind == Kind::kInterleaved && shape.microbatches % shape.devices != 0) {
    return "micro-batches: expected a number of micro-batches that is a multiple of the devices (" +
           std::to_string(shape.devices) + ") for the interleaved schedule" + got(shape.microbatches);
  }
  return "";
}

std::vector<Order> OrdersOf(const Shape& shape) {
  std::vector<Order> orders;
  for (int device = 0; device < shape.devices; ++device) {
    switch (shape.kind) {
      case Kind::kOneForwardOneBackward:
        orders.push_back(OneForwardOneBackward(shape, device));
        break;
      case Kind::kInterleaved:
        orders.push_back(Interleaved(shape, device));
        break;
      case Kind::kGPipe:
        orders.push_back(GPipe(shape, device));
        break;
    }
  }
  return orders;
}

}  // namespace crossover::pipeline
