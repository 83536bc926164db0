// A data set by the preprocessing that a program has recorded: what the tools compute, by their own
// readers.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "pipeline/preprocess_choice.h"
#include "pipeline/program_interface.h"
#include "rshift/c_status.h"
#include "rshift/toolchain.h"

struct rshift_samples {
  std::unique_ptr<rshift::Dataset> dataset;
  size_t inputs;
};

namespace rshift {
namespace {

std::vector<InputSpec> SpecsOf(const rshift_program* program) {
  std::vector<InputSpec> specs;
  for (size_t i = 0; i < rshift_program_inputs(program); ++i) {
    rshift_tensor input;
    const rshift_status status = rshift_program_input(program, i, &input);
    RSHIFT_REQUIRE(status == RSHIFT_OK, ErrorCode::kInternal, rshift_error_text());
    specs.push_back({input.name, Shape(input.shape, input.shape + input.rank)});
  }
  return specs;
}

std::optional<Preprocess> PreprocessOf(const rshift_program* program, const char* chosen,
                                       const std::vector<InputSpec>& specs) {
  std::map<std::string, std::string> meta;  // what KeepPixels reads
  for (const char* key : {"preprocess", "input_type", "input_types", "pixel_inputs"}) {
    const char* text = rshift_program_metadata(program, key);
    if (text != nullptr) meta[key] = text;
  }
  std::optional<Preprocess> preprocess;
  if (!meta["preprocess"].empty()) {
    preprocess = ReadPreprocess(meta["preprocess"], "the program (recorded preprocessing)");
  }
  PreprocessChoice choice;
  if (chosen != nullptr) choice.source = chosen;
  preprocess = choice.Resolve(specs, preprocess);
  if (preprocess) KeepPixels(meta, &*preprocess);
  return preprocess;
}

}  // namespace
}  // namespace rshift

using rshift::ErrorCode;
using rshift::Guarded;
using rshift::RequirePointer;

extern "C" {

rshift_status rshift_samples_open(const rshift_program* program, const char* dataset,
                                  const char* preprocess, rshift_samples** samples) {
  return Guarded([&] {
    RequirePointer(program, "rshift_samples_open", "program");
    RequirePointer(dataset, "rshift_samples_open", "dataset");
    RequirePointer(samples, "rshift_samples_open", "samples");
    const std::vector<rshift::InputSpec> specs = rshift::SpecsOf(program);
    *samples = new rshift_samples{
        rshift::OpenDataset({dataset}, specs, rshift::PreprocessOf(program, preprocess, specs)),
        specs.size()};
  });
}

void rshift_samples_free(rshift_samples* samples) { delete samples; }

size_t rshift_samples_count(const rshift_samples* samples) {
  return samples == nullptr ? 0 : static_cast<size_t>(samples->dataset->size());
}

rshift_status rshift_samples_read(const rshift_samples* samples, size_t index, float* const* values,
                                  const size_t* room, size_t inputs) {
  return Guarded([&] {
    RequirePointer(samples, "rshift_samples_read", "samples");
    RequirePointer(values, "rshift_samples_read", "values");
    RequirePointer(room, "rshift_samples_read", "room");
    RSHIFT_REQUIRE(index < rshift_samples_count(samples), ErrorCode::kInvalidInput, "sample ",
                   index, ": the data set has ", rshift_samples_count(samples), ", counted from 0");
    RSHIFT_REQUIRE(inputs == samples->inputs, ErrorCode::kInvalidInput,
                   "rshift_samples_read: ", inputs, " arrays are given, the program has ",
                   samples->inputs, " inputs");
    const rshift::Sample sample = samples->dataset->Read(static_cast<int64_t>(index));
    for (size_t i = 0; i < inputs; ++i) {
      RSHIFT_REQUIRE(sample.inputs[i].size() <= room[i], ErrorCode::kInvalidInput, sample.name,
                     ": input ", i, " takes ", sample.inputs[i].size(),
                     " values, the array has room for ", room[i]);
    }
    for (size_t i = 0; i < inputs; ++i) {
      std::copy(sample.inputs[i].begin(), sample.inputs[i].end(), values[i]);
    }
  });
}

}  // extern "C"
