#include "codegen/container/strided_bytes.h"

#include <algorithm>

namespace rshift {
namespace {

uint64_t Product(const Shape& shape, size_t begin, size_t end) {
  uint64_t product = 1;
  for (size_t d = begin; d < end; ++d) product *= static_cast<uint64_t>(shape[d]);
  return product;
}

StridedBytes PartOf(const TensorRecord& dst, const Shape& src, const Command& command) {
  const auto axis = static_cast<size_t>(command.Get(Field::kAxis));
  const auto first = static_cast<uint64_t>(command.Get(Field::kOffset));
  const auto count = static_cast<uint64_t>(src[axis]);
  const size_t last = dst.shape.size() - 1;
  if (axis == last) {
    const uint64_t element = SizeOf(dst.dtype);
    return MakeStridedBytes(dst.offset + first * element, dst.rows(), count * element,
                            dst.row_pitch());
  }
  if (dst.pitch != 0) {  // whole rows; the verifier wants a single index before the axis
    const uint64_t rows = Product(dst.shape, axis + 1, last);
    return MakeStridedBytes(dst.offset + first * rows * dst.pitch, count * rows, dst.row_bytes(),
                            dst.pitch);
  }
  const uint64_t inner = Product(dst.shape, axis + 1, last + 1) * SizeOf(dst.dtype);
  return MakeStridedBytes(dst.offset + first * inner, Product(dst.shape, 0, axis), count * inner,
                          static_cast<uint64_t>(dst.shape[axis]) * inner);
}

// One run of bytes [begin, end) and strided bytes of several runs.
bool RunMeets(const StridedBytes& strided, uint64_t begin, uint64_t end) {
  // The first run that ends behind `begin`.
  const uint64_t first_end = strided.offset + strided.run;
  const uint64_t i = begin < first_end ? 0 : (begin - first_end) / strided.pitch + 1;
  return i < strided.runs && strided.offset + i * strided.pitch < end;
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Run i of `a` and run j of `b` meet when -b.run < i * pitch - (b.offset - a.offset) - j * pitch <
// a.run with the signs turned: distance - a.run < (i - j) * pitch < distance + b.run.
bool StridedBytesMeet(const StridedBytes& a, const StridedBytes& b) {
  const auto pitch = static_cast<int64_t>(a.pitch);
  const int64_t distance = static_cast<int64_t>(b.offset) - static_cast<int64_t>(a.offset);
  const int64_t least = FloorDivide(distance - static_cast<int64_t>(a.run), pitch) + 1;
  const int64_t most = -FloorDivide(-distance - static_cast<int64_t>(b.run), pitch) - 1;
  return std::max(least, 1 - static_cast<int64_t>(b.runs)) <=
         std::min(most, static_cast<int64_t>(a.runs) - 1);
}

}  // namespace

StridedBytes MakeStridedBytes(uint64_t offset, uint64_t runs, uint64_t run, uint64_t pitch) {
  if (runs == 0 || run == 0) return {offset, 1, 0, 0};
  if (runs == 1 || run == pitch) return {offset, 1, runs * run, 0};
  return {offset, runs, run, pitch};
}

StridedBytes StridedBytesOf(const TensorRecord& tensor) {
  return MakeStridedBytes(tensor.offset, tensor.rows(), tensor.row_bytes(), tensor.row_pitch());
}

StridedBytes WrittenBytes(const ProgramImage& image, const Command& command) {
  const auto record = [&](Field f) -> const TensorRecord& {
    return image.tensors[static_cast<size_t>(command.Tensor(f))];
  };
  const TensorRecord& dst = record(Field::kDst);
  if (command.opcode != Opcode::kCopyInto || dst.shape.empty() || dst.bytes() == 0)
    return StridedBytesOf(dst);
  return PartOf(dst, record(Field::kSrc).shape, command);
}

bool Overlap(const StridedBytes& a, const StridedBytes& b) {
  if (a.run == 0 || b.run == 0 || a.offset >= b.end() || b.offset >= a.end()) return false;
  if (a.dense() && b.dense()) return true;
  if (a.dense()) return RunMeets(b, a.offset, a.end());
  if (b.dense()) return RunMeets(a, b.offset, b.end());
  return a.pitch != b.pitch || StridedBytesMeet(a, b);
}

bool Overlap(const TensorRecord& a, const TensorRecord& b) {
  return a.region == b.region && Overlap(StridedBytesOf(a), StridedBytesOf(b));
}

void ByteSet::AddDense(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second >= begin) --it;
  while (it != ranges_.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = ranges_.erase(it);
  }
  ranges_.emplace(begin, end);
}

bool ByteSet::ContainsDense(uint64_t begin, uint64_t end) const {
  if (begin >= end) return true;
  const auto it = ranges_.upper_bound(begin);
  return it != ranges_.begin() && std::prev(it)->second >= end;
}

void ByteSet::Add(const StridedBytes& strided) {
  if (strided.dense()) return AddDense(strided.offset, strided.end());
  uint64_t begin = strided.offset, end = strided.offset + strided.run;  // of the first run
  const auto key = [&](uint64_t offset) { return StridedKey{strided.pitch, strided.runs, offset}; };
  const auto touches = [&](auto it) {
    const auto& [pitch, runs, offset] = it->first;
    return pitch == strided.pitch && runs == strided.runs && offset <= end &&
           offset + it->second >= begin;
  };
  auto it = strided_.upper_bound(key(begin));
  if (it != strided_.begin() && touches(std::prev(it))) --it;
  while (it != strided_.end() && touches(it)) {
    begin = std::min(begin, std::get<2>(it->first));
    end = std::max(end, std::get<2>(it->first) + it->second);
    it = strided_.erase(it);
  }
  if (end - begin < strided.pitch) {
    strided_.emplace(key(begin), end - begin);
  } else {
    AddDense(begin, end + (strided.runs - 1) * strided.pitch);
  }
}

bool ByteSet::Contains(const StridedBytes& strided) const {
  if (ContainsDense(strided.offset, strided.end())) return true;
  if (strided.dense()) return false;
  const auto it = strided_.upper_bound(StridedKey{strided.pitch, strided.runs, strided.offset});
  if (it == strided_.begin()) return false;
  const auto& [pitch, runs, offset] = std::prev(it)->first;
  return pitch == strided.pitch && runs == strided.runs &&
         offset + std::prev(it)->second >= strided.offset + strided.run;
}

}  // namespace rshift
