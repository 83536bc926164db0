// Einsum with static shapes: diagonals by Gather, sums over one operand by ReduceSum, two operands
// by MatMul (with something to sum over) or Mul.
#include <algorithm>
#include <map>
#include <optional>

#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// A label of each dimension; those that an ellipsis stands for are '0', '1' ... from the right.
using Labels = std::string;

struct Term {
  Expr x;
  Labels labels;
};

struct Equation {
  std::vector<Labels> inputs;  // an ellipsis is one '.'
  std::optional<Labels> output;
};

Equation ReadEquation(const OnnxNode& node) {
  std::string text;
  for (char c : node.String("equation", "")) {
    if (c != ' ') text += c;
  }
  for (size_t at; (at = text.find("...")) != std::string::npos;) text.replace(at, 3, ".");
  Equation equation;
  const size_t arrow = text.find("->");
  if (arrow != std::string::npos) equation.output = text.substr(arrow + 2);
  equation.inputs.emplace_back();
  for (char c : text.substr(0, arrow)) {
    if (c == ',') {
      equation.inputs.emplace_back();
    } else {
      equation.inputs.back() += c;
    }
  }
  for (const Labels& labels : equation.inputs) {
    const bool plain = std::all_of(labels.begin(), labels.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
    });
    node.Check(plain && std::count(labels.begin(), labels.end(), '.') <= 1,
               "attribute 'equation' is ", Quoted(node.String("equation", "")),
               ", expected letters with at most one ellipsis for each input");
  }
  return equation;
}

// '9' for the dimension before the last, '8' ... : as many as the ellipsis stands for.
Labels EllipsisLabels(size_t count) {
  Labels labels;
  for (size_t i = 0; i < count; ++i) labels += static_cast<char>('9' - (count - 1 - i));
  return labels;
}

Labels Spelled(const OnnxNode& node, Labels labels, size_t rank) {
  const size_t at = labels.find('.');
  const bool fits = at == std::string::npos ? labels.size() == rank : labels.size() - 1 <= rank;
  node.Check(fits && rank <= 10, "an input has ", rank, " dimensions, which does not fit ",
             Quoted(labels));
  if (at != std::string::npos) {
    labels.replace(at, 1, EllipsisLabels(rank - (labels.size() - 1)));
  }
  return labels;
}

// A label that is there twice: its diagonal.
Term WithoutRepeats(Term term) {
  OnnxNode& node = term.x.node();
  for (size_t i = 0; i < term.labels.size(); ++i) {
    for (size_t j = i + 1; j < term.labels.size();) {
      if (term.labels[i] != term.labels[j]) {
        ++j;
        continue;
      }
      const int64_t size = term.x.dim(i);
      node.Check(term.x.dim(j) == size, "label ", Quoted(term.labels.substr(i, 1)), " is ", size,
                 " and ", term.x.dim(j));
      Shape shape = term.x.shape();
      shape[j] = 1;
      const Expr diagonal =
          Expanded(Iota(node, size, shape.size(), static_cast<int64_t>(i)), shape);
      const Expr picked =
          Gathered(Flat(term.x), PlacesAlong(diagonal, term.x.shape(), static_cast<int64_t>(j)), 0);
      shape.erase(shape.begin() + static_cast<int64_t>(j));
      term.x = Reshaped(picked, shape);
      term.labels.erase(j, 1);
    }
  }
  return term;
}

Term InOrder(const Term& term, const Labels& labels) {
  std::vector<int64_t> perm;
  for (char label : labels) perm.push_back(static_cast<int64_t>(term.labels.find(label)));
  return {Transposed(term.x, perm), labels};
}

// Sums over what is not in `kept`.
Term Summed(const Term& term, const Labels& kept) {
  std::vector<int64_t> axes;
  Labels rest;
  for (size_t d = 0; d < term.labels.size(); ++d) {
    if (kept.find(term.labels[d]) == std::string::npos) {
      axes.push_back(static_cast<int64_t>(d));
    } else {
      rest += term.labels[d];
    }
  }
  if (axes.empty()) return term;
  return {Reduced(ReduceOp::kSum, term.x, axes, false), rest};
}

Labels Common(const Labels& a, const Labels& b, bool in_b) {
  Labels result;
  for (char label : a) {
    if ((b.find(label) != std::string::npos) == in_b) result += label;
  }
  return result;
}

Shape SizesOf(const Term& term, const Labels& labels) {
  Shape shape;
  for (char label : labels) shape.push_back(term.x.dim(term.labels.find(label)));
  return shape;
}

// As [all of `labels`], with 1 where the term does not have one.
Expr Aligned(const Term& term, const Labels& labels) {
  const Term ordered = InOrder(term, Common(labels, term.labels, true));
  Shape shape;
  for (char label : labels) {
    const size_t at = ordered.labels.find(label);
    shape.push_back(at == std::string::npos ? 1 : ordered.x.dim(at));
  }
  return Reshaped(ordered.x, shape);
}

