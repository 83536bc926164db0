// Images of another size.
#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

// Where a pixel of the result lies in the input.
template <typename T>
const char* Coordinates(const T* options) {
  if (options == nullptr) return "asymmetric";
  if (options->align_corners()) return "align_corners";
  return options->half_pixel_centers() ? "half_pixel" : "asymmetric";
}

void GiveResize(OpWriter& op, OpAttributes attributes) {
  const int64_t count = NumElements(op.InShape(1));
  op.Check(op.InRank(0) == 4 && count == 2, "input and size have ", op.InRank(0), " and ", count,
           " dimensions, expected 4 and 2");
  // What follows from sizes that are open here is known when the graph is built.
  const std::string size = op.Knows(1) ? op.IntList(op.Ints(1, "sizes of the result")) : op.List(1);
  attributes.emplace_back("axes", std::vector<int64_t>{2, 3});
  const std::string x = op.ToChannelsFirst(op.Real(0));
  op.GiveReal(op.ToChannelsLast(op.Emit("Resize", {x, "", "", size}, attributes)));
}

void TranslateBilinear(OpWriter& op) {
  GiveResize(
      op, {{"mode", "linear"},
           {"coordinate_transformation_mode", Coordinates(op.Options<ResizeBilinearOptions>())}});
}

// Down to the pixel that the coordinate lies in; with centres or corners to the nearest, up on
// ties.
void TranslateNearest(OpWriter& op) {
  const std::string coordinates = Coordinates(op.Options<ResizeNearestNeighborOptions>());
  GiveResize(op, {{"mode", "nearest"},
                  {"coordinate_transformation_mode", coordinates},
                  {"nearest_mode", coordinates == "asymmetric" ? "floor" : "round_prefer_ceil"}});
}

constexpr Entry kResizeEntries[] = {
    {BuiltinOperator_RESIZE_BILINEAR, TranslateBilinear},
    {BuiltinOperator_RESIZE_NEAREST_NEIGHBOR, TranslateNearest},
};

}  // namespace

std::span<const Entry> ResizeEntries() { return kResizeEntries; }

}  // namespace rshift::tflite
