// Random programs through the runtime: compiled with reuse and views they give the same bytes as
// compiled for observation, where every value has memory of its own.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "codegen/container/container.h"
#include "codegen/memory/report.h"
#include "isa/attributes.h"
#include "runtime/runtime.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

constexpr QuantParams kQuant{0.5f, 3};
using Random = std::mt19937_64;

int64_t Below(Random& random, int64_t limit) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
}

QTable RandomTable(Random& random) {
  QTable table;
  for (uint8_t& entry : table.entries) entry = static_cast<uint8_t>(random());
  return table;
}

isa::AddFloat SaturatingAdd() { return {.clamp = {-128, 127}}; }

// Grows a graph of s8 tensors of rank 2 by one random node that reads what is there.
class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 2; ++i) {
      const Shape shape = {1 + Below(random_, 6), 1 + Below(random_, 6)};
      Keep(test_.Input(NewName(), QuantizedPlain(shape, kQuant)));
    }
    Keep(test_.S8(NewName(), {2, 3}, {1, -2, 3, -4, 5, -6}));
    test_.graph.value(values_.back()).quant = kQuant;
    const int64_t nodes = 1 + Below(random_, 25);
    for (int64_t i = 0; i < nodes; ++i) Grow();
    const int64_t outputs = 1 + Below(random_, 4);
    for (int64_t i = 0; i < outputs; ++i) {
      const ValueId value = i == 0 ? values_.back() : Any();
      test_.Output(value, "out" + std::to_string(i));
    }
  }

  const TestGraph& graph() const { return test_; }

 private:
  std::string NewName() { return "v" + std::to_string(next_++); }
  ValueId Any() { return values_[Below(random_, static_cast<int64_t>(values_.size()))]; }
  Shape ShapeOf(ValueId value) const { return test_.graph.value(value).shape; }
  void Keep(ValueId value) { values_.push_back(value); }
  void Add(const Shape& shape, Op op, std::vector<ValueId> inputs) {
    Keep(test_.Node(NewName(), QuantizedPlain(shape, kQuant), std::move(op), std::move(inputs)));
  }

  void Grow() {
    const ValueId x = Any();
    const Shape in = ShapeOf(x);
    switch (Below(random_, 9)) {
      case 0:
        return Add(in, RandomTable(random_), {x});
      case 1:
        return Add({in[1], in[0]}, Reshape{}, {x});
      case 2:
        return Add({in[1], in[0]}, Transpose{{1, 0}}, {x});
      case 3:
        return Add({2 * in[0], in[1]}, Concat{0}, {x, x});
      case 4:
        return Add(in, SaturatingAdd(), {x, x});
      case 5:
        return Add({in[0], 1 + in[1]}, Pad{PadMode::kConstant, {0, 1}, {0, 0}, 7.0f}, {x});
      case 6:
        return Add(in, Slice{{in[0] - 1, 0}, {-1, 1}}, {x});
      case 7:
        return Add(in, Identity{}, {x});
      default:
        return AddConcatOfTwo(x);
    }
  }

  // Along the columns, with any other value of as many rows.
  void AddConcatOfTwo(ValueId x) {
    const ValueId other = Any();
    const Shape a = ShapeOf(x), b = ShapeOf(other);
    if (a[0] != b[0] || a[1] + b[1] > 200) return Add(a, RandomTable(random_), {x});
    Add({a[0], a[1] + b[1]}, Concat{1}, {x, other});
  }

  Random random_;
  TestGraph test_;
  std::vector<ValueId> values_;
  int next_ = 0;
};

using Outputs = std::vector<std::vector<std::byte>>;

// Inputs filled, a run, the outputs.
Outputs RunOnce(const ProgramImage& image, Session& session, uint64_t seed) {
  Random random(seed);
  for (size_t i = 0; i < image.inputs.size(); ++i) {
    for (std::byte& byte : session.Input(static_cast<int>(i)))
      byte = static_cast<std::byte>(random());
  }
  session.Run();
  Outputs outputs;
  for (size_t i = 0; i < image.outputs.size(); ++i) {
    const std::span<const std::byte> output = session.Output(static_cast<int>(i));
    outputs.emplace_back(output.begin(), output.end());
  }
  return outputs;
}

// Twice, with other inputs between: a run leaves nothing behind that the next one needs.
Outputs RunProgram(const ProgramImage& image, uint64_t seed) {
  const Program program = Program::FromBytes(WriteContainer(image));
  Session session(program, {.threads = 1, .isa = Isa::kScalar});
  Outputs outputs = RunOnce(image, session, seed);
  RunOnce(image, session, seed + 1);
  EXPECT_TRUE(RunOnce(image, session, seed) == outputs);
  return outputs;
}

TEST(Reuse, RandomProgramsGiveTheSameBytesAsObservedOnes) {
  int64_t planned = 0, observed = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph graph(seed);
    const ProgramImage reused = CompileChecked(graph.graph());
    const ProgramImage separate = CompileChecked(graph.graph(), true);
    ASSERT_TRUE(RunProgram(reused, seed) == RunProgram(separate, seed));
    planned += static_cast<int64_t>(reused.arena_size);
    observed += static_cast<int64_t>(separate.arena_size);
    ASSERT_LE(AnalyzeMemory(reused).lower_bound, reused.arena_size);
  }
  EXPECT_LT(planned, observed * 9 / 10);  // otherwise nothing was reused, and nothing tested
}

// What RunObserved() sees after the last command that writes a value is the value.
TEST(Reuse, ObservedValuesAreCompleteAfterTheirLastCommand) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph graph(seed);
    const ProgramImage image = CompileChecked(graph.graph(), true);
    std::vector<int> last(image.tensors.size(), -1);
    for (size_t i = 0; i < image.commands.size(); ++i) {
      last[image.commands[i].Tensor(Field::kDst)] = static_cast<int>(i);
    }
    for (const Node& node : graph.graph().graph.nodes()) {
      const std::string& name = graph.graph().graph.value(node.outputs[0]).name;
      EXPECT_GE(last[FindTensor(image, name)], 0) << name;
    }
    const Program program = Program::FromBytes(WriteContainer(image));
    Session session(program, {.threads = 1, .isa = Isa::kScalar});
    std::vector<std::vector<std::byte>> seen(image.tensors.size());
    session.RunObserved([&](int command) {
      const int32_t dst = image.commands[command].Tensor(Field::kDst);
      if (last[dst] != command) return;
      const std::span<const std::byte> bytes = session.Tensor(dst);
      seen[dst].assign(bytes.begin(), bytes.end());
    });
    for (size_t tensor = 0; tensor < seen.size(); ++tensor) {
      if (last[tensor] < 0) continue;
      const std::span<const std::byte> bytes = session.Tensor(static_cast<int>(tensor));
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), seen[tensor].begin(), seen[tensor].end()));
    }
  }
}

}  // namespace
}  // namespace rshift
