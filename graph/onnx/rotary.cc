// RotaryEmbedding: pairs of elements turned by an angle that depends on the row's position.
#include "graph/onnx/attention.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

struct Rotary {
  int64_t heads = 0;  // 0: as the input has them
  int64_t size = 0;   // elements of a head that are turned; 0: all
  bool interleaved = false;
};

// x: [batch, heads, rows, size]; cos, sin: broadcast to [batch, 1, rows, size / 2].
Expr Turned(const Expr& x, const Expr& cos, const Expr& sin, const Rotary& rotary) {
  const int64_t all = x.dim(3), size = rotary.size > 0 ? rotary.size : all, half = size / 2;
  x.node().Check(size % 2 == 0 && size <= all, "turns ", size, " of ", all,
                 " elements of a head, expected an even number of them");
  const Expr moving = Part(x, 3, 0, size);
  const Expr a = rotary.interleaved ? Part(moving, 3, 0, size, 2) : Part(moving, 3, 0, half);
  const Expr b = rotary.interleaved ? Part(moving, 3, 1, size, 2) : Part(moving, 3, half, size);
  const Expr real = cos * a - sin * b, imaginary = sin * a + cos * b;
  const Expr turned =
      rotary.interleaved
          ? Reshaped(Joined({Unsqueezed(real, -1), Unsqueezed(imaginary, -1)}, -1), moving.shape())
          : Joined({real, imaginary}, 3);
  return size == all ? turned : Joined({turned, Part(x, 3, size, all)}, 3);
}

void GiveTurned(OnnxNode& node, const Expr& cos, const Expr& sin, const Rotary& rotary) {
  const Expr x = FloatIn(node, 0);
  if (x.rank() == 4) return Give(Turned(x, cos, sin, rotary));
  Give(MergeHeads(Turned(SplitHeads(x, rotary.heads), cos, sin, rotary)));
}

// Rows of the table [positions, size / 2] as [batch or 1, 1, rows, size / 2].
Expr Rows(const Expr& table, const Expr& positions) {
  return Unsqueezed(Gathered(table, positions, 0), 1);
}

void CheckTable(const OnnxNode& node, const Expr& table, size_t rank) {
  node.Check(table.rank() == rank, "the table ", Quoted(table.value().name), " has the shape ",
             ToString(table.shape()), ", expected ", rank, " dimensions");
}

// Standard operator: X, cos, sin, positions.
void ImportRotary(OnnxNode& node) {
  const Rotary rotary{node.Int("num_heads", 0), node.Int("rotary_embedding_dim", 0),
                      node.Int("interleaved", 0) != 0};
  const Expr cos = FloatIn(node, 1), sin = FloatIn(node, 2);
  const bool by_position = node.HasInput(3);
  for (const Expr& table : {cos, sin}) CheckTable(node, table, by_position ? 2 : 3);
  if (!by_position) return GiveTurned(node, Unsqueezed(cos, 1), Unsqueezed(sin, 1), rotary);
  const Expr positions = In(node, 3);
  GiveTurned(node, Rows(cos, positions), Rows(sin, positions), rotary);
}

// com.microsoft: X, positions ([1]: of the first row, or [batch, rows]), cos, sin.
void ImportMicrosoftRotary(OnnxNode& node) {
  Rotary rotary{node.Int("num_heads", 0), node.Int("rotary_embedding_dim", 0),
                node.Int("interleaved", 0) != 0};
  const Expr x = FloatIn(node, 0), cos = FloatIn(node, 2), sin = FloatIn(node, 3);
  for (const Expr& table : {cos, sin}) CheckTable(node, table, 2);
  node.CheckSupported(node.Int("is_packed_batching", 0) == 0,
                      "attribute 'is_packed_batching' = 1 is not supported; export unpacked");
  const int64_t size = rotary.size > 0 ? rotary.size : 2 * cos.dim(1);
  node.Check(size >= 1 && x.rank() >= 3, "input ", ToString(x.shape()), " does not fit the table ",
             ToString(cos.shape()));
  rotary.size = size;
  if (x.rank() == 3 && rotary.heads == 0) rotary.heads = x.dim(2) / size;
  const int64_t rows = x.rank() == 4 ? x.dim(2) : x.dim(1);
  Expr positions = CastTo(In(node, 1), DType::kS64);
  if (NumElements(positions.shape()) == 1) {
    positions = Reshaped(positions, {1, 1}) + Iota(node, rows, 2, 1);
  }
  GiveTurned(node, Rows(cos, positions), Rows(sin, positions), rotary);
}

constexpr ImportEntry kRotaryImports[] = {
    {"RotaryEmbedding", ImportRotary},
    {"com.microsoft:RotaryEmbedding", ImportMicrosoftRotary},
};

}  // namespace

std::span<const ImportEntry> RotaryImports() { return kRotaryImports; }

}  // namespace rshift
