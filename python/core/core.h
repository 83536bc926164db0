// The extension rshift._core: the C interface for the Python modules beside it, and nothing else.
// Arrays come and go as buffers, so that no version of NumPy is compiled in.
#ifndef RSHIFT_PYTHON_CORE_CORE_H_
#define RSHIFT_PYTHON_CORE_CORE_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>

#include "rshift/rshift.h"

namespace rshift::python {

namespace py = pybind11;

// What a C function that failed had to say; becomes an exception of rshift/_errors.py.
struct StatusError {
  rshift_status status;
  std::string text;
};

inline void Check(rshift_status status) {
  if (status != RSHIFT_OK) throw StatusError{status, rshift_error_text()};
}

// Names are bytes: whatever they are, they come back as they were.
inline py::str ToStr(const std::string& text) {
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

// The memory of a contiguous bytes-like object or array, for as long as this lives. Made and
// destroyed with the GIL held.
class View {
 public:
  View(const py::handle& object, bool writable) {
    const int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw py::error_already_set();
  }
  ~View() { PyBuffer_Release(&view_); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  void* data() const { return view_.buf; }
  size_t size() const { return static_cast<size_t>(view_.len); }
  size_t floats() const { return size() / sizeof(float); }

 private:
  Py_buffer view_{};
};

void AddProgram(py::module_& module);    // Program, Session, Memory
void AddSamples(py::module_& module);    // Samples
void AddToolchain(py::module_& module);  // calibrate, collect, merge, deploy, compare

}  // namespace rshift::python

#endif  // RSHIFT_PYTHON_CORE_CORE_H_
