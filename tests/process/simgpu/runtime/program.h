// Holds what the programs of these tests share: a machine of two GPUs, an image of device code, and its
// kernels.
#pragma once

#include <gtest/gtest.h>

#include "simgpu/runtime/export.h"

#define OK(call) ASSERT_EQ(call, cudaSuccess) << #call

namespace simgpu::runtime_test {

// The host functions of the kernels, by whose addresses a program names them.
extern const char kAdd;      // add(int* sum, int value) adds on the GPU
extern const char kTimed;    // timed(ns)
extern const char kHold;     // hold(unsigned* word, unsigned value) runs until the word has the value
extern const char kLacking;  // its image does not have it

// A Program registers the image, as a program does before main(), and unregisters it at its end.
class Program : public testing::Test {
 protected:
  Program();
  ~Program() override;

  // Adds through a launch of any kind: call(arguments) makes it.
  template <typename Call>
  void Add(Call&& call, int value) {
    void* arguments[] = {&sum_, &value};
    call(arguments);
  }
  // Returns the sum, after all work of the device.
  int Sum() const;

  // Makes `stream` busy until Release().
  void Hold(cudaStream_t stream);
  void Release();

  int* sum_ = nullptr;        // on the device
  unsigned* word_ = nullptr;  // on the host

 private:
  void** image_;
};

}  // namespace simgpu::runtime_test
