#include <deque>
#include <memory>
#include <vector>

#include "python/core/core.h"
#include "python/core/program.h"
#include "rshift/toolchain.h"

namespace rshift::python {
namespace {

class Samples {
 public:
  Samples(const Program& program, const std::string& dataset, const py::object& preprocess) {
    const std::string chosen = preprocess.is_none() ? "" : preprocess.cast<std::string>();
    const char* text = preprocess.is_none() ? nullptr : chosen.c_str();
    rshift_samples* samples = nullptr;
    const py::gil_scoped_release released;
    Check(rshift_samples_open(program.get(), dataset.c_str(), text, &samples));
    samples_.reset(samples, rshift_samples_free);
  }

  size_t size() const { return rshift_samples_count(samples_.get()); }

  // Into an array of F32 for each input.
  void Read(size_t index, const py::list& arrays) const {
    std::deque<View> views;
    std::vector<float*> values;
    std::vector<size_t> room;
    for (const py::handle array : arrays) {
      const View& view = views.emplace_back(array, true);
      values.push_back(static_cast<float*>(view.data()));
      room.push_back(view.floats());
    }
    const py::gil_scoped_release released;
    Check(rshift_samples_read(samples_.get(), index, values.data(), room.data(), values.size()));
  }

 private:
  std::shared_ptr<rshift_samples> samples_;
};

}  // namespace

void AddSamples(py::module_& module) {
  py::class_<Samples>(module, "Samples")
      .def(py::init<const Program&, const std::string&, const py::object&>(), py::arg("program"),
           py::arg("dataset"), py::arg("preprocess"))
      .def("__len__", &Samples::size)
      .def("read", &Samples::Read, py::arg("index"), py::arg("arrays"));
}

}  // namespace rshift::python
