// Commands as structs: what their field lists say is what Read and Write do.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "isa/function_names.h"
#include "isa/ops/visit.h"
#include "tests/isa/random_fields.h"

namespace rshift {
namespace {

template <typename Command>
class OpsTest : public ::testing::Test {};

template <typename... Commands>
::testing::Types<Commands...> TypesOf(isa::CommandList<Commands...>);
using AllTypes = decltype(TypesOf(isa::AllCommands()));

struct StructName {
  template <typename C>
  static std::string GetName(int) {
    return C::kName;
  }
};
TYPED_TEST_SUITE(OpsTest, AllTypes, StructName);

TYPED_TEST(OpsTest, DefaultStructIsTheNewCommand) {
  EXPECT_EQ(isa::Write(TypeParam{}), NewCommand(TypeParam::kOpcode));
}

TYPED_TEST(OpsTest, EveryFieldSurvivesReadAndWrite) {
  constexpr int kSeed = 20261122;
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 100; ++round) {
    Command command;
    command.opcode = TypeParam::kOpcode;
    for (const FieldSpec& spec : FindOp(command.opcode)->fields)
      command.Set(spec.field, rshift::testing::RandomValue(spec, random));
    EXPECT_EQ(isa::Write(isa::Read<TypeParam>(command)), command) << "seed " << kSeed;
  }
}

// What a visitor sees of a command: the struct's opcode and the command that the struct writes. A
// function of its own, because a visitor inside of the typed test would be compiled for every pair
// of structs.
std::vector<std::pair<Opcode, Command>> Visits(const Command& command) {
  std::vector<std::pair<Opcode, Command>> visits;
  isa::Visit(command,
             [&]<typename C>(const C& c) { visits.emplace_back(C::kOpcode, isa::Write(c)); });
  return visits;
}

TYPED_TEST(OpsTest, IsVisitedAsItsOwnStruct) {
  const Command command = NewCommand(TypeParam::kOpcode);
  const auto visits = Visits(command);
  ASSERT_EQ(visits.size(), 1u);
  EXPECT_EQ(visits[0].first, TypeParam::kOpcode);
  EXPECT_EQ(visits[0].second, command);
}

TEST(VisitTest, DoesNothingForAnOpcodeThatDoesNotExist) {
  isa::Visit(Command{}, [](const auto& c) { ADD_FAILURE() << c.kName; });
}

TYPED_TEST(OpsTest, RefusesToReadAnotherOpcode) {
  Command command;
  command.opcode = Opcode::kEnd;
  EXPECT_THROW(isa::Read<TypeParam>(command), Error);
}

TEST(FunctionNamesTest, ParsersTakeTheNamesTheyPrint) {
  for (const auto& entry : kFunctionNames<CoordinateMode>)
    EXPECT_EQ(ParseFunction<CoordinateMode>(Name(entry.value)), entry.value);
  EXPECT_EQ(ParseFunction<PadMode>("wrap"), std::nullopt);
  EXPECT_EQ(FunctionChoices<PadMode>(), "constant, reflect or edge");
  EXPECT_STREQ(Name(UnaryOp::kSquare), "Square");
}

}  // namespace
}  // namespace rshift
