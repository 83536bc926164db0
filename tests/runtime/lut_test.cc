#include "runtime/kernels/lut.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "quantize/numerics/prelu.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

class Lut : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!CpuSupports(GetParam())) GTEST_SKIP() << "this CPU lacks " << Name(GetParam());
  }
};

TEST_P(Lut, LooksEveryByteUpInRowsOfEverySize) {
  Random random(1);
  const Bytes table = random.Data(256);
  for (int64_t count = 0; count < 200; ++count) {
    const int64_t pitch_x = count + random.Int(0, 9), pitch_y = count + random.Int(0, 9);
    const Bytes x = random.Data(3 * pitch_x + 1);
    Bytes y(static_cast<size_t>(3 * pitch_y + 1), 77), expected = y;
    const RowBlock rows{.rows = 3, .count = count, .pitch_a = pitch_x, .pitch_y = pitch_y};
    for (int64_t r = 0; r < 3; ++r) {
      for (int64_t i = 0; i < count; ++i) expected[r * pitch_y + i] = table[x[r * pitch_x + i]];
    }
    LutFor(GetParam())(table.data(), x.data(), y.data(), rows);
    ASSERT_EQ(y, expected) << count;
  }
}

TEST_P(Lut, InPlace) {
  Random random(2);
  const Bytes table = random.Data(256);
  Bytes y(256);
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<uint8_t>(i);
  LutFor(GetParam())(table.data(), y.data(), y.data(), {.count = 256});
  EXPECT_EQ(y, table);
}

// Positions as rows of channels lie in memory, with gaps that keep what they hold.
TEST_P(Lut, ChannelsHaveTheirTablesAndGapsStayAsTheyAre) {
  Random random(3);
  for (int64_t channels = 1; channels < 100; channels += random.Int(1, 9)) {
    const int64_t pitch = channels + random.Int(0, 70), tables = random.Int(1, 9);
    const Bytes entries = random.Data(256 * tables);
    std::vector<int32_t> places;
    while (static_cast<int64_t>(places.size()) < 300 + pitch) {
      for (int64_t c = 0; c < pitch; ++c) {
        const auto table = static_cast<int32_t>(random.Int(0, static_cast<int>(tables) - 1));
        places.push_back(c < channels ? 256 * table : -1);
      }
    }
    std::vector<ChannelLutArgs::Use> uses;
    std::vector<int32_t> first_use;
    for (size_t begin = 0; begin < places.size(); begin += 64) {
      first_use.push_back(static_cast<int32_t>(uses.size()));
      for (int32_t table = 0; table < tables; ++table) {
        uint64_t positions = 0;
        for (size_t p = begin; p < std::min(begin + 64, places.size()); ++p)
          positions |= uint64_t{places[p] == 256 * table} << (p - begin);
        if (positions != 0) uses.push_back({positions, 256 * table});
      }
    }
    first_use.push_back(static_cast<int32_t>(uses.size()));
    const ChannelLutArgs args{entries.data(), places.data(), uses.data(), first_use.data()};
    for (const int64_t first : {int64_t{0}, int64_t{1}, random.Int(2, 99)}) {
      const int64_t n = random.Int(1, 300 + pitch - 100);
      const Bytes x = random.Data(n);
      Bytes y = random.Data(n), expected = y;
      for (int64_t i = 0; i < n; ++i) {
        const int32_t place = places[static_cast<size_t>(first + i)];
        if (place >= 0) expected[i] = entries[static_cast<size_t>(place + x[i])];
      }
      ChannelLutFor(GetParam())(args, first, x.data(), y.data(), n);
      ASSERT_EQ(y, expected) << channels << " of " << pitch << " from " << first << ", " << n;
    }
  }
}

// Every byte, slope and shift, with zero points and clamps at their ends.
TEST_P(Lut, PReluIsTheFormula) {
  const PReluFn run = PReluFor(GetParam());
  if (run == nullptr) GTEST_SKIP() << Name(GetParam()) << " has no function of its own here";
  Bytes x(256), positive(256), y(256);
  std::vector<int8_t> slopes(256);
  for (const DType type : {DType::kS8, DType::kU8}) {
    for (int rshift = 0; rshift <= 62; rshift += rshift < 20 ? 1 : 6) {
      for (const int end : {0, 1, 100, 254, 255}) {
        numerics::LeakyParams p{.zero_x = Lowest(type) + end, .zero_y = Highest(type) - end / 2};
        p.rshift = rshift, p.lo = Lowest(type) + end / 9, p.hi = Highest(type) - end / 11;
        for (int i = 0; i < 256; ++i) {
          x[i] = static_cast<uint8_t>(i);
          positive[i] = static_cast<uint8_t>(numerics::PRelu(Value(x[i], type), p));
        }
        for (int slope = -128; slope < 128; slope += 5) {
          for (int i = 0; i < 256; ++i) slopes[i] = static_cast<int8_t>(slope + i % 5);
          const PReluArgs args{.positive = positive.data(),
                               .slopes = slopes.data(),
                               .flip = static_cast<uint8_t>(type == DType::kS8 ? 0x80 : 0),
                               .zero = p.zero_x + (type == DType::kS8 ? 128 : 0),
                               .rshift = rshift,
                               .zero_y = p.zero_y,
                               .lo = p.lo,
                               .hi = p.hi};
          run(args, x.data(), y.data(), {.rows = 2, .count = 128, .pitch_a = 128, .pitch_y = 128});
          for (int i = 0; i < 256; ++i) {
            p.multiplier = slopes[i % 128];
            const int32_t expected = numerics::PRelu(Value(x[i], type), p);
            ASSERT_EQ(y[i], static_cast<uint8_t>(expected)) << rshift << ' ' << p.multiplier;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Lut,
                         ::testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni,
                                           Isa::kAvx512Vnni));

}  // namespace
}  // namespace rshift::testing
