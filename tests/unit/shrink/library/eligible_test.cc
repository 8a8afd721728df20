// Tests which calls are narrowed.
#include "shrink/library/eligible.h"

#include <gtest/gtest.h>

namespace crossover::shrink::library {
namespace {

constexpr Call kGood{Function::kAllReduce, kFloat32, kSum, kLeastCount};

TEST(EligibleTest, OneThingAtATime) {
  EXPECT_EQ(WhyNot(kGood), WhyPlain::kNone);
  Call call = kGood;
  call.op = kAvg;
  EXPECT_EQ(WhyNot(call), WhyPlain::kNone);
  for (const int op : {1, 2, 3, 5, -1}) {
    call.op = op;
    EXPECT_EQ(WhyNot(call), WhyPlain::kOperator) << op;
  }
  for (const int type : {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11}) {
    call = kGood;
    call.type = type;
    EXPECT_EQ(WhyNot(call), WhyPlain::kType) << type;
  }
  call = kGood;
  --call.count;
  EXPECT_EQ(WhyNot(call), WhyPlain::kCount);
  for (const Function function :
       {Function::kBroadcast, Function::kReduce, Function::kAllGather, Function::kReduceScatter}) {
    call = kGood;
    call.function = function;
    EXPECT_EQ(WhyNot(call), WhyPlain::kFunction) << Words(function);
  }
}

TEST(EligibleTest, HalfOfTheBytes) {
  EXPECT_EQ(BufferBytes(65'536), 131'072U);
  EXPECT_EQ(BufferBytes(65'537), 131'584U);
}

}  // namespace
}  // namespace crossover::shrink::library
