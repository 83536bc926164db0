#include "runtime/verify/data_flow.h"

#include <algorithm>

namespace rshift::verify {

void ByteSet::Add(uint64_t begin, uint64_t end) {
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

bool ByteSet::Contains(uint64_t begin, uint64_t end) const {
  if (begin >= end) return true;
  auto it = ranges_.upper_bound(begin);
  return it != ranges_.begin() && std::prev(it)->second >= end;
}

DataFlow::DataFlow(const ProgramImage& image) {
  for (const Binding& input : image.inputs) {
    const TensorRecord& tensor = image.tensors[static_cast<size_t>(input.tensor)];
    written_.Add(tensor.offset, tensor.offset + tensor.bytes());
  }
}

bool DataFlow::IsWritten(const TensorRecord& tensor) const {
  return tensor.region == Region::kConst ||
         written_.Contains(tensor.offset, tensor.offset + tensor.bytes());
}

void DataFlow::WriteRange(uint64_t offset, uint64_t bytes) {
  written_.Add(offset, offset + bytes);
  std::erase_if(partials_, [&](const Partial& partial) {
    return partial.offset < offset + bytes && offset < partial.offset + partial.bytes;
  });
}

void DataFlow::WritePart(const CommandCheck& check) {
  const TensorRecord& src = check.Tensor(Field::kSrc);
  const TensorRecord& dst = check.Tensor(Field::kDst);
  const int64_t axis = check.Get(Field::kAxis), first = check.Get(Field::kOffset);
  uint64_t outer = 1, inner = SizeOf(dst.dtype);
  for (int64_t d = 0; d < static_cast<int64_t>(dst.shape.size()); ++d) {
    if (d < axis) outer *= static_cast<uint64_t>(dst.shape[static_cast<size_t>(d)]);
    if (d > axis) inner *= static_cast<uint64_t>(dst.shape[static_cast<size_t>(d)]);
  }
  if (outer <= 1) return WriteRange(dst.offset + static_cast<uint64_t>(first) * inner, src.bytes());
  auto partial = std::find_if(partials_.begin(), partials_.end(), [&](const Partial& p) {
    return p.offset == dst.offset && p.bytes == dst.bytes() && p.shape == dst.shape &&
           p.axis == axis;
  });
  if (partial == partials_.end()) {
    partials_.push_back({dst.offset, dst.bytes(), dst.shape, axis, {}});
    partial = partials_.end() - 1;
  }
  const auto begin = static_cast<uint64_t>(first);
  partial->covered.Add(begin, begin + static_cast<uint64_t>(src.shape[static_cast<size_t>(axis)]));
  if (partial->covered.Contains(0, static_cast<uint64_t>(dst.shape[static_cast<size_t>(axis)]))) {
    WriteRange(dst.offset, dst.bytes());
  }
}

void DataFlow::Write(const CommandCheck& check) {
  const TensorRecord& dst = check.Tensor(Field::kDst);
  if (check.command.opcode == Opcode::kCopyInto && !dst.shape.empty() && dst.bytes() > 0) {
    return WritePart(check);
  }
  WriteRange(dst.offset, dst.bytes());
}

}  // namespace rshift::verify
