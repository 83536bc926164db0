#include <exception>
#include <utility>

#include "python/core/core.h"

namespace rshift::python {
namespace {

// The classes are Python's (rshift/_errors.py), where they can inherit from several.
void Raise(const StatusError& error) {
  const py::object made = py::module_::import("rshift._errors")
                              .attr("make")(static_cast<int>(error.status), ToStr(error.text));
  PyErr_SetObject(py::type::handle_of(made).ptr(), made.ptr());
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "Rshift's C interface; use the package rshift.";
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(std::move(pointer));
    } catch (const StatusError& error) {
      Raise(error);
    }
  });
  module.def("version", [] { return std::string(rshift_version()); });
  AddProgram(module);
  AddSamples(module);
  AddToolchain(module);
}

}  // namespace rshift::python
