// ScatterElements and ScatterND. At constant places each element of the result reads the data or an
// update, so they are a Gather. Where several updates meet, each has its own round.
#include <algorithm>
#include <limits>
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

// The same at places that the data give, s64 rows of data: every row asks each update whether it is
// meant. A place outside of the data has no row.
Expr ScatteredByData(OnnxNode& node, const Expr& data, const Expr& updates, const Expr& places) {
  constexpr int64_t kMostQuestions = int64_t{1} << 24;
  const Reduction reduction = ReadReduction(node);
  const int64_t rows = data.dim(0), count = updates.dim(0), width = data.dim(1);
  const int64_t questions = reduction == Reduction::kNone ? 1 : std::max<int64_t>(width, 1);
  node.CheckSupported(
      count == 0 || (rows < kMostQuestions && rows <= kMostQuestions / count / questions),
      "scatters ", count, " rows over ", rows,
      " at computed indices, which is more than 2^24 comparisons; export it with fewer");
  if (count == 0 || rows == 0) return data;
  node.CheckSupported(reduction == Reduction::kNone || data.type() == DType::kF32, "reduces ",
                      Name(data.type()), " at computed indices, expected f32");
  const Expr meant = Equal(Reshaped(places, {1, count}), Iota(node, rows, 2, 0));
  if (reduction == Reduction::kNone) {
    // The last one that is meant: the greatest number among those from 1 on.
    const Expr order =
        CastTo(meant, DType::kF32) * CastTo(Iota(node, count, 2, 1) + 1.0, DType::kF32);
    const Expr last = Reshaped(CastTo(Reduced(ReduceOp::kMax, order, {1}), DType::kS64), {rows});
    const Expr fresh = Gathered(updates, Max(last - 1.0, Number(node, 0.0, DType::kS64)), 0);
    const Expr any = Less(Number(node, 0.0, DType::kS64), Reshaped(last, {rows, 1}));
    return Select(any, fresh, data);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const bool min = reduction == Reduction::kMin, max = reduction == Reduction::kMax;
  const bool mul = reduction == Reduction::kMul;
  const Expr neutral = Number(node, min ? infinity : max ? -infinity : mul ? 1.0 : 0.0);
  const Expr each =
      Select(Reshaped(meant, {rows, count, 1}), Reshaped(updates, {1, count, width}), neutral);
  const ReduceOp op = min   ? ReduceOp::kMin
                      : max ? ReduceOp::kMax
                      : mul ? ReduceOp::kProd
                            : ReduceOp::kSum;
  return Combined(reduction, data, Reduced(op, each, {1}, false));
}

// Where an index lies in its dimension: bool, of the indices' shape.
Expr Fits(const Expr& indices, int64_t size) {
  OnnxNode& node = indices.node();
  const Expr place = Wrapped(indices, size);
  return And(Not(Less(place, Number(node, 0.0, DType::kS64))),
             Less(place, Number(node, static_cast<double>(size), DType::kS64)));
}

Expr OnlyWhere(const Expr& fits, const Expr& places) {
  return Select(fits, places, Number(places.node(), -1.0, DType::kS64));
}

void ImportScatterElements(OnnxNode& node) {
  const Expr data = In(node, 0), indices = In(node, 1), updates = In(node, 2);
  const int64_t axis = node.Axis(node.Int("axis", 0), data.rank());
  node.Check(indices.rank() == data.rank() && indices.shape() == updates.shape() &&
                 data.type() == updates.type(),
             "data ", ToString(data.shape()), ", indices ", ToString(indices.shape()),
             " and updates ", ToString(updates.shape()), " do not fit");
  const Expr places = PlacesAlong(indices, data.shape(), axis);
  if (places.is_constant()) {
    const Expr result = Scattered(node, Flat(data), Flat(updates), IntElements(places.value()));
    return GiveReshaped(result, data.shape());
  }
  const auto column = [](const Expr& x) { return Reshaped(x, {NumElements(x.shape()), 1}); };
  const Expr known = OnlyWhere(Fits(indices, data.shape()[axis]), places);
  GiveReshaped(ScatteredByData(node, column(data), column(updates), known), data.shape());
}

void ImportScatterNd(OnnxNode& node) {
  const Expr data = In(node, 0), indices = In(node, 1), updates = In(node, 2);
  node.Check(indices.rank() >= 1 && data.rank() >= 1 && data.type() == updates.type(), "data ",
             ToString(data.shape()), " and indices ", ToString(indices.shape()), " do not fit");
  const Shape shape = data.shape(), list = indices.shape();
  const Expr first = PlacesOfSlices(indices, shape, 0);
  const Shape slice(shape.begin() + list.back(), shape.end());
  const int64_t size = NumElements(slice);
  Shape expected(list.begin(), list.end() - 1);
  expected.insert(expected.end(), slice.begin(), slice.end());
  node.Check(updates.shape() == expected, "updates have the shape ", ToString(updates.shape()),
             ", expected ", ToString(expected));
  if (size == 0 || NumElements(shape) == 0 || NumElements(expected) == 0)
    return GiveReshaped(data, shape);
  const Expr rows = Reshaped(data, {NumElements(shape) / size, size});
  const Expr fresh = Reshaped(updates, {NumElements(expected) / size, size});
  if (!first.is_constant()) {
    const Shape tuples(list.begin(), list.end() - 1);
    Expr places = first / static_cast<double>(size);
    for (int64_t d = 0; d < list.back(); ++d) {
      places = OnlyWhere(Reshaped(Fits(At(indices, -1, d), shape[d]), tuples), places);
    }
    return GiveReshaped(ScatteredByData(node, rows, fresh, places), shape);
  }
  auto places = IntElements(first.value());
  for (int64_t& place : places) place /= size;
  GiveReshaped(Scattered(node, rows, fresh, places), shape);
}

constexpr ImportEntry kScatterImports[] = {
    {"Scatter", ImportScatterElements},
    {"ScatterElements", ImportScatterElements},
    {"ScatterND", ImportScatterNd},
};

}  // namespace

std::span<const ImportEntry> ScatterImports() { return kScatterImports; }

}  // namespace rshift
