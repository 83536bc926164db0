// A program, for the classes of the extension that need one.
#ifndef RSHIFT_PYTHON_CORE_PROGRAM_H_
#define RSHIFT_PYTHON_CORE_PROGRAM_H_

#include <memory>
#include <string>

#include "python/core/core.h"

namespace rshift::python {

class Program {
 public:
  static Program Load(const std::string& path, const std::string& limits);
  static Program FromMemory(const py::object& bytes, const std::string& limits);

  py::list Inputs() const;
  py::list Outputs() const;
  py::object Metadata(const std::string& key) const;
  const rshift_program* get() const { return program_.get(); }

 private:
  explicit Program(rshift_program* program) : program_(program, rshift_program_free) {}

  std::shared_ptr<rshift_program> program_;
};

}  // namespace rshift::python

#endif  // RSHIFT_PYTHON_CORE_PROGRAM_H_
