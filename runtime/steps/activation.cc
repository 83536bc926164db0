// LeakyRelu and Table are lookup tables of bytes; PRelu has a slope for each channel, ChannelTables
// a table.
#include <algorithm>
#include <cstring>

#include "quantize/numerics/leaky_relu.h"
#include "quantize/numerics/prelu.h"
#include "runtime/kernels/lut.h"
#include "runtime/steps/flattened_rows.h"
#include "runtime/steps/lut.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class LutOp : public ByteOp {
 public:
  LutOp(Isa isa, const ByteTable& table) : lut_(LutFor(isa)), table_(table) {}

  void Run(const ByteBlock& block) const noexcept override {
    lut_(table_.data(), block.a, block.y, block.rows);
  }

 private:
  LutFn lut_;
  ByteTable table_;
};

// C: LeakyRelu or PRelu, whose negative side has its multiplier elsewhere.
template <typename C>
numerics::LeakyParams ParamsOf(const StepContext& context, const C& c) {
  return {.zero_x = context.Record(Field::kSrc).zero_point,
          .zero_y = context.Record(Field::kDst).zero_point,
          .rshift = c.rshift,
          .multiplier_positive = c.positive.multiplier,
          .rshift_positive = c.positive.rshift,
          .lo = c.clamp.lo,
          .hi = c.clamp.hi};
}

// One table per slope: 256 bytes a channel, made at load.
class PReluTables : public ByteOp {
 public:
  PReluTables(const StepContext& context, numerics::LeakyParams params) {
    const TensorRecord& src = context.Record(Field::kSrc);
    const auto* slopes = context.In<int8_t>(Field::kSrc2);
    tables_.reserve(static_cast<size_t>(src.shape.back()));
    for (int64_t c = 0; c < src.shape.back(); ++c) {
      params.multiplier = slopes[c];
      tables_.push_back(
          MakeByteTable(src.dtype, [&](int32_t x) { return numerics::PRelu(x, params); }));
    }
  }

  void Run(const ByteBlock& block) const noexcept override {
    const auto channels = static_cast<int64_t>(tables_.size());
    for (int64_t r = 0; r < block.rows.rows; ++r) {
      const ByteBlock row = block.Row(r, 0, block.rows.count);
      int64_t i = 0, c = row.at % channels;
      while (i < row.rows.count) {
        for (const int64_t end = std::min(row.rows.count, i + channels - c); i < end; ++i, ++c) {
          row.y[i] = tables_[static_cast<size_t>(c)][row.a[i]];
        }
        c = 0;
      }
    }
  }

  size_t memory_bytes() const override { return tables_.size() * sizeof(ByteTable); }

 private:
  std::vector<ByteTable> tables_;
};

// By a function that computes: slopes repeat until a row of them is worth a call.
class PReluOp : public ByteOp {
 public:
  PReluOp(const StepContext& context, const numerics::LeakyParams& params, PReluFn run)
      : run_(run) {
    const TensorRecord& src = context.Record(Field::kSrc);
    channels_ = src.shape.back();
    positive_ = MakeByteTable(src.dtype, [&](int32_t x) { return numerics::PRelu(x, params); });
    const auto* slopes = context.In<int8_t>(Field::kSrc2);
    while (channels_ > 0 && static_cast<int64_t>(slopes_.size()) < channels_ + kRepeated)
      slopes_.insert(slopes_.end(), slopes, slopes + channels_);
    const ByteOperand x = OperandOf(context, Field::kSrc);
    args_ = {.flip = x.flip,
             .zero = x.zero,
             .rshift = params.rshift,
             .zero_y = params.zero_y,
             .lo = params.lo,
             .hi = params.hi};
  }

  void Run(const ByteBlock& block) const noexcept override {
    PReluArgs args = args_;
    args.positive = positive_.data();
    const int64_t first = block.at % channels_;
    if (block.row_steps % channels_ == 0 && first + block.rows.count <= size()) {
      args.slopes = slopes_.data() + first;
      return run_(args, block.a, block.y, block.rows);
    }
    for (int64_t r = 0; r < block.rows.rows; ++r) {
      for (int64_t i = 0; i < block.rows.count;) {
        const int64_t channel = (block.at + r * block.row_steps + i) % channels_;
        const ByteBlock row = block.Row(r, i, std::min(block.rows.count - i, size() - channel));
        args.slopes = slopes_.data() + channel;
        run_(args, row.a, row.y, row.rows);
        i += row.rows.count;
      }
    }
  }

  size_t memory_bytes() const override { return slopes_.size(); }

 private:
  static constexpr int64_t kRepeated = 512;
  int64_t size() const { return static_cast<int64_t>(slopes_.size()); }

  PReluFn run_;
  int64_t channels_ = 0;
  ByteTable positive_;
  std::vector<int8_t> slopes_;
  PReluArgs args_;
};

