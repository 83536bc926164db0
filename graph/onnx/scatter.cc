// ScatterElements and ScatterND at constant places: each element of the result reads the data or an
// update, so they are a Gather. Where several updates meet, each has its own round.
#include <algorithm>
#include <map>

#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr size_t kMostRounds = 256;

enum class Reduction { kNone, kAdd, kMul, kMin, kMax };

Reduction ReadReduction(const OnnxNode& node) {
  static const std::map<std::string, Reduction> kNames = {{"none", Reduction::kNone},
                                                          {"add", Reduction::kAdd},
                                                          {"mul", Reduction::kMul},
                                                          {"min", Reduction::kMin},
                                                          {"max", Reduction::kMax}};
  const auto found = kNames.find(node.String("reduction", "none"));
  node.Check(found != kNames.end(), "attribute 'reduction' is ",
             Quoted(node.String("reduction", "none")), ", expected none, add, mul, min or max");
  return found->second;
}

Expr Combined(Reduction reduction, const Expr& a, const Expr& b) {
  switch (reduction) {
    case Reduction::kAdd:
      return a + b;
    case Reduction::kMul:
      return a * b;
    case Reduction::kMin:
      return Min(a, b);
    case Reduction::kMax:
      return Max(a, b);
    case Reduction::kNone:
      break;
  }
  return b;
}

// For each round: which update each element takes; -1: none.
std::vector<std::vector<int64_t>> Rounds(const OnnxNode& node, const std::vector<int64_t>& places,
                                         int64_t size, bool last_wins) {
  std::vector<std::vector<int64_t>> rounds;
  std::vector<size_t> taken(size, 0);
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t round = last_wins ? 0 : taken[places[i]]++;
    node.CheckSupported(round < kMostRounds, "reduces more than ", kMostRounds,
                        " updates at one place; export it with fewer");
    if (round == rounds.size()) rounds.emplace_back(size, -1);
    rounds[round][places[i]] = static_cast<int64_t>(i);
  }
  return rounds;
}

// data and updates in rows; places: of each update's row.
Expr Scattered(OnnxNode& node, const Expr& data, const Expr& updates,
               const std::vector<int64_t>& places) {
  const Reduction reduction = ReadReduction(node);
  const int64_t size = data.dim(0);
  const auto rounds = Rounds(node, places, size, reduction == Reduction::kNone);
  Expr result = data;
  for (const std::vector<int64_t>& round : rounds) {
    std::vector<int64_t> sources(size);
    std::vector<bool> moved(size);
    for (int64_t i = 0; i < size; ++i) {
      moved[i] = round[i] >= 0;
      sources[i] = moved[i] ? size + round[i] : i;
    }
    const Expr pool = Joined({result, updates}, 0);
    if (reduction == Reduction::kNone) {
      result = Gathered(pool, Ints(node, {size}, sources), 0);
      continue;
    }
    Shape column(data.rank(), 1);
    column[0] = size;
    const Expr fresh = Gathered(pool, Ints(node, {size}, sources), 0);
    result = Select(Bools(node, column, moved), Combined(reduction, result, fresh), result);
  }
  return result;
}

std::vector<int64_t> KnownPlaces(OnnxNode& node, const Expr& places) {
  node.CheckSupported(places.is_constant(),
                      "indices are computed from the model's input, expected a constant");
  return IntElements(places.value());
}

void ImportScatterElements(OnnxNode& node) {
  const Expr data = In(node, 0), indices = In(node, 1), updates = In(node, 2);
  const int64_t axis = node.Axis(node.Int("axis", 0), data.rank());
  node.Check(indices.rank() == data.rank() && indices.shape() == updates.shape() &&
                 data.type() == updates.type(),
             "data ", ToString(data.shape()), ", indices ", ToString(indices.shape()),
             " and updates ", ToString(updates.shape()), " do not fit");
  const auto places = KnownPlaces(node, PlacesAlong(indices, data.shape(), axis));
  GiveReshaped(Scattered(node, Flat(data), Flat(updates), places), data.shape());
}

void ImportScatterNd(OnnxNode& node) {
  const Expr data = In(node, 0), indices = In(node, 1), updates = In(node, 2);
  node.Check(indices.rank() >= 1 && data.rank() >= 1 && data.type() == updates.type(), "data ",
             ToString(data.shape()), " and indices ", ToString(indices.shape()), " do not fit");
  const Shape shape = data.shape(), list = indices.shape();
  const Expr first = PlacesOfSlices(indices, shape, 0);
  const Shape slice(shape.begin() + list.back(), shape.end());
  const int64_t size = std::max<int64_t>(NumElements(slice), 1);
  Shape expected(list.begin(), list.end() - 1);
  expected.insert(expected.end(), slice.begin(), slice.end());
  node.Check(updates.shape() == expected, "updates have the shape ", ToString(updates.shape()),
             ", expected ", ToString(expected));
  auto places = KnownPlaces(node, first);
  for (int64_t& place : places) place /= size;
  const Expr rows = Reshaped(data, {NumElements(shape) / size, size});
  const Expr fresh = Reshaped(updates, {NumElements(expected) / size, size});
  GiveReshaped(Scattered(node, rows, fresh, places), shape);
}

constexpr ImportEntry kImports[] = {
    {"Scatter", ImportScatterElements},
    {"ScatterElements", ImportScatterElements},
    {"ScatterND", ImportScatterNd},
};

}  // namespace

std::span<const ImportEntry> ScatterImports() { return kImports; }

}  // namespace rshift
