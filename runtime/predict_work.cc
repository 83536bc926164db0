// What one command takes: taps, scratch and index maps that its step will make.
#include <algorithm>
#include <initializer_list>

#include "base/checked.h"
#include "codegen/container/broadcast.h"
#include "runtime/cost.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/limits.h"
#include "runtime/work_cost.h"

namespace rshift {
namespace {

uint64_t Product(std::initializer_list<uint64_t> factors) {
  uint64_t product = 1;
  for (const uint64_t factor : factors) product = SaturatingMul(product, factor);
  return product;
}

// One command, seen from its tensors. Shapes are whatever the file says: nothing has checked that
// they fit the command.
struct View {
  const ProgramImage& image;
  const Command& command;

  const TensorRecord& Record(Field f) const {
    return image.tensors[static_cast<size_t>(command.Tensor(f))];
  }
  uint64_t Get(Field f) const { return static_cast<uint64_t>(command.Get(f)); }
  uint64_t Count(Field f) const { return static_cast<uint64_t>(NumElements(Record(f).shape)); }
  uint64_t Dim(Field f, size_t d) const {
    const Shape& shape = Record(f).shape;
    return d < shape.size() ? static_cast<uint64_t>(shape[d]) : 1;
  }
  uint64_t Channels(Field f) const {
    return Dim(f, std::max<size_t>(Record(f).shape.size(), 1) - 1);
  }
  uint64_t SumOfDims(Field f) const {
    uint64_t sum = 0;
    for (const int64_t dim : Record(f).shape) sum = SaturatingAdd(sum, static_cast<uint64_t>(dim));
    return sum;
  }
};

// Of all tensors of the command, those that are read twice twice.
uint64_t TensorElements(const View& view) {
  uint64_t elements = 0;
  for (const FieldSpec& field : FindOp(view.command.opcode)->fields) {
    if (IsTensor(field.kind) && view.command.Tensor(field.field) >= 0)
      elements = SaturatingAdd(elements, view.Count(field.field));
  }
  return elements;
}

// Input columns under one output pixel that an AVX-512 depthwise convolution brings into its order:
// those between the taps of a dilated window too.
uint64_t Span(const View& view) {
  const Command& c = view.command;
  if (HasDistantTaps(c.Get(Field::kKernelH), c.Get(Field::kKernelW), c.Get(Field::kDilationW)))
    return 0;
  return (view.Get(Field::kKernelW) - 1) * view.Get(Field::kDilationW) + 1;
}

// 2 or 4 in each dimension that changes. Scales other than 1 may resample one that keeps its size;
// they are not read here, and counted as two dimensions.
uint64_t ResizeTaps(const View& view) {
  const Shape& src = view.Record(Field::kSrc).shape;
  const Shape& dst = view.Record(Field::kDst).shape;
  const uint64_t each =
      static_cast<ResizeMode>(view.Get(Field::kMode)) == ResizeMode::kLinear ? 2 : 4;
  uint64_t taps = 1;
  for (size_t d = 0; d < std::min(src.size(), dst.size()); ++d) taps *= src[d] != dst[d] ? each : 1;
  return std::max(taps, each * each);
}

// How often each element of dst is worked on besides being written: taps.
uint64_t Taps(const View& view) {
  const auto inside = [&](Field kernel, size_t d) {
    return std::min(view.Get(kernel), view.Dim(Field::kSrc, d));
  };
  switch (TraitsOf(view.command.opcode).taps) {
    case TapForm::kWindow:
      return SaturatingMul(inside(Field::kKernelH, 1), inside(Field::kKernelW, 2));
    case TapForm::kDepthwiseWindow: {
      const uint64_t span = Span(view);
      return span <= 16 ? 0 : Product({span, (view.Get(Field::kKernelH) + 3) / 4});
    }
    case TapForm::kNeighbours:
      return std::min(view.Get(Field::kCount), view.Dim(Field::kSrc, view.Get(Field::kAxis)));
    case TapForm::kResize:
      return ResizeTaps(view);
    case TapForm::kSuppression: {  // each box meets those taken before it, behind a heap
      const uint64_t boxes = view.Dim(Field::kSrc, 1);
      const uint64_t most = std::max<uint64_t>(std::min(view.Get(Field::kCount), boxes), 1);
      return SaturatingAdd(boxes / 3, SaturatingMul(boxes / most, 8));
    }
    case TapForm::kSort:
      return SaturatingMul(view.Dim(Field::kSrc, 1), 16);
    case TapForm::kNone:
      break;
  }
  return 0;
}

// Of a product of 16-bit integers (steps/conv_int16.cc): five words of every channel, weights in
// pairs of s16, panels of 64 channels, a row of zeros, and pointers of 12 pixels for every tap, of
// a block of tiles where the weights are many.
uint64_t Int16Buffers(const View& view) {
  const bool conv = view.command.opcode == Opcode::kConvS16;
  const auto of = [&](Field f) { return conv ? static_cast<uint64_t>(view.command.Get(f)) : 1; };
  const uint64_t taps = Product({of(Field::kKernelH), of(Field::kKernelW)});
  const uint64_t groups = of(Field::kGroups);
  const uint64_t ic = view.Channels(Field::kSrc), oc = view.Channels(Field::kDst);
  constexpr uint64_t kWords = 40, kPointers = 96;
  if (groups > 1 && groups == ic && groups == oc) {  // steps/depthwise_int16.cc: taps in pairs
    const uint64_t pairs = taps / 2 + 1;
    return SaturatingAdd(Product({oc / 64 + 1, 64, SaturatingAdd(kWords, Product({pairs, 4}))}),
                         SaturatingAdd(Product({pairs, 2 * kPointers}), Product({oc, 2}) + 256));
  }
  const uint64_t inputs = ic / groups + 2, panels = oc / groups / 64 + 1;
  const uint64_t channel = SaturatingAdd(kWords, Product({taps, inputs, 2}));
  const uint64_t words = Product({groups, panels, 64, channel});
  uint64_t rows = Product({taps, kPointers});
  if (words > kS16HeldWeights) rows = std::max<uint64_t>(rows, kS16BlockRows);
  return SaturatingAdd(words, SaturatingAdd(rows, Product({inputs, 2}) + 256));
}

// Requantization words of `entries` channels, a row of zero points, and the kernels' scratch.
uint64_t RequantBuffers(const View& view) {
  constexpr uint64_t kWords = 60, kRowsOfTaps = 16, kRing = 256, kMostIm2col = 1024, kSlack = 4096;
  const uint64_t groups = std::max<uint64_t>(view.Get(Field::kGroups), 1);
  const MacForm form = TraitsOf(view.command.opcode).macs;
  const uint64_t kernel = form == MacForm::kMatMul
                              ? 1
                              : Product({view.Get(Field::kKernelH), view.Get(Field::kKernelW)});
  const uint64_t fixed =
      SaturatingAdd(view.Channels(Field::kSrc), kSlack + kRing * (kMostIm2col + 4));
  if (form == MacForm::kDepthwise) {
    const uint64_t quarters = 256 * ((view.Get(Field::kKernelH) + 3) / 4);
    const uint64_t lines =
        view.Get(Field::kKernelW) * 2 + Span(view) + view.Get(Field::kStrideW) + 64;
    const uint64_t channels = view.Channels(Field::kDst) + 64;
    // Pointers of 16 pixels for every tap, and the weights as s16.
    const uint64_t taps = Product({kernel + 1, SaturatingAdd(160, Product({channels, 2}))});
    return SaturatingAdd(SaturatingAdd(fixed, Product({channels, kWords})),
                         SaturatingAdd(Product({quarters, lines}), taps));
  }
  const uint64_t entries = SaturatingAdd(view.Channels(Field::kDst), Product({groups, 16}));
  return SaturatingAdd(SaturatingAdd(fixed, Product({entries + 16, kWords})),
                       Product({kernel, kRowsOfTaps, 8}));
}

// Of a product of bytes with 16-bit results (steps/conv_int16_bytes.cc): those of one of 8 bits,
// and the weights, packed.
uint64_t BytesToInt16Buffers(const View& view) {
  constexpr uint64_t kPanel = 16, kTogether = 4;  // channels of a panel, and of a word
  const bool conv = view.command.opcode == Opcode::kConvS16;
  const auto of = [&](Field f) { return conv ? view.Get(f) : 1; };
  const uint64_t groups = std::max<uint64_t>(of(Field::kGroups), 1);
  const uint64_t inputs = view.Channels(Field::kSrc) / groups + kTogether;
  const uint64_t outputs = view.Channels(Field::kDst) / groups + kPanel;
  const uint64_t weights =
      Product({groups, outputs, of(Field::kKernelH), of(Field::kKernelW), inputs});
  return SaturatingAdd(RequantBuffers(view), SaturatingAdd(weights, 256));
}

// A smaller constant, spread out over the part of dst after which it begins anew.
uint64_t BroadcastBuffers(const View& view) {
  const Shape& dst = view.Record(Field::kDst).shape;
  for (const Field f : {Field::kSrc, Field::kSrc2}) {
    const Shape& shape = view.Record(f).shape;
    if (shape == dst || !BroadcastsTo(shape, dst)) continue;
    return static_cast<uint64_t>(2 * BroadcastPeriod(shape, dst) + 2 * kBroadcastBlock);
  }
  return 0;
}

uint64_t Buffers(const View& view) {
  constexpr uint64_t kShuffle = 16 * 1024;  // the plan of one row of bytes
  constexpr uint64_t kTable = 256;
  constexpr uint64_t kRepeatedPlaces = 512;  // each a place and a table for it alone
  const OpTraits traits = TraitsOf(view.command.opcode);
  if (traits.broadcasts_constant) return BroadcastBuffers(view);
  switch (traits.buffers) {
    case BufferForm::kRequant:
      return RequantBuffers(view);
    case BufferForm::kDynamicRequant:
      return SaturatingMul(RequantBuffers(view), 2);
    case BufferForm::kIndexMap:  // a list, two maps, runs of 24 bytes or a plan; 4 taps of 16 bytes
      return view.Count(Field::kDst) == 0
                 ? 0
                 : SaturatingAdd(kShuffle, Product({view.SumOfDims(Field::kDst), 64}));
    case BufferForm::kIndices:
      return SaturatingAdd(kShuffle, Product({view.Count(Field::kSrc2), 8}));
    case BufferForm::kRowPlan:
      return kShuffle;
    case BufferForm::kWeights:  // at least
      if (view.command.opcode == Opcode::kConvS16 || view.command.opcode == Opcode::kMatMulS16)
        return view.Record(Field::kSrc).dtype == DType::kS16 ? Int16Buffers(view)
                                                             : BytesToInt16Buffers(view);
      return Product({view.Count(Field::kWeights), 4});
    case BufferForm::kSrc2:
      return Product({view.Count(Field::kSrc2), 4});
    case BufferForm::kPackedSrc2: {
      if (view.command.opcode == Opcode::kBatchedMatMulS16)  // two halves of s16, panels of 64
        return Product({SaturatingAdd(view.Channels(Field::kSrc), 2),
                        SaturatingAdd(view.Channels(Field::kDst), 64), 4});
      const uint64_t k = SaturatingAdd(view.Channels(Field::kSrc), 68);  // words: 64 bytes a column
      return SaturatingAdd(Product({k, SaturatingAdd(view.Channels(Field::kDst), 16)}), kShuffle);
    }
    case BufferForm::kChannelTables:  // or slopes and one table
      return SaturatingAdd(kTable + kShuffle, Product({view.Channels(Field::kSrc), kTable}));
    case BufferForm::kPlaces:  // whichever dimension of src has the boxes or rows
      return Product({std::max(view.Dim(Field::kSrc, 0), view.Dim(Field::kSrc, 1)), 16});
    case BufferForm::kPlacesOfTables:
      return Product({SaturatingAdd(view.Channels(Field::kSrc), kRepeatedPlaces), 24});
    case BufferForm::kTable:
      return kTable;
    case BufferForm::kNone:
    case BufferForm::kUnstated:
      break;
  }
  return 0;
}

}  // namespace

RunWork PredictWork(const ProgramImage& image, const Command& command) {
  const View view{image, command};
  RunWork work;
  work.macs = static_cast<uint64_t>(MacCount(image, command));
  work.elements =
      SaturatingAdd(TensorElements(view), SaturatingMul(view.Count(Field::kDst), Taps(view)));
  work.buffers = Buffers(view);
  work.nanoseconds = PredictNanoseconds(image, command, work.macs, work.elements);
  return work;
}

}  // namespace rshift