// The channels repeat, with the gaps between the rows of dst, until a row of them is worth a call.
class ChannelTablesOp : public ByteOp {
 public:
  explicit ChannelTablesOp(const StepContext& context) : run_(ChannelLutFor(context.isa)) {
    channels_ = context.Record(Field::kSrc).shape.back();
    pitch_ = RowPitch(context, Field::kDst);
    const bool is_vector = run_ != ChannelLutFor(Isa::kScalar);
    if (!is_vector || pitch_ > kMostGaps * channels_) pitch_ = channels_;
    const auto* numbers = context.In<uint8_t>(Field::kSrc2);
    while (channels_ > 0 && size() < pitch_ + kRepeated) {
      for (int64_t c = 0; c < channels_; ++c) places_.push_back(256 * numbers[c]);
      places_.resize(places_.size() + static_cast<size_t>(pitch_ - channels_), -1);
    }
    for (int64_t begin = 0; begin < size(); begin += 64) AddGroup(begin);
    first_use_.push_back(static_cast<int32_t>(uses_.size()));
    args_ = {.tables = context.In<uint8_t>(Field::kTable),
             .places = places_.data(),
             .uses = uses_.data(),
             .first_use = first_use_.data()};
  }

  void Run(const ByteBlock& block) const noexcept override {
    const RowBlock& rows = block.rows;
    const bool whole = rows.count == channels_ && rows.rows > 1 && rows.pitch_a == pitch_ &&
                       rows.pitch_y == pitch_ && block.at % channels_ == 0 &&
                       block.row_steps == channels_;
    if (whole) return RunPositions(block.a, block.y, (rows.rows - 1) * pitch_ + channels_);
    for (int64_t r = 0; r < rows.rows; ++r) {
      for (int64_t i = 0; i < rows.count;) {
        const int64_t channel = (block.at + r * block.row_steps + i) % channels_;
        // Without gaps a row may be several rows of channels.
        const int64_t most = pitch_ == channels_ ? size() - channel : channels_ - channel;
        const ByteBlock row = block.Row(r, i, std::min(rows.count - i, most));
        run_(args_, channel, row.a, row.y, row.rows.count);
        i += row.rows.count;
      }
    }
  }

  size_t memory_bytes() const override {
    return places_.size() * sizeof(int32_t) + first_use_.size() * sizeof(int32_t) +
           uses_.size() * sizeof(ChannelLutArgs::Use);
  }

 private:
  static constexpr int64_t kRepeated = 512;
  // From so many times the channels on, and byte by byte, passing over the gaps costs more than a
  // call for each row.
  static constexpr int64_t kMostGaps = 4;
  int64_t size() const { return static_cast<int64_t>(places_.size()); }

  // size() is a multiple of the pitch.
  void RunPositions(const uint8_t* x, uint8_t* y, int64_t n) const noexcept {
    for (int64_t i = 0; i < n; i += size()) run_(args_, 0, x + i, y + i, std::min(n - i, size()));
  }

  // The tables of the 64 positions from `begin` on, or of those that are left.
  void AddGroup(int64_t begin) {
    const size_t first = uses_.size();
    first_use_.push_back(static_cast<int32_t>(first));
    for (int64_t p = begin; p < std::min(begin + 64, size()); ++p) {
      const int32_t place = places_[static_cast<size_t>(p)];
      if (place < 0) continue;
      size_t use = first;
      while (use < uses_.size() && uses_[use].place != place) ++use;
      if (use == uses_.size()) uses_.push_back({0, place});
      uses_[use].positions |= uint64_t{1} << (p - begin);
    }
  }

  ChannelLutFn run_;
  int64_t channels_ = 0, pitch_ = 0;
  std::vector<int32_t> places_, first_use_;
  std::vector<ChannelLutArgs::Use> uses_;
  ChannelLutArgs args_;
};

}  // namespace

std::unique_ptr<ByteOp> MakeLutOp(Isa isa, const ByteTable& table) {
  return std::make_unique<LutOp>(isa, table);
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::LeakyRelu& c) {
  numerics::LeakyParams params = ParamsOf(context, c);
  params.multiplier = c.multiplier;
  return MakeLutOp(context.isa, MakeByteTable(context.Record(Field::kSrc).dtype, [&](int32_t x) {
                     return numerics::LeakyRelu(x, params);
                   }));
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::PRelu& c) {
  numerics::LeakyParams params = ParamsOf(context, c);
  if (NumElements(context.Record(Field::kSrc2).shape) != 1) {
    const PReluFn run = PReluFor(context.isa);
    if (run == nullptr) return std::make_unique<PReluTables>(context, params);
    return std::make_unique<PReluOp>(context, params, run);
  }
  params.multiplier = *context.In<int8_t>(Field::kSrc2);
  return MakeLutOp(context.isa, MakeByteTable(context.Record(Field::kSrc).dtype, [&](int32_t x) {
                     return numerics::PRelu(x, params);
                   }));
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Table&) {
  ByteTable table;
  std::memcpy(table.data(), context.In(Field::kTable), table.size());
  return MakeLutOp(context.isa, table);
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::ChannelTables&) {
  return std::make_unique<ChannelTablesOp>(context);
}

}  // namespace rshift
