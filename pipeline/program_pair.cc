#include "pipeline/program_pair.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "pipeline/tensor_view.h"

namespace rshift {
namespace {

// Memory order; `memory` is dense.
void ReadReals(const TensorRecord& record, std::span<const std::byte> memory,
               std::vector<float>* out) {
  const auto count = static_cast<size_t>(NumElements(record.shape));
  out->resize(count);
  const bool is_signed = record.dtype == DType::kS8;
  if (record.dtype == DType::kF32) {
    if (count > 0) std::memcpy(out->data(), memory.data(), count * sizeof(float));
  } else if (record.quantized && (is_signed || record.dtype == DType::kU8)) {
    float table[256];
    for (int byte = 0; byte < 256; ++byte) {
      const int q = is_signed ? static_cast<int8_t>(byte) : byte;
      table[byte] = record.scale * (static_cast<float>(q) - static_cast<float>(record.zero_point));
    }
    for (size_t i = 0; i < count; ++i) (*out)[i] = table[static_cast<uint8_t>(memory[i])];
  } else if (record.quantized && record.dtype == DType::kS16) {
    for (size_t i = 0; i < count; ++i) {
      int16_t q;
      std::memcpy(&q, memory.data() + i * sizeof q, sizeof q);
      (*out)[i] = record.scale * static_cast<float>(q);
    }
  } else {
    *out = OnnxFloats(record, memory);
  }
}

bool IsQuantizedOrFloat(const TensorRecord& record) {
  return record.dtype == DType::kF32 || (record.quantized && record.dtype != DType::kU16);
}

}  // namespace

Program CompileObservable(const Graph& graph, const std::string& where) {
  CompileOptions options;
  options.observable = true;
  return Program::FromBytes(WriteContainer(Compile(graph, options)), where, Limits::None());
}

std::vector<TensorPair> PairTensors(const ProgramImage& integer, const ProgramImage& floating) {
  std::map<std::string, int32_t> by_name;
  for (size_t i = 0; i < floating.tensors.size(); ++i) {
    if (floating.tensors[i].region == Region::kArena)
      by_name[floating.tensors[i].name] = static_cast<int32_t>(i);
  }
  std::map<int32_t, const OpSpec*> written;
  for (const Command& command : integer.commands) {
    written[command.Tensor(Field::kDst)] = FindOp(command.opcode);
  }
  std::vector<TensorPair> pairs;
  for (size_t i = 0; i < integer.tensors.size(); ++i) {
    const TensorRecord& record = integer.tensors[i];
    const auto match = by_name.find(record.name);
    const auto command = written.find(static_cast<int32_t>(i));
    if (record.region != Region::kArena || match == by_name.end() || command == written.end())
      continue;
    const TensorRecord& other = floating.tensors[match->second];
    const bool same_order = record.layout == other.layout && record.shape == other.shape &&
                            record.pitch == 0 && other.pitch == 0 && IsQuantizedOrFloat(record) &&
                            IsQuantizedOrFloat(other);
    pairs.push_back({static_cast<int32_t>(i), match->second, command->second->name,
                     command->second->op_class == OpClass::kMove, same_order});
  }
  return pairs;
}

void ReadPair(const TensorPair& pair, const Program& integer, const Session& integer_session,
              const Program& floating, const Session& float_session, PairValues* values) {
  const TensorRecord& a = integer.image().tensors[pair.integer];
  const TensorRecord& b = floating.image().tensors[pair.floating];
  const auto a_memory = integer_session.Tensor(pair.integer);
  const auto b_memory = float_session.Tensor(pair.floating);
  if (pair.same_order) {
    ReadReals(a, a_memory, &values->integer);
    ReadReals(b, b_memory, &values->floating);
  } else {
    values->integer = OnnxFloats(a, a_memory);
    values->floating = OnnxFloats(b, b_memory);
  }
}

std::span<std::byte> WritableTensor(const Session& session, int32_t tensor) {
  const std::span<const std::byte> memory = session.Tensor(tensor);
  // The arena is the session's own writable memory; only its interface for tensors is read-only.
  return {const_cast<std::byte*>(memory.data()), memory.size()};
}

bool StoreValues(const TensorRecord& record, std::span<const float> values,
                 std::span<std::byte> memory) {
  if (!IsQuantizedOrFloat(record)) return false;
  RSHIFT_REQUIRE(memory.size() == values.size() * SizeOf(record.dtype), ErrorCode::kInternal,
                 "storing ", values.size(), " values in ", memory.size(), " bytes");
  if (values.empty()) return true;
  if (record.dtype == DType::kF32) {
    std::memcpy(memory.data(), values.data(), memory.size());
    return true;
  }
  const bool wide = record.dtype == DType::kS16;
  const float low = wide ? -32768 : record.dtype == DType::kU8 ? 0 : -128;
  const float high = wide ? 32767 : low + 255;
  const float inverse = 1 / record.scale, zero = static_cast<float>(record.zero_point);
  constexpr float kRound = 12582912;  // 1.5 * 2^23: adding it rounds to an integer, half to even
  for (size_t i = 0; i < values.size(); ++i) {
    const float q = values[i] * inverse;
    const float inside = q > -1e5f ? std::min(q, 1e5f) : -1e5f;  // NaN becomes the lowest
    const float rounded = inside + kRound - kRound + zero;
    const auto stored = static_cast<int>(std::min(std::max(rounded, low), high));
    if (wide) {
      const auto number = static_cast<int16_t>(stored);
      std::memcpy(memory.data() + i * sizeof number, &number, sizeof number);
    } else {
      memory[i] = static_cast<std::byte>(static_cast<uint8_t>(stored));
    }
  }
  return true;
}

}  // namespace rshift
