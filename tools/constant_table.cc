#include "tools/constant_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/half.h"
#include "isa/attributes.h"
#include "isa/isa.h"
#include "pipeline/tensor_view.h"
#include "quantize/numerics/requantize.h"
#include "tools/vectors.h"

namespace rshift {
namespace {

std::span<const int32_t> Elements32(const NumpyArray& array) {
  return {reinterpret_cast<const int32_t*>(array.bytes.data()), array.bytes.size() / 4};
}

// Of the weights, one for each output channel; none where the words are no integers.
std::vector<float> WeightScales(const ProgramImage& image, const Command& command,
                                std::span<const uint8_t> records) {
  const TensorRecord &src = image.tensors[command.Tensor(Field::kSrc)],
                     &dst = image.tensors[command.Tensor(Field::kDst)];
  const bool known =
      src.quantized && dst.quantized && src.scale > 0 &&
      numerics::IsIntegerRounding(static_cast<Rounding>(command.Get(Field::kRounding)));
  if (!known) return {};
  const std::vector<NumpyArray> words = UnpackRequant(image, command, records);
  const std::span<const int32_t> multipliers = Elements32(words[1]), shifts = Elements32(words[2]);
  std::vector<float> scales;
  for (size_t c = 0; c < multipliers.size(); ++c) {
    const double factor = std::ldexp(static_cast<double>(multipliers[c]), -shifts[c]);
    scales.push_back(static_cast<float>(factor * dst.scale / src.scale));
  }
  return scales;
}

// What one command reads of the constants, each only once in a program.
class ProgramConstants {
 public:
  explicit ProgramConstants(const Program& program) : program_(program) {}

  void Add(size_t index) {
    const Command& command = program_.image().commands[index];
    for (const FieldSpec& field : FindOp(command.opcode)->fields) {
      if (!IsTensor(field.kind)) continue;
      const int32_t id = command.Tensor(field.field);
      if (id < 0 || !seen_.insert(id).second) continue;
      if (program_.image().tensors[id].region != Region::kConst) continue;
      const size_t first = rows_.size();
      AddTensor(command, field.field, program_.image().tensors[id]);
      for (size_t i = first; i < rows_.size(); ++i) {
        rows_[i].op = FindOp(command.opcode)->name;
        if (index < program_.image().command_names.size())
          rows_[i].node = program_.image().command_names[index];
      }
    }
  }
  std::vector<ConstantRow> Take() { return std::move(rows_); }

 private:
  std::span<const uint8_t> Bytes(const TensorRecord& record) const {
    return program_.constants().subspan(record.offset, record.extent());
  }

  void AddTensor(const Command& command, Field field, const TensorRecord& record) {
    const ProgramImage& image = program_.image();
    const std::span<const uint8_t> bytes = Bytes(record);
    if (field == Field::kRequant && HasIntegerWeights(command)) {
      for (NumpyArray& words : UnpackRequant(image, command, bytes)) {
        const std::string name = Cat(record.name, ".", words.name);
        rows_.push_back({name, "", "", std::move(words), {}, true});
      }
      return;
    }
    ConstantRow row{record.name, "", "", {}, {}, record.dtype != DType::kBytes};
    if (field == Field::kWeights && HasIntegerWeights(command)) {
      row.values = UnpackWeights(image, command, bytes);
      row.has_numbers = true;
      row.bits = Has4Bits(image, record) ? 4 : 8;
      const int32_t words = command.Tensor(Field::kRequant);
      if (words >= 0) row.scales = WeightScales(image, command, Bytes(image.tensors[words]));
    } else {
      row.values = ToArray(record, std::as_bytes(bytes), /*raw=*/true);
      if (record.dtype == DType::kBytes) row.values.dtype = DType::kU8;
      if (record.quantized) row.scales = {record.scale};
    }
    rows_.push_back(std::move(row));
  }

  const Program& program_;
  std::set<int32_t> seen_;
  std::vector<ConstantRow> rows_;
};

template <typename T>
ConstantFigures Figures(const NumpyArray& array, int bits = 8) {
  const double most = std::is_signed_v<T> ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  ConstantFigures figures;
  figures.has_ends = sizeof(T) == 1 && std::is_integral_v<T> && array.dtype != DType::kBool;
  const size_t count = array.bytes.size() / sizeof(T);
  size_t zeros = 0, ends = 0;
  for (size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, array.bytes.data() + i * sizeof(T), sizeof(T));
    const auto value = static_cast<double>(element);
    figures.min = i == 0 ? value : std::min(figures.min, value);
    figures.max = i == 0 ? value : std::max(figures.max, value);
    if (element == T{}) ++zeros;
    if (std::is_signed_v<T> ? std::fabs(value) >= most : value <= 0 || value >= most) ++ends;
  }
  if (count == 0) return figures;
  figures.zeros = static_cast<double>(zeros) / static_cast<double>(count);
  figures.ends = static_cast<double>(ends) / static_cast<double>(count);
  return figures;
}

ConstantFigures HalfFigures(const NumpyArray& array) {
  NumpyArray wide = array;
  const size_t count = array.bytes.size() / 2;
  wide.bytes.resize(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, array.bytes.data() + i * 2, 2);
    const float value = HalfToFloat(bits);
    std::memcpy(wide.bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return Figures<float>(wide);
}

}  // namespace

std::vector<ConstantRow> ConstantsOf(const Program& program) {
  ProgramConstants constants(program);
  for (size_t i = 0; i < program.image().commands.size(); ++i) constants.Add(i);
  return constants.Take();
}

std::vector<ConstantRow> ConstantsOf(const Graph& graph) {
  std::vector<ConstantRow> rows;
  std::set<ValueId> seen;
  for (const Node& node : graph.nodes()) {
    for (const ValueId id : node.inputs) {
      if (!id.valid() || !graph.value(id).is_constant() || !seen.insert(id).second) continue;
      const Value& value = graph.value(id);
      ConstantRow row{value.name, OpName(node.op), node.name, {}, {}, true};
      row.values = {value.name, value.dtype, value.shape, value.constant->bytes};
      if (value.origin != nullptr) {
        row.values.dtype = value.origin->dtype;
        row.values.bytes = value.origin->integers->bytes;
        row.scales = value.origin->scales;
        row.bits = value.origin->bits;
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

ConstantFigures FiguresOf(const NumpyArray& array, int bits) {
  switch (array.dtype) {
    case DType::kS8:
      return Figures<int8_t>(array, bits);
    case DType::kU8:
    case DType::kBool:
      return Figures<uint8_t>(array, bits);
    case DType::kS16:
      return Figures<int16_t>(array);
    case DType::kU16:
      return Figures<uint16_t>(array);
    case DType::kS32:
      return Figures<int32_t>(array);
    case DType::kU32:
      return Figures<uint32_t>(array);
    case DType::kS64:
      return Figures<int64_t>(array);
    case DType::kU64:
      return Figures<uint64_t>(array);
    case DType::kF16:
      return HalfFigures(array);
    case DType::kF64:
      return Figures<double>(array);
    default:
      return Figures<float>(array);
  }
}

}  // namespace rshift
