#include "tests/fuzz/program_mutator.h"

#include <bit>
#include <iterator>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "tests/codegen/container/forge.h"

namespace rshift::testing {
namespace {

template <typename List>
auto& AnyOf(List& list, Random& random) {
  return list[static_cast<size_t>(random.Int(0, static_cast<int64_t>(std::size(list)) - 1))];
}

// Small steps, ends of ranges, powers of two and their neighbours.
int64_t Odd(int64_t value, Random& random) {
  switch (random.Int(0, 5)) {
    case 0:
      return static_cast<int64_t>(static_cast<uint64_t>(value) +
                                  static_cast<uint64_t>(random.Int(-3, 3)));
    case 1:
      return random.Int(0, 8);
    case 2:
      return (int64_t{1} << random.Int(0, 62)) + random.Int(-1, 1);
    case 3:
      return -(int64_t{1} << random.Int(0, 62)) + random.Int(-1, 1);
    case 4:
      return random.Int(0, 1) == 0 ? std::numeric_limits<int64_t>::min()
                                   : std::numeric_limits<int64_t>::max();
    default:
      return static_cast<int64_t>(static_cast<uint64_t>(value) * 2);
  }
}

float OddFloat(Random& random) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float values[] = {0.0f,      -0.0f,
                          1.0f,      -1.0f,
                          kInfinity, -kInfinity,
                          1e-45f,    1e-38f,
                          3e38f,     -3e38f,
                          0.5f,      16777216.0f,
                          1e9f,      std::numeric_limits<float>::quiet_NaN()};
  if (random.Int(0, 3) == 0) return std::bit_cast<float>(static_cast<uint32_t>(random.engine()));
  return AnyOf(values, random);
}

void MutateField(ProgramImage& image, Random& random) {
  if (image.commands.empty()) return;
  Command& command = AnyOf(image.commands, random);
  const OpSpec* spec = FindOp(command.opcode);
  const FieldSpec& field = AnyOf(spec->fields, random);
  if (IsTensor(field.kind)) {
    command.Set(field.field, random.Int(-1, static_cast<int64_t>(image.tensors.size()) - 1));
  } else if (field.kind == FieldKind::kFloat) {
    command.SetFloat(field.field, OddFloat(random));
  } else {
    const int64_t value = random.Int(0, 2) == 0 ? random.Int(field.lo, field.hi)
                                                : Odd(command.Get(field.field), random);
    command.Set(field.field, std::clamp(value, field.lo, field.hi));
  }
}

int64_t OddDim(int64_t dim, Random& random) {
  switch (random.Int(0, 4)) {
    case 0:
      return 0;
    case 1:
      return int64_t{1} << random.Int(0, 39);
    case 2:
      return std::max<int64_t>(0, dim + random.Int(-1, 1));
    case 3:
      return random.Int(1, 300);
    default:
      return 1;
  }
}

// The same dimension of every tensor that has it: such a program is often consistent.
void MutateDimEverywhere(ProgramImage& image, Random& random) {
  const Shape shape = AnyOf(image.tensors, random).shape;
  if (shape.empty()) return;
  const int64_t dim = AnyOf(shape, random), next = OddDim(dim, random);
  for (TensorRecord& tensor : image.tensors) {
    for (int64_t& d : tensor.shape) d = d == dim ? next : d;
  }
}

void MutateTensor(ProgramImage& image, Random& random) {
  TensorRecord& tensor = AnyOf(image.tensors, random);
  switch (random.Int(0, 9)) {
    case 0:
      tensor.dtype = static_cast<DType>(random.Int(1, kDTypeCount - 1));
      break;
    case 1:
      tensor.shape = AnyOf(image.tensors, random).shape;
      break;
    case 2:
      if (!tensor.shape.empty()) tensor.shape.pop_back();
      break;
    case 3:
      if (tensor.shape.size() < 8) tensor.shape.insert(tensor.shape.begin(), OddDim(1, random));
      break;
    case 4:
      tensor.offset = AnyOf(image.tensors, random).offset;
      break;
    case 5:
      tensor.pitch = static_cast<uint32_t>(random.Int(0, 3) == 0 ? Odd(tensor.pitch, random)
                                                                 : random.Int(0, 256));
      break;
    case 6:
      tensor.zero_point =
          static_cast<int32_t>(random.Int(0, 1) == 0 ? random.Int(-128, 255) : Odd(0, random));
      break;
    case 7:
      if (tensor.quantized) tensor.scale = OddFloat(random);
      break;
    case 8:
      tensor.layout = tensor.layout == Layout::kNhwc ? Layout::kPlain : Layout::kNhwc;
      break;
    default:
      if (!tensor.shape.empty()) AnyOf(tensor.shape, random) = OddDim(1, random);
  }
  if (tensor.dtype != DType::kS8 && tensor.dtype != DType::kU8) {
    tensor.quantized = false, tensor.scale = 0, tensor.zero_point = 0;
  }
}

int64_t NumElementsOr0(const Shape& shape) {
  try {
    return NumElements(shape);
  } catch (const Error&) {  // too many
    return 0;
  }
}

// Weights, records, lists, scales: bytes, or whole words.
void MutateConstant(ProgramImage& image, Random& random) {
  const TensorRecord& tensor = AnyOf(image.tensors, random);
  if (tensor.region != Region::kConst || NumElementsOr0(tensor.shape) == 0) return;
  if (!RangeFits(tensor.offset, tensor.bytes(), image.constants.size())) return;  // mutated before
  uint8_t* data = image.constants.data() + tensor.offset;
  const uint64_t size =
      SizeOf(tensor.dtype) == 1 && random.Int(0, 1) == 0 ? 4 : SizeOf(tensor.dtype);
  if (tensor.bytes() < size) return;
  uint8_t* at = data + size * static_cast<uint64_t>(
                                  random.Int(0, static_cast<int64_t>(tensor.bytes() / size) - 1));
  int64_t value = 0;
  std::memcpy(&value, at, size);
  value = Odd(value, random);
  const float number = OddFloat(random);
  if (size == 4 && random.Int(0, 1) == 0) std::memcpy(&value, &number, size);
  std::memcpy(at, &value, size);
}

void MutateCommands(ProgramImage& image, Random& random) {
  if (image.commands.empty()) return;
  const auto at =
      image.commands.begin() + random.Int(0, static_cast<int64_t>(image.commands.size()) - 1);
  switch (random.Int(0, 3)) {
    case 0:
      image.commands.insert(at, Command(*at));
      break;
    case 1:
      image.commands.erase(at);
      break;
    case 2:
      std::swap(*at, image.commands.front());
      break;
    default: {  // another opcode on the same tensors
      const std::span<const OpSpec> table = IsaTable();
      Command other = NewCommand(AnyOf(table, random).opcode);
      for (const FieldSpec& field : FindOp(other.opcode)->fields) {
        const int64_t value = at->Get(field.field);
        other.Set(field.field,
                  IsTensor(field.kind) ? value : std::clamp(value, field.lo, field.hi));
        if (field.kind == FieldKind::kFloat) other.SetFloat(field.field, OddFloat(random));
      }
      *at = other;
    }
  }
}

// Every tensor of the arena gets a place of its own, close to the next; constants that have grown
// get zeros.
void LayOut(ProgramImage& image) {
  constexpr uint64_t kMostConstants = 1 << 20;
  uint64_t arena = 0;
  for (TensorRecord& tensor : image.tensors) {
    if (tensor.pitch != 0 && NumElementsOr0(tensor.shape) == 0) return;  // the reader refuses it
    const uint64_t extent = NumElementsOr0(tensor.shape) == 0 ? 0 : tensor.extent();
    if (extent >= uint64_t{1} << 40) return;
    if (tensor.region == Region::kArena) {
      tensor.offset = arena;
      arena = (arena + extent + 63) / 64 * 64;
    } else if (tensor.offset + extent + 64 > image.constants.size() && extent < kMostConstants) {
      tensor.offset = image.constants.size();
      image.constants.resize((tensor.offset + extent + 63) / 64 * 64 + 64);
    }
  }
  image.arena_size = arena + 64;
}

}  // namespace

