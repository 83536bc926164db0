// The C interface over Program and Session: no exception leaves a function of it.
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/version.h"
#include "rshift/c_status.h"
#include "rshift/float_kernels.h"
#include "rshift/handles.h"
#include "rshift/rshift.h"
#include "rshift/session_values.h"
#include "runtime/outputs.h"
#include "runtime/runtime.h"
#include "runtime/tensor_values.h"

namespace rshift {
namespace {

std::vector<TensorInfo> Describe(const ProgramImage& image, const std::vector<Binding>& bindings) {
  std::vector<TensorInfo> all;
  for (const Binding& binding : bindings) {
    const TensorRecord& record = image.tensors[static_cast<size_t>(binding.tensor)];
    all.push_back({binding.name, &record, OnnxShape(record)});
  }
  return all;
}

Limits LimitsOf(const char* text) { return ParseLimits(text == nullptr ? "" : text); }

rshift_program* NewProgram(Program program) {
  auto shared = std::make_shared<SharedProgram>(SharedProgram{std::move(program)});
  const ProgramImage& image = shared->program.image();
  shared->inputs = Describe(image, image.inputs);
  shared->outputs = Describe(image, image.outputs);
  return new rshift_program{std::move(shared)};
}

// The output's record with the shape that it had in the last run, in memory order.
TensorRecord LastRecord(const rshift_session& session, size_t output) {
  RSHIFT_REQUIRE(session.has_run, ErrorCode::kInvalidInput,
                 "an output was asked for before rshift_session_run succeeded");
  TensorRecord record = *At(session.shared->outputs, output, "output").record;
  record.shape = OutputShape(session.shared->program, session.session, static_cast<int>(output));
  return record;
}

// Copies what `values` has into the caller's buffer.
template <typename T>
void CopyOut(const std::vector<T>& values, T* buffer, size_t room, size_t* count,
             const std::string& name) {
  RSHIFT_REQUIRE(values.size() <= room, ErrorCode::kInvalidInput, "output '", name, "': has ",
                 values.size(), sizeof(T) == 1 ? " bytes" : " values", ", the buffer has room for ",
                 room);
  if (!values.empty()) {
    RequirePointer(buffer, "rshift_session_get", "the buffer");
    std::memcpy(buffer, values.data(), values.size() * sizeof(T));
  }
  if (count != nullptr) *count = values.size();
}

std::vector<std::byte> LastBytes(const rshift_session& session, size_t output) {
  return OutputBytes(session.shared->program, session.session, static_cast<int>(output));
}

}  // namespace
}  // namespace rshift

using rshift::At;
using rshift::Guarded;
using rshift::RequirePointer;

