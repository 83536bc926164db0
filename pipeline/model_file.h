// The model of a pipeline.
#ifndef RSHIFT_PIPELINE_MODEL_FILE_H_
#define RSHIFT_PIPELINE_MODEL_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/import.h"
#include "pipeline/file_or.h"

namespace rshift {

// A model's file (ONNX, .tflite, OpenVINO's .xml), or its bytes. Those can have no external data
// beside them.
using ModelFile = FileOr<std::vector<uint8_t>>;

// Throws as ImportOnnx does. `note` hears what the import takes for granted, unless `options` has a
// listener of its own.
inline Graph ImportModel(const ModelFile& model, ImportOptions options,
                         const std::function<void(const std::string& note)>& note = {}) {
  if (!options.note) options.note = note;
  return model.value ? ImportOnnxBytes(*model.value, model.Name("the model"), options)
                     : ImportOnnx(model.path, options);
}

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_MODEL_FILE_H_
