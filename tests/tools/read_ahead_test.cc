#include "tools/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "base/error.h"
#include "tests/base/error_of.h"
#include "tools/streams.h"

namespace rshift {
namespace {

// Sample i is one value, i; notes how far reading is ahead of what was taken.
class Numbers : public Dataset {
 public:
  explicit Numbers(int64_t size, int64_t bad = -1) : size_(size), bad_(bad) {}
  int64_t size() const override { return size_; }
  std::string name(int64_t index) const override { return std::to_string(index); }
  Sample Read(int64_t index) const override {
    const int64_t ahead = reads.fetch_add(1) + 1 - taken.load();
    int64_t before = most_ahead.load();
    while (before < ahead && !most_ahead.compare_exchange_weak(before, ahead)) {
    }
    RSHIFT_REQUIRE(bad_ < 0 || index < bad_, ErrorCode::kInvalidInput, "bad ", index);
    return {name(index), {{static_cast<float>(index)}}};
  }

  mutable std::atomic<int64_t> reads{0}, taken{0}, most_ahead{0};

 private:
  int64_t size_, bad_;
};

TEST(ReadAheadTest, EverySampleOnceInOrderForAnyNumberOfStreams) {
  for (const int streams : {1, 2, 5}) {
    for (const int64_t bytes : {int64_t{4}, int64_t{1} << 30}) {
      const Numbers numbers(1000);
      ReadAhead ahead(numbers, streams, bytes);
      std::vector<float> values;
      InOrder(streams, numbers.size(), [&](int, int64_t i) -> Commit {
        const Sample sample = ahead.Take(i);
        return [&values, value = sample.inputs[0][0]] { values.push_back(value); };
      });
      ASSERT_EQ(values.size(), 1000u);
      for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i));
      EXPECT_EQ(numbers.reads.load(), 1000);
    }
  }
}

TEST(ReadAheadTest, LargeSamplesAreOneAhead) {
  const Numbers numbers(50);
  ReadAhead ahead(numbers, 1, int64_t{1} << 30);
  for (int64_t i = 0; i < numbers.size(); ++i) {
    ahead.Take(i);
    ++numbers.taken;
  }
  // One waits to be taken; the next is begun between its being taken and our counting it.
  EXPECT_LE(numbers.most_ahead.load(), 2);
}

TEST(ReadAheadTest, TheErrorIsThatOfTheFirstBadSample) {
  for (const int streams : {1, 3}) {
    const Numbers numbers(200, 57);
    ReadAhead ahead(numbers, streams, 4);
    int64_t good = 0;
    const auto run = [&] {
      InOrder(streams, numbers.size(), [&](int, int64_t i) -> Commit {
        ahead.Take(i);
        return [&good] { ++good; };
      });
    };
    EXPECT_EQ(ErrorOf(run), "bad 57");
    EXPECT_EQ(good, 57);
  }
}

TEST(ReadAheadTest, EndsWhenNobodyTakesAnything) {
  const Numbers numbers(100000);
  for (int i = 0; i < 20; ++i) ReadAhead ahead(numbers, 3, 4);
  SUCCEED();
}

}  // namespace
}  // namespace rshift