// a * b, summed over what is not kept. Neither has labels that only it has and nobody keeps.
Term Contracted(const Term& a, const Term& b, const Labels& kept) {
  const Labels shared = Common(a.labels, b.labels, true);
  const Labels batch = Common(shared, kept, true), summed = Common(shared, kept, false);
  const Labels rows = Common(a.labels, b.labels, false),
               columns = Common(b.labels, a.labels, false);
  const Labels result = batch + rows + columns;
  if (summed.empty() || a.x.type() != DType::kF32) {
    const Labels all = result + summed;
    return Summed({Aligned(a, all) * Aligned(b, all), all}, result);
  }
  const auto count = [](const Shape& shape) { return NumElements(shape); };
  const Shape batches = SizesOf(a, batch), m = SizesOf(a, rows), n = SizesOf(b, columns);
  const int64_t k = count(SizesOf(a, summed));
  const Expr left = Reshaped(InOrder(a, batch + rows + summed).x, {count(batches), count(m), k});
  const Expr right =
      Reshaped(InOrder(b, batch + summed + columns).x, {count(batches), k, count(n)});
  Shape shape = batches;
  shape.insert(shape.end(), m.begin(), m.end());
  shape.insert(shape.end(), n.begin(), n.end());
  return {Reshaped(Product(left, right), shape), result};
}

// Sizes by label; a dimension of 1 stands for any.
std::map<char, int64_t> LabelSizes(const OnnxNode& node, const std::vector<Term>& terms) {
  std::map<char, int64_t> sizes;
  for (const Term& term : terms) {
    for (size_t d = 0; d < term.labels.size(); ++d) {
      int64_t& size = sizes.try_emplace(term.labels[d], 1).first->second;
      node.Check(size == 1 || term.x.dim(d) == 1 || size == term.x.dim(d), "label ",
                 Quoted(term.labels.substr(d, 1)), " is ", size, " and ", term.x.dim(d));
      if (size == 1) size = term.x.dim(d);
    }
  }
  return sizes;
}

// Without dimensions of 1 whose label is longer elsewhere.
Term WithoutBroadcast(const Term& term, const std::map<char, int64_t>& sizes) {
  Labels labels;
  Shape shape;
  for (size_t d = 0; d < term.labels.size(); ++d) {
    if (term.x.dim(d) == 1 && sizes.at(term.labels[d]) != 1) continue;
    labels += term.labels[d];
    shape.push_back(term.x.dim(d));
  }
  return {Reshaped(term.x, shape), labels};
}

// Without "->": the ellipsis, then labels that are there once, in alphabetical order.
Labels ImplicitOutput(const Equation& equation) {
  std::map<char, int> counts;
  for (const Labels& labels : equation.inputs) {
    for (char label : labels) ++counts[label];
  }
  Labels output(counts.count('.') ? "." : "");
  for (const auto& [label, count] : counts) {
    if (label != '.' && count == 1) output += label;
  }
  return output;
}

void ImportEinsum(OnnxNode& node) {
  const Equation equation = ReadEquation(node);
  node.Check(static_cast<int>(equation.inputs.size()) == node.InputCount(), "the equation has ",
             equation.inputs.size(), " inputs, expected ", node.InputCount());
  std::vector<Term> terms;
  Labels ellipsis;
  for (int i = 0; i < node.InputCount(); ++i) {
    const Expr x = In(node, i);
    const Labels labels = Spelled(node, equation.inputs[i], x.rank());
    if (equation.inputs[i].find('.') != std::string::npos) {
      const Labels own = EllipsisLabels(x.rank() - (equation.inputs[i].size() - 1));
      if (own.size() > ellipsis.size()) ellipsis = own;
    }
    terms.push_back(WithoutRepeats({x, labels}));
  }
  Labels output = equation.output ? *equation.output : ImplicitOutput(equation);
  const size_t dots = output.find('.');
  if (dots != std::string::npos) output.replace(dots, 1, ellipsis);
  const auto sizes = LabelSizes(node, terms);
  for (char label : output) {
    node.Check(sizes.count(label) && std::count(output.begin(), output.end(), label) == 1,
               "the output's label ", Quoted(std::string(1, label)),
               " is in no input, or there twice");
  }
  for (Term& term : terms) term = WithoutBroadcast(term, sizes);
  // What operands behind the first i still need.
  std::vector<Labels> needed(terms.size() + 1, output);
  for (size_t i = terms.size(); i-- > 0;) needed[i] = needed[i + 1] + terms[i].labels;
  Term result = Summed(terms[0], needed[1]);
  for (size_t i = 1; i < terms.size(); ++i) {
    result = Contracted(result, Summed(terms[i], needed[i + 1] + result.labels), needed[i + 1]);
  }
  Give(InOrder(result, output).x);
}

constexpr ImportEntry kEinsumImports[] = {{"Einsum", ImportEinsum}};

}  // namespace

std::span<const ImportEntry> EinsumImports() { return kEinsumImports; }

}  // namespace rshift
