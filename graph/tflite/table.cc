#include "graph/tflite/table.h"

#include <map>

namespace rshift::tflite {

Translate FindTranslate(BuiltinOperator code) {
  static const std::map<BuiltinOperator, Translate> kTable = [] {
    std::map<BuiltinOperator, Translate> table;
    for (const auto& family :
         {ActivationEntries(), ConvEntries(), EltwiseEntries(), MatMulEntries(), MovementEntries(),
          RecurrentEntries(), ReduceEntries(), ResizeEntries(), ShapeEntries(), SliceEntries(),
          SpaceEntries(), VolumeEntries()}) {
      for (const Entry& entry : family) table.emplace(entry.code, entry.translate);
    }
    return table;
  }();
  const auto found = kTable.find(code);
  return found == kTable.end() ? nullptr : found->second;
}

}  // namespace rshift::tflite
