#include <deque>
#include <memory>
#include <vector>

#include "python/core/core.h"
#include "python/core/program.h"
#include "rshift/preprocess.h"
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

// Pictures of 8 bits, rows without gaps, each height x width x the bytes of `order`, into an array
// of F32.
void Preprocess(const Program& program, size_t input, const py::list& pictures, int order,
                const py::object& array) {
  std::deque<View> views;
  std::vector<rshift_picture> given;
  for (const py::handle picture : pictures) {
    const py::tuple shape = picture.attr("shape");
    const View& view = views.emplace_back(picture, false);
    given.push_back({static_cast<const uint8_t*>(view.data()), shape[0].cast<size_t>(),
                     shape[1].cast<size_t>(), 0, static_cast<rshift_pixel_order>(order)});
  }
  const View values(array, true);
  const py::gil_scoped_release released;
  Check(rshift_preprocess(program.get(), input, given.data(), given.size(),
                          static_cast<float*>(values.data()), values.floats()));
}

}  // namespace

void AddSamples(py::module_& module) {
  py::class_<Samples>(module, "Samples")
      .def(py::init<const Program&, const std::string&, const py::object&>(), py::arg("program"),
           py::arg("dataset"), py::arg("preprocess"))
      .def("__len__", &Samples::size)
      .def("read", &Samples::Read, py::arg("index"), py::arg("arrays"));
  module.def("preprocess", &Preprocess, py::arg("program"), py::arg("input"), py::arg("pictures"),
             py::arg("order"), py::arg("array"));
}

}  // namespace rshift::python