extern "C" {

const char* rshift_version(void) { return rshift::Version(); }

int rshift_has_float(void) { return rshift::kHasFloatKernels ? 1 : 0; }

const char* rshift_error_text(void) { return rshift::LastErrorText(); }

rshift_status rshift_program_load(const char* path, const char* limits, rshift_program** program) {
  return Guarded([&] {
    RequirePointer(path, "rshift_program_load", "path");
    RequirePointer(program, "rshift_program_load", "program");
    rshift::RegisterFloatKernels();
    *program =
        rshift::NewProgram(rshift::Program::Load(path, {.limits = rshift::LimitsOf(limits)}));
  });
}

rshift_status rshift_program_from_memory(const void* bytes, size_t size, const char* limits,
                                         rshift_program** program) {
  return Guarded([&] {
    RequirePointer(bytes, "rshift_program_from_memory", "bytes");
    RequirePointer(program, "rshift_program_from_memory", "program");
    rshift::RegisterFloatKernels();
    *program = rshift::NewProgram(rshift::Program::FromBytes(
        {static_cast<const uint8_t*>(bytes), size}, "program in memory", rshift::LimitsOf(limits)));
  });
}

void rshift_program_free(rshift_program* program) { delete program; }

size_t rshift_program_inputs(const rshift_program* program) {
  return program == nullptr ? 0 : program->shared->inputs.size();
}

size_t rshift_program_outputs(const rshift_program* program) {
  return program == nullptr ? 0 : program->shared->outputs.size();
}

rshift_status rshift_program_input(const rshift_program* program, size_t index,
                                   rshift_tensor* tensor) {
  return Guarded([&] {
    RequirePointer(program, "rshift_program_input", "program");
    RequirePointer(tensor, "rshift_program_input", "tensor");
    *tensor = At(program->shared->inputs, index, "input").Public();
  });
}

rshift_status rshift_program_output(const rshift_program* program, size_t index,
                                    rshift_tensor* tensor) {
  return Guarded([&] {
    RequirePointer(program, "rshift_program_output", "program");
    RequirePointer(tensor, "rshift_program_output", "tensor");
    *tensor = At(program->shared->outputs, index, "output").Public();
  });
}

const char* rshift_program_metadata(const rshift_program* program, const char* key) {
  if (program == nullptr || key == nullptr) return nullptr;
  for (const auto& [name, text] : program->shared->program.image().meta) {
    if (name == key) return text.c_str();
  }
  return nullptr;
}

rshift_status rshift_session_open(const rshift_program* program, int threads,
                                  rshift_session** session) {
  return Guarded([&] {
    RequirePointer(program, "rshift_session_open", "program");
    RequirePointer(session, "rshift_session_open", "session");
    *session = new rshift_session{program->shared,
                                  rshift::Session(program->shared->program, {.threads = threads})};
  });
}

void rshift_session_free(rshift_session* session) { delete session; }

rshift_status rshift_session_set_bytes(rshift_session* session, size_t input, const void* bytes,
                                       size_t size) {
  return Guarded([&] {
    RequirePointer(session, "rshift_session_set_bytes", "session");
    const rshift::TensorInfo& info = At(session->shared->inputs, input, "input");
    rshift::StoreBytes(*info.record, info.name, bytes, size,
                       session->session.Input(static_cast<int>(input)));
  });
}

rshift_status rshift_session_set_floats(rshift_session* session, size_t input, const float* values,
                                        size_t count) {
  return Guarded([&] {
    RequirePointer(session, "rshift_session_set_floats", "session");
    const rshift::TensorInfo& info = At(session->shared->inputs, input, "input");
    if (count > 0) RequirePointer(values, "rshift_session_set_floats", "values");
    rshift::StoreFloats(*info.record, info.name, {values, count},
                        session->session.Input(static_cast<int>(input)));
  });
}

rshift_status rshift_session_input_memory(rshift_session* session, size_t input, void** memory,
                                          size_t* size) {
  return Guarded([&] {
    RequirePointer(session, "rshift_session_input_memory", "session");
    RequirePointer(memory, "rshift_session_input_memory", "memory");
    RequirePointer(size, "rshift_session_input_memory", "size");
    const rshift::TensorInfo& info = At(session->shared->inputs, input, "input");
    RSHIFT_REQUIRE(
        info.record->dtype != rshift::DType::kBool && info.record->layout == rshift::Layout::kPlain,
        rshift::ErrorCode::kUnsupported, "input '", info.name,
        "': its memory is not for others; rshift_session_set_bytes fills it");
    const std::span<std::byte> bytes = session->session.Input(static_cast<int>(input));
    *memory = bytes.data();
    *size = bytes.size();
  });
}

rshift_status rshift_session_run(rshift_session* session) {
  return Guarded([&] {
    RequirePointer(session, "rshift_session_run", "session");
    session->has_run = false;
    session->session.Run();
    RequireNoFault(session->shared->program, session->session);
    session->has_run = true;
  });
}

rshift_status rshift_session_output(rshift_session* session, size_t output, rshift_tensor* tensor) {
  return Guarded([&] {
    RequirePointer(session, "rshift_session_output", "session");
    RequirePointer(tensor, "rshift_session_output", "tensor");
    session->output_shape = OnnxShape(rshift::LastRecord(*session, output));
    *tensor = At(session->shared->outputs, output, "output").Public();
    tensor->shape = session->output_shape.data();
    tensor->elements = static_cast<size_t>(rshift::NumElements(session->output_shape));
    tensor->bytes =
        tensor->elements * rshift::SizeOf(session->shared->outputs[output].record->dtype);
  });
}

rshift_status rshift_session_get_bytes(rshift_session* session, size_t output, void* bytes,
                                       size_t room, size_t* count) {
  return Guarded([&] {
    RequirePointer(session, "rshift_session_get_bytes", "session");
    const rshift::TensorRecord record = rshift::LastRecord(*session, output);
    rshift::CopyOut(OnnxBytes(record, rshift::LastBytes(*session, output)),
                    static_cast<uint8_t*>(bytes), room, count,
                    session->shared->outputs[output].name);
  });
}

rshift_status rshift_session_get_floats(rshift_session* session, size_t output, float* values,
                                        size_t room, size_t* count) {
  return Guarded([&] {
    RequirePointer(session, "rshift_session_get_floats", "session");
    const rshift::TensorRecord record = rshift::LastRecord(*session, output);
    rshift::CopyOut(OnnxFloats(record, rshift::LastBytes(*session, output)), values, room, count,
                    session->shared->outputs[output].name);
  });
}

rshift_status rshift_session_output_memory(rshift_session* session, size_t output,
                                           const void** memory, size_t* size) {
  return Guarded([&] {
    RequirePointer(session, "rshift_session_output_memory", "session");
    RequirePointer(memory, "rshift_session_output_memory", "memory");
    RequirePointer(size, "rshift_session_output_memory", "size");
    const rshift::TensorRecord record = rshift::LastRecord(*session, output);
    const rshift::TensorInfo& info = session->shared->outputs[output];
    const std::span<const std::byte> bytes = session->session.Output(static_cast<int>(output));
    const bool as_it_is = record.layout == rshift::Layout::kPlain &&
                          record.shape == info.record->shape && bytes.size() == info.Public().bytes;
    RSHIFT_REQUIRE(as_it_is, rshift::ErrorCode::kUnsupported, "output '", info.name,
                   "': its memory has other elements or another order of them; "
                   "rshift_session_get_bytes copies it");
    *memory = bytes.data();
    *size = bytes.size();
  });
}

}  // extern "C"
