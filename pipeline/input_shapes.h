// The shapes of a model's inputs, said once: to model_calibrate.
#ifndef RSHIFT_PIPELINE_INPUT_SHAPES_H_
#define RSHIFT_PIPELINE_INPUT_SHAPES_H_

#include "graph/import.h"
#include "quantize/ranges/table.h"

namespace rshift {

// With the table's shapes, for inputs that the options leave open (RecordedShapes).
ImportOptions WithShapesOf(const CalibrationTable& table, ImportOptions options);

// For the tables that calibration makes: the shapes given, but for inputs bound to constants.
std::map<std::string, Shape> InputShapesToRecord(const ImportOptions& options);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_INPUT_SHAPES_H_
