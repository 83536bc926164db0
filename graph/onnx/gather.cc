// GatherElements and GatherND: one Gather of all elements in a row.
#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

void ImportGatherElements(OnnxNode& node) {
  const Expr data = In(node, 0), indices = In(node, 1);
  const int64_t axis = node.Axis(node.Int("axis", 0), data.rank());
  node.Check(indices.rank() == data.rank(), "indices have the shape ", ToString(indices.shape()),
             ", expected ", data.rank(), " dimensions as the data ", ToString(data.shape()));
  Give(Gathered(Flat(data), PlacesAlong(indices, data.shape(), axis), 0));
}

void ImportGatherNd(OnnxNode& node) {
  const Expr data = In(node, 0), indices = In(node, 1);
  const int64_t batch = node.Int("batch_dims", 0);
  node.Check(indices.rank() >= 1 && batch >= 0 &&
                 batch < static_cast<int64_t>(std::min(indices.rank(), data.rank())),
             "attribute 'batch_dims' is ", batch, " for data ", ToString(data.shape()),
             " and indices ", ToString(indices.shape()));
  const Shape shape = data.shape();
  const int64_t sliced = batch + indices.dim(indices.rank() - 1);
  const Expr places = PlacesOfSlices(indices, shape, batch);
  const Shape slice(shape.begin() + sliced, shape.end());
  const int64_t size = NumElements(slice);
  Shape out = places.shape();
  out.insert(out.end(), slice.begin(), slice.end());
  if (size == 0 || NumElements(shape) == 0) return Give(Filled(node, 0.0, out, data.type()));
  // Places are multiples of the slice's size.
  const Expr rows = Reshaped(data, {NumElements(shape) / size, size});
  GiveReshaped(Gathered(rows, places / static_cast<double>(size), 0), out);
}

constexpr ImportEntry kGatherImports[] = {{"GatherElements", ImportGatherElements},
                                          {"GatherND", ImportGatherNd}};

}  // namespace

std::span<const ImportEntry> GatherImports() { return kGatherImports; }

}  // namespace rshift
