#include "codegen/memory/report.h"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <sstream>
#include <string_view>
#include <tuple>

#include "codegen/container/strided_bytes.h"
#include "codegen/memory/lifetime.h"
#include "codegen/memory/placement.h"

namespace rshift {
namespace {

// Which tensors are views of one buffer, as a forest: a tensor's owner is an earlier tensor of the
// same bytes, or itself.
class Owners {
 public:
  explicit Owners(size_t count) : owner_(count) { std::iota(owner_.begin(), owner_.end(), 0); }
  size_t Of(size_t tensor) const {
    while (owner_[tensor] != tensor) tensor = owner_[tensor];
    return tensor;
  }
  void Join(size_t a, size_t b) { owner_[Of(a)] = Of(b); }

 private:
  std::vector<size_t> owner_;
};

// A tensor whose first use is a read holds what the tensors used last before it left in these
// bytes: one of which it is a Reshape, or the views of which it is the whole. Two that share bytes
// and are alive together are one as well.
Owners FindOwners(const ProgramImage& image, const std::vector<Lifetime>& lives) {
  std::vector<size_t> by_time;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].used && image.tensors[i].region == Region::kArena) by_time.push_back(i);
  }
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](size_t a, size_t b) { return lives[a].first < lives[b].first; });
  Owners owners(lives.size());
  for (size_t i = 0; i < by_time.size(); ++i) {
    const size_t tensor = by_time[i];
    const StridedBytes strided = StridedBytesOf(image.tensors[tensor]);
    ByteSet found;
    for (size_t j = i; j-- > 0 && !found.Contains(strided);) {
      const size_t earlier = by_time[j];
      const StridedBytes other = StridedBytesOf(image.tensors[earlier]);
      if (!Overlap(strided, other)) continue;
      const bool together = lives[earlier].last >= lives[tensor].first;
      if (lives[tensor].read_first || together) owners.Join(tensor, earlier);
      found.Add(other);
    }
  }
  return owners;
}

char Letter(size_t index) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return kLetters[index % kLetters.size()];
}

std::string Bytes(uint64_t bytes) {
  std::ostringstream out;
  out << bytes << " bytes";
  if (bytes >= 1024)
    out << " (" << std::fixed << std::setprecision(2) << bytes / 1048576.0 << " MiB)";
  return out.str();
}

void PutMap(const MemoryReport& report, int columns, int rows, std::ostringstream& out) {
  int64_t commands = 1;
  for (const ArenaBlock& block : report.blocks)
    commands = std::max(commands, block.buffer.last + 1);
  const auto width = static_cast<int>(std::min<int64_t>(columns, commands));
  const int64_t per_row =
      std::max<int64_t>((static_cast<int64_t>(report.arena) + rows - 1) / rows, 1);
  for (int row = rows; row-- > 0;) {
    const int64_t low = row * per_row;
    if (low >= static_cast<int64_t>(report.arena)) continue;
    std::string line(width, '.');
    for (size_t i = 0; i < report.blocks.size(); ++i) {
      const ArenaBlock& block = report.blocks[i];
      const auto begin = static_cast<int64_t>(block.offset);
      if (begin >= low + per_row || begin + block.buffer.size <= low) continue;
      for (int column = 0; column < width; ++column) {
        const int64_t first = column * commands / width, last = (column + 1) * commands / width - 1;
        if (block.buffer.first <= last && block.buffer.last >= first) line[column] = Letter(i);
      }
    }
    out << std::setw(12) << low << " |" << line << "|\n";
  }
}

}  // namespace

MemoryReport AnalyzeMemory(const ProgramImage& image) {
  std::vector<Lifetime> lives = TensorLifetimes(image);
  const int64_t end = std::max<int64_t>(static_cast<int64_t>(image.commands.size()) - 1, 0);
  for (const Binding& input : image.inputs) {
    Lifetime& life = lives[input.tensor];
    life = {0, life.last, true, true};  // without a reader, its last is 0
  }
  for (const Binding& output : image.outputs) lives[output.tensor] = {0, end, true, false};
  const Owners owners = FindOwners(image, lives);

  MemoryReport report;
  report.constants = image.constants.size();
  if (image.constants_of_4_bits && !image.constants.empty())  // else they are in a file
    report.constants_of_4_bits = image.constants.size() - *image.constants_of_4_bits;
  std::vector<int> block_of(lives.size(), -1);
  for (size_t i = 0; i < lives.size(); ++i) {
    const TensorRecord& tensor = image.tensors[i];
    if (!lives[i].used || tensor.region != Region::kArena) continue;
    const uint64_t tensor_end = tensor.offset + std::max<uint64_t>(tensor.extent(), 1);
    report.arena = std::max(report.arena, (tensor_end + 63) / 64 * 64);
    int& block = block_of[owners.Of(i)];
    if (block < 0) {
      block = static_cast<int>(report.blocks.size());
      report.blocks.push_back({tensor.name, tensor.offset, {0, lives[i].first, lives[i].last}});
    }
    ArenaBlock& known = report.blocks[block];
    const uint64_t known_end = known.offset + static_cast<uint64_t>(known.buffer.size);
    if (lives[i].first < known.buffer.first) known.name = tensor.name;
    known.offset = std::min(known.offset, tensor.offset);
    known.buffer.size = static_cast<int64_t>(std::max(known_end, tensor_end) - known.offset);
    known.buffer.first = std::min(known.buffer.first, lives[i].first);
    known.buffer.last = std::max(known.buffer.last, lives[i].last);
  }
  report.slack = image.arena_size - std::min(image.arena_size, report.arena);
  std::stable_sort(report.blocks.begin(), report.blocks.end(), [](const auto& a, const auto& b) {
    return std::tie(a.buffer.first, a.offset) < std::tie(b.buffer.first, b.offset);
  });
  std::vector<Buffer> buffers;
  for (const ArenaBlock& block : report.blocks) buffers.push_back(block.buffer);
  report.lower_bound = PlacementProblem(buffers).lower_bound;
  return report;
}

std::string MemoryMap(const MemoryReport& report, int columns, int rows) {
  std::ostringstream out;
  out << "constants   " << Bytes(report.constants);
  if (report.constants_of_4_bits > 0) {
    out << ", of which " << report.constants_of_4_bits << " have 4 bits: in the file "
        << report.constants - report.constants_of_4_bits / 2;
  }
  out << "\narena       " << Bytes(report.arena + report.slack) << ", of which " << report.slack
      << " behind the last tensor"
      << "\nlower bound " << Bytes(report.lower_bound) << "\ngap         "
      << Bytes(report.arena - std::min(report.arena, report.lower_bound)) << "\n\n";
  PutMap(report, columns, rows, out);
  out << '\n';
  for (size_t i = 0; i < report.blocks.size(); ++i) {
    const ArenaBlock& block = report.blocks[i];
    out << Letter(i) << "  offset " << std::setw(10) << block.offset << "  size " << std::setw(10)
        << block.buffer.size << "  commands " << block.buffer.first << ".." << block.buffer.last
        << "  " << block.name << '\n';
  }
  return out.str();
}

}  // namespace rshift
