// Which TensorFlow Lite operators can be translated.
#ifndef RSHIFT_GRAPH_TFLITE_TABLE_H_
#define RSHIFT_GRAPH_TFLITE_TABLE_H_

#include <span>

#include "graph/tflite/op.h"

namespace rshift::tflite {

struct Entry {
  BuiltinOperator code;
  Translate translate;
};

// An operator that is no part of LiteRT, by the name that a file gives it.
struct CustomEntry {
  const char* name;
  Translate translate;
};

// One list per operator family, each in the file of that name.
std::span<const Entry> ActivationEntries();
std::span<const Entry> ComplexEntries();
std::span<const Entry> ConvEntries();
std::span<const Entry> DetectionEntries();
std::span<const Entry> EltwiseEntries();
std::span<const Entry> MatMulEntries();
std::span<const Entry> MovementEntries();
std::span<const Entry> RecurrentEntries();
std::span<const Entry> ReduceEntries();
std::span<const Entry> ResizeEntries();
std::span<const Entry> ShapeEntries();
std::span<const Entry> SliceEntries();
std::span<const Entry> SpaceEntries();
std::span<const Entry> StablehloEntries();
std::span<const Entry> VolumeEntries();
std::span<const CustomEntry> CustomConvEntries();
std::span<const CustomEntry> CustomDetectionEntries();

// Of complex numbers the real part (0) or the imaginary one (1).
void GiveComplexPart(OpWriter& op, int64_t part);

// Null when the operator is not supported.
Translate FindTranslate(const File& file, const Operator& op);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_TABLE_H_
