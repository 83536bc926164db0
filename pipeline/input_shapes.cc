#include "pipeline/input_shapes.h"

#include <utility>

namespace rshift {

ImportOptions WithShapesOf(const CalibrationTable& table, ImportOptions options) {
  options.recorded = {table.model_sha256, table.input_shapes};
  return options;
}

std::map<std::string, Shape> InputShapesToRecord(const ImportOptions& options) {
  std::map<std::string, Shape> shapes = options.input_shapes;
  for (const auto& [input, value] : options.bound_inputs) shapes.erase(input);
  return shapes;
}

}  // namespace rshift
