#include "graph/tflite/table.h"

#include <map>

namespace rshift::tflite {
namespace {

Translate FindBuiltin(BuiltinOperator code) {
  static const std::map<BuiltinOperator, Translate> kTable = [] {
    std::map<BuiltinOperator, Translate> table;
    for (const auto& family :
         {ActivationEntries(), ComplexEntries(), ConvEntries(), DetectionEntries(),
          EltwiseEntries(), MatMulEntries(), MovementEntries(), RecurrentEntries(), ReduceEntries(),
          ResizeEntries(), ShapeEntries(), SliceEntries(), SpaceEntries(), StablehloEntries(),
          VolumeEntries()}) {
      for (const Entry& entry : family) table.emplace(entry.code, entry.translate);
    }
    return table;
  }();
  const auto found = kTable.find(code);
  return found == kTable.end() ? nullptr : found->second;
}

Translate FindCustom(const std::string& name) {
  for (const auto& family : {CustomConvEntries(), CustomDetectionEntries()}) {
    for (const CustomEntry& entry : family) {
      if (name == entry.name) return entry.translate;
    }
  }
  return nullptr;
}

}  // namespace

Translate FindTranslate(const File& file, const Operator& op) {
  const BuiltinOperator code = file.CodeOf(op);
  return code == BuiltinOperator_CUSTOM ? FindCustom(file.NameOf(op)) : FindBuiltin(code);
}

}  // namespace rshift::tflite
