#include "codegen/passes/place_concat.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/aligned.h"
#include "codegen/container/strided_bytes.h"

namespace rshift {
namespace {

// Kernels that load whole registers, those of the commands that lead passes: they may read what
// another thread is writing behind a row.
bool ReadsLoosely(Opcode opcode) { return TraitsOf(opcode).leads_epilogue; }

// Where a buffer goes in another one. Its bytes are cut into rows, which come to lie `pitch` apart;
// or they are moved as they are (row 0).
struct Placement {
  int32_t from = 0, to = 0;
  uint64_t row = 0, pitch = 0;
  uint64_t origin = 0;  // of its first byte

  StridedBytes Region(uint64_t size) const {
    return row == 0 ? MakeStridedBytes(origin, 1, size, size)
                    : MakeStridedBytes(origin, size / row, row, pitch);
  }
};

// The tensor in its new place, when its rows can be told there.
std::optional<TensorRecord> Moved(const TensorRecord& tensor, const Placement& place) {
  TensorRecord moved = tensor;
  if (place.row == 0) {
    moved.offset = place.origin + tensor.offset;
    return moved;
  }
  const uint64_t column = tensor.offset % place.row;
  const bool fits = column + tensor.row_bytes() <= place.row &&
                    (tensor.rows() <= 1 || tensor.row_pitch() % place.row == 0);
  const uint64_t pitch = tensor.rows() <= 1 ? 0 : tensor.row_pitch() / place.row * place.pitch;
  if (!fits || pitch > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  moved.offset = place.origin + tensor.offset / place.row * place.pitch + column;
  moved.pitch = static_cast<uint32_t>(pitch);
  return moved;
}

class ConcatPlacer {
 public:
  ConcatPlacer(ProgramImage& image, BufferTable& table)
      : image_(image),
        table_(table),
        tensors_(table.buffers.size()),
        commands_(table.buffers.size()) {
    for (size_t t = 0; t < table.of.size(); ++t) {
      if (table.of[t] >= 0) tensors_[table.of[t]].push_back(static_cast<int32_t>(t));
    }
    for (size_t c = 0; c < image.commands.size(); ++c) {
      ForEachTensor(image.commands[c], [&](const FieldSpec&, int32_t tensor) {
        if (table.of[tensor] < 0) return;
        std::vector<int32_t>& list = commands_[table.of[tensor]];
        if (list.empty() || list.back() != static_cast<int32_t>(c))
          list.push_back(static_cast<int32_t>(c));
      });
    }
  }

  void Run() {
    for (const Command& command : image_.commands) {
      if (command.opcode == Opcode::kCopyInto) Merge(command);
    }
    size_t kept = 0;
    for (size_t c = 0; c < image_.commands.size(); ++c) {
      if (IsNothing(image_.commands[c])) continue;
      image_.commands[kept] = image_.commands[c];
      image_.command_names[kept++] = image_.command_names[c];
    }
    image_.commands.resize(kept);
    image_.command_names.resize(kept);
  }

 private:
  template <typename F>
  static void ForEachTensor(const Command& command, const F& f) {
    for (const FieldSpec& field : FindOp(command.opcode)->fields) {
      if (IsTensor(field.kind) && command.Tensor(field.field) >= 0)
        f(field, command.Tensor(field.field));
    }
  }

  const TensorRecord& Record(int32_t tensor) const { return image_.tensors[tensor]; }
  int32_t BufferOf(const Command& command, Field field) const {
    return table_.of[command.Tensor(field)];
  }

  // Copies bytes onto themselves.
  bool IsNothing(const Command& command) const {
    return command.opcode == Opcode::kCopyInto &&
           BufferOf(command, Field::kSrc) == BufferOf(command, Field::kDst) &&
           StridedBytesOf(Record(command.Tensor(Field::kSrc))) == WrittenBytes(image_, command);
  }

  void Merge(const Command& copy) {
    const std::optional<Placement> place = PlaceFor(copy);
    if (!place) return;
    std::vector<TensorRecord> moved;
    for (const int32_t tensor : tensors_[place->from]) {
      std::optional<TensorRecord> record = Moved(Record(tensor), *place);
      if (!record) return;
      moved.push_back(std::move(*record));
    }
    std::vector<int32_t> writers;  // of the other buffer
    for (const int32_t c : commands_[place->to]) {
      if (BufferOf(image_.commands[c], Field::kDst) == place->to) writers.push_back(c);
    }
    // The records change as if the buffers were merged; exchanged back when some command
    // cannot work on the merged layout.
    Exchange(*place, moved, place->to);
    const std::vector<int32_t> users = United(commands_[place->from], commands_[place->to]);
    if (!CommandsAllow(*place, writers) || !IsTraceable(users, place->to))
      return Exchange(*place, moved, place->from);
    commands_[place->to] = users;
    commands_[place->from].clear();
    tensors_[place->to] = United(tensors_[place->from], tensors_[place->to]);
    tensors_[place->from].clear();
  }

  std::optional<Placement> PlaceFor(const Command& copy) const {
    Placement place{.from = BufferOf(copy, Field::kSrc), .to = BufferOf(copy, Field::kDst)};
    if (place.from < 0 || place.from == place.to) return std::nullopt;
    const ArenaBuffer& from = table_.buffers[place.from];
    if (from.input || from.output) return std::nullopt;
    const StridedBytes source = StridedBytesOf(Record(copy.Tensor(Field::kSrc)));
    const StridedBytes target = WrittenBytes(image_, copy);
    uint64_t first = source.offset;  // the source's distance from the origin in the new place
    if (!target.dense()) {
      place.row = source.dense() ? target.run : source.pitch;
      place.pitch = target.pitch;
      first = source.offset / place.row * place.pitch + source.offset % place.row;
      if (place.row > place.pitch || from.size % place.row != 0) return std::nullopt;
    }
    if (!source.dense() && (source.runs != target.runs || source.run != target.run))
      return std::nullopt;
    if (first > target.offset) return std::nullopt;
    place.origin = target.offset - first;
    const StridedBytes region = place.Region(from.size);
    if (region.end() > static_cast<uint64_t>(table_.buffers[place.to].size)) return std::nullopt;
    return place;
  }

  void Exchange(const Placement& place, std::vector<TensorRecord>& records, int32_t buffer) {
    for (size_t i = 0; i < records.size(); ++i) {
      const int32_t tensor = tensors_[place.from][i];
      std::swap(image_.tensors[tensor], records[i]);
      table_.of[tensor] = buffer;
    }
  }

  // All tensors are in the new place. `writers`: commands that wrote there before.
  bool CommandsAllow(const Placement& place, const std::vector<int32_t>& writers) const {
    const StridedBytes region = place.Region(table_.buffers[place.from].size);
    for (const int32_t c : commands_[place.from]) {
      const Command& command = image_.commands[c];
      if (!IsNothing(command) && !TakesViews(command, place.to)) return false;
    }
    return std::none_of(writers.begin(), writers.end(), [&](int32_t c) {
      const Command& command = image_.commands[c];
      return !IsNothing(command) && Overlap(WrittenBytes(image_, command), region);
    });
  }

  // May the command work on what is now in `buffer`?
  bool TakesViews(const Command& command, int32_t buffer) const {
    const TensorRecord& dst = Record(command.Tensor(Field::kDst));
    const bool writes = BufferOf(command, Field::kDst) == buffer;
    bool ok = true;
    ForEachTensor(command, [&](const FieldSpec& field, int32_t tensor) {
      if (table_.of[tensor] != buffer) return;
      const TensorRecord& record = Record(tensor);
      ok = ok && (field.view || record.whole());
      const bool reads = field.kind != FieldKind::kTensorOut;
      const bool loosely =
          ReadsLoosely(command.opcode) && record.row_bytes() % kBufferAlignment != 0;
      ok = ok && !(reads && writes && loosely);
    });
    // The addend of a product's post-operation, and its f32 or f16 result, are found by the
    // distance from the start of dst.
    const bool product = TraitsOf(command.opcode).macs != MacForm::kNone;
    if (product && (command.Tensor(Field::kSrc2) >= 0 || SizeOf(dst.dtype) != 1))
      ok = ok && dst.pitch == 0;
    if (command.opcode == Opcode::kCopyInto) ok = ok && CopiesRows(command);
    return ok;
  }

  // What the verifier asks of a CopyInto of tensors with a pitch.
  bool CopiesRows(const Command& command) const {
    const TensorRecord& src = Record(command.Tensor(Field::kSrc));
    const auto axis = command.Get(Field::kAxis);
    const bool dense = src.pitch == 0 && Record(command.Tensor(Field::kDst)).pitch == 0;
    return dense || axis + 1 == static_cast<int64_t>(src.shape.size()) ||
           NumElements(Shape(src.shape.begin(), src.shape.begin() + axis)) == 1;
  }

  // Will the verifier find that all that is read was written? It does not follow rows apart that
  // are written one by one.
  bool IsTraceable(const std::vector<int32_t>& users, int32_t buffer) const {
    ByteSet written;
    bool ok = true;
    for (const int32_t c : users) {
      const Command& command = image_.commands[c];
      if (IsNothing(command)) continue;
      ForEachTensor(command, [&](const FieldSpec& field, int32_t tensor) {
        const bool reads = field.kind != FieldKind::kTensorOut && table_.of[tensor] == buffer;
        ok = ok && (!reads || written.Contains(StridedBytesOf(Record(tensor))));
      });
      if (BufferOf(command, Field::kDst) == buffer) written.Add(WrittenBytes(image_, command));
    }
    for (const Binding& output : image_.outputs) {
      const bool here = table_.of[output.tensor] == buffer;
      ok = ok && (!here || written.Contains(StridedBytesOf(Record(output.tensor))));
    }
    return ok;
  }

  static std::vector<int32_t> United(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
    std::vector<int32_t> both;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
  }

  ProgramImage& image_;
  BufferTable& table_;
  std::vector<std::vector<int32_t>> tensors_;   // per buffer
  std::vector<std::vector<int32_t>> commands_;  // per buffer: those that use it, ascending
};

}  // namespace

void PlaceConcats(ProgramImage& image, BufferTable& table) { ConcatPlacer(image, table).Run(); }

}  // namespace rshift
