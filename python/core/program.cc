#include "python/core/program.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "python/core/core.h"

namespace rshift::python {
namespace {

// (name, type, shape, scale, zero point); no scale: None.
py::tuple Describe(const rshift_tensor& tensor) {
  py::tuple shape(tensor.rank);
  for (size_t i = 0; i < tensor.rank; ++i) shape[i] = tensor.shape[i];
  const bool quantized = tensor.quantized != 0;
  return py::make_tuple(ToStr(tensor.name), static_cast<int>(tensor.type), shape,
                        quantized ? py::object(py::float_(tensor.scale)) : py::none(),
                        tensor.zero_point);
}

using SharedSession = std::shared_ptr<rshift_session>;

// The memory of an input or output as a buffer, which keeps its session.
struct Memory {
  SharedSession session;
  void* data;
  size_t size;
  bool readonly;

  py::buffer_info Buffer() const {
    const auto length = static_cast<py::ssize_t>(size);
    return {data, 1, py::format_descriptor<uint8_t>::format(), 1, {length}, {1}, readonly};
  }
};

// Serves one call at a time: the others wait.
class Session {
 public:
  Session(const Program& program, int threads) {
    const py::gil_scoped_release released;
    rshift_session* session = nullptr;
    Check(rshift_session_open(program.get(), threads, &session));
    session_.reset(session, rshift_session_free);
  }

  void SetBytes(size_t input, const py::object& array) {
    const View view(array, false);
    Locked([&] { return rshift_session_set_bytes(get(), input, view.data(), view.size()); });
  }
  void SetFloats(size_t input, const py::object& array) {
    const View view(array, false);
    Locked([&] {
      return rshift_session_set_floats(get(), input, static_cast<const float*>(view.data()),
                                       view.floats());
    });
  }
  void Run() {
    Locked([&] { return rshift_session_run(get()); });
  }
  py::tuple Output(size_t output) {
    rshift_tensor tensor{};
    std::vector<int64_t> shape;  // the session's own holds until its next call
    Locked([&] {
      const rshift_status status = rshift_session_output(get(), output, &tensor);
      if (status == RSHIFT_OK) shape.assign(tensor.shape, tensor.shape + tensor.rank);
      return status;
    });
    tensor.shape = shape.data();
    return Describe(tensor);
  }
  void GetBytes(size_t output, const py::object& array) {
    const View view(array, true);
    Locked(
        [&] { return rshift_session_get_bytes(get(), output, view.data(), view.size(), nullptr); });
  }
  void GetFloats(size_t output, const py::object& array) {
    const View view(array, true);
    Locked([&] {
      return rshift_session_get_floats(get(), output, static_cast<float*>(view.data()),
                                       view.floats(), nullptr);
    });
  }
  Memory InputMemory(size_t input) {
    Memory memory{session_, nullptr, 0, false};
    Locked([&] { return rshift_session_input_memory(get(), input, &memory.data, &memory.size); });
    return memory;
  }
  Memory OutputMemory(size_t output) {
    Memory memory{session_, nullptr, 0, true};
    Locked([&] {
      const void* data = nullptr;
      const rshift_status status = rshift_session_output_memory(get(), output, &data, &memory.size);
      memory.data = const_cast<void*>(data);  // the buffer is read only
      return status;
    });
    return memory;
  }

 private:
  rshift_session* get() const { return session_.get(); }

  // Without the GIL, which another thread may need to end its own call.
  template <typename Call>
  void Locked(const Call& call) {
    const py::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    Check(call());
  }

  SharedSession session_;
  std::mutex mutex_;
};

}  // namespace

Program Program::Load(const std::string& path, const std::string& limits) {
  rshift_program* program = nullptr;
  const py::gil_scoped_release released;
  Check(rshift_program_load(path.c_str(), limits.c_str(), &program));
  return Program(program);
}

Program Program::FromMemory(const py::object& bytes, const std::string& limits) {
  const View view(bytes, false);
  rshift_program* program = nullptr;
  const py::gil_scoped_release released;
  Check(rshift_program_from_memory(view.data(), view.size(), limits.c_str(), &program));
  return Program(program);
}

py::list Program::Inputs() const {
  py::list all;
  for (size_t i = 0; i < rshift_program_inputs(get()); ++i) {
    rshift_tensor tensor;
    Check(rshift_program_input(get(), i, &tensor));
    all.append(Describe(tensor));
  }
  return all;
}

py::list Program::Outputs() const {
  py::list all;
  for (size_t i = 0; i < rshift_program_outputs(get()); ++i) {
    rshift_tensor tensor;
    Check(rshift_program_output(get(), i, &tensor));
    all.append(Describe(tensor));
  }
  return all;
}

py::object Program::Metadata(const std::string& key) const {
  const char* text = rshift_program_metadata(get(), key.c_str());
  return text == nullptr ? py::none() : py::object(ToStr(text));
}

void AddProgram(py::module_& module) {
  py::class_<Program>(module, "Program")
      .def_static("load", &Program::Load, py::arg("path"), py::arg("limits"))
      .def_static("from_memory", &Program::FromMemory, py::arg("content"), py::arg("limits"))
      .def("inputs", &Program::Inputs)
      .def("outputs", &Program::Outputs)
      .def("metadata", &Program::Metadata, py::arg("key"));
  py::class_<Memory>(module, "Memory", py::buffer_protocol()).def_buffer(&Memory::Buffer);
  py::class_<Session>(module, "Session")
      .def(py::init<const Program&, int>(), py::arg("program"), py::arg("threads"))
      .def("set_bytes", &Session::SetBytes, py::arg("input"), py::arg("array"))
      .def("set_floats", &Session::SetFloats, py::arg("input"), py::arg("array"))
      .def("run", &Session::Run)
      .def("output", &Session::Output, py::arg("output"))
      .def("get_bytes", &Session::GetBytes, py::arg("output"), py::arg("array"))
      .def("get_floats", &Session::GetFloats, py::arg("output"), py::arg("array"))
      .def("input_memory", &Session::InputMemory, py::arg("input"))
      .def("output_memory", &Session::OutputMemory, py::arg("output"));
}

}  // namespace rshift::python
