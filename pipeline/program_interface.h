// --input-type and --output-type: from the flags to the graph, and from the program's metadata back
// to the data set that feeds it.
#ifndef RSHIFT_PIPELINE_PROGRAM_INTERFACE_H_
#define RSHIFT_PIPELINE_PROGRAM_INTERFACE_H_

#include <map>
#include <string>

#include "calibrate/data/preprocess.h"
#include "graph/graph.h"
#include "quantize/interface.h"

namespace rshift {

// Of the f32 inputs that have an entry in the preprocessing (its text; may be empty), the pixel
// rules where they are bytes. Types: f32, u8, s8, s16.
InterfaceOptions ReadInterface(const ElementTypes& input, const ElementTypes& output,
                               const std::string& preprocess_text, const Graph& graph);

// What a program says of its interface: input_type, output_type, input_types and output_types for
// those with a type of their own, a line NAME=TYPE each, and pixel_inputs, the names of the inputs
// that take pixels, a line each. Nothing for f32.
void AddInterfaceMeta(const InterfaceOptions& options, std::map<std::string, std::string>* meta);

// Whether --input-type gave this input integers of its own scale: not pixels, nor the model's own.
bool TakesOwnIntegers(const std::map<std::string, std::string>& meta, const std::string& input,
                      DType dtype);

// Takes mean and scale of those inputs out of the preprocessing: the program holds them. What is
// left gives pixels, or pixels less 128 where the input is s8.
void KeepPixels(const std::map<std::string, std::string>& meta, Preprocess* preprocess);

// The recipes of the program's inputs in the form that runtimes read (preprocess/recorded.h), from
// the preprocessing in `meta` and what AddInterfaceMeta has said there. Nothing without one.
void AddRecordedPixels(const Graph& graph, std::map<std::string, std::string>* meta);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_PROGRAM_INTERFACE_H_