void MutateImage(ProgramImage& image, Random& random) {
  for (int64_t changes = random.Int(1, 3); changes > 0; --changes) {
    switch (random.Int(0, 9)) {
      case 0:
      case 1:
      case 2:
        MutateField(image, random);
        break;
      case 3:
      case 4:
        MutateDimEverywhere(image, random);
        break;
      case 5:
      case 6:
        MutateTensor(image, random);
        break;
      case 7:
      case 8:
        MutateConstant(image, random);
        break;
      default:
        MutateCommands(image, random);
    }
  }
  if (random.Int(0, 9) == 0) image.arena_size = static_cast<uint64_t>(Odd(0, random));
  if (random.Int(0, 9) > 1) LayOut(image);
}

void MutateFile(Bytes& file, Random& random) {
  const auto constants = static_cast<int64_t>(std::min<uint64_t>(file.size(), 4096));
  for (int64_t changes = random.Int(1, 3); changes > 0; --changes) {
    const auto at = static_cast<size_t>(random.Int(0, constants - 9));
    switch (random.Int(0, 2)) {
      case 0:
        file[at] ^= static_cast<uint8_t>(1 << random.Int(0, 7));
        break;
      case 1:
        StoreNumber(file, at / 4 * 4, static_cast<uint32_t>(Odd(0, random)));
        break;
      default:
        StoreNumber(file, at / 8 * 8, Odd(0, random));
    }
  }
  FixChecksums(file);
}

}  // namespace rshift::testing
