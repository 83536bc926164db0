// Options of the toolchain as keywords of Python, kept for as long as a C struct points to them.
#ifndef RSHIFT_PYTHON_CORE_ARGUMENTS_H_
#define RSHIFT_PYTHON_CORE_ARGUMENTS_H_

#include <deque>
#include <string>
#include <vector>

#include "python/core/core.h"
#include "rshift/toolchain.h"

namespace rshift::python {

// Whatever is None, or missing, is NULL or 0: the default.
class Arguments {
 public:
  explicit Arguments(const py::dict& given) : given_(given) {}

  template <typename T>
  T Number(const char* name) const {
    return Has(name) ? given_[name].cast<T>() : T{};
  }
  const char* Text(const char* name) { return Has(name) ? Keep(given_[name]) : nullptr; }
  // The content of one bytes-like object, of several.
  rshift_bytes Bytes(const char* name) {
    return Has(name) ? BytesOf(given_[name]) : rshift_bytes{nullptr, 0};
  }
  std::vector<rshift_bytes> BytesList(const char* name) {
    std::vector<rshift_bytes> all;
    if (Has(name)) {
      for (const py::handle one : given_[name]) all.push_back(BytesOf(one));
    }
    return all;
  }

  // [(name, (1, 3, ...)), ...]
  std::vector<rshift_input_shape> Shapes(const char* name) {
    std::vector<rshift_input_shape> all;
    if (!Has(name)) return all;
    for (const py::handle one : given_[name]) {
      const auto pair = one.cast<py::tuple>();
      std::vector<int64_t>& dims = shapes_.emplace_back();
      for (const py::handle dim : pair[1]) dims.push_back(dim.cast<int64_t>());
      all.push_back({Keep(pair[0]), dims.size(), dims.data()});
    }
    return all;
  }
  // [(name or None, number of the type), ...]
  std::vector<rshift_element_type> Types(const char* name) {
    std::vector<rshift_element_type> all;
    if (!Has(name)) return all;
    for (const py::handle one : given_[name]) {
      const auto pair = one.cast<py::tuple>();
      const char* tensor = pair[0].is_none() ? nullptr : Keep(pair[0]);
      all.push_back({tensor, static_cast<rshift_type>(pair[1].cast<int>())});
    }
    return all;
  }
  // [[array of F32, ...], ...]
  std::vector<rshift_sample> Samples(const char* name) {
    std::vector<rshift_sample> all;
    if (!Has(name)) return all;
    for (const py::handle one : given_[name]) {
      SampleArrays& sample = samples_.emplace_back();
      for (const py::handle array : one) {
        const View& view = views_.emplace_back(array, false);
        sample.values.push_back(static_cast<const float*>(view.data()));
        sample.elements.push_back(view.floats());
      }
      all.push_back({nullptr, sample.values.size(), sample.values.data(), sample.elements.data()});
    }
    return all;
  }

 private:
  struct SampleArrays {
    std::vector<const float*> values;
    std::vector<size_t> elements;
  };

  bool Has(const char* name) const { return given_.contains(name) && !given_[name].is_none(); }
  const char* Keep(const py::handle& text) {
    return texts_.emplace_back(text.cast<std::string>()).c_str();
  }
  rshift_bytes BytesOf(const py::handle& object) {
    const View& view = views_.emplace_back(object, false);
    return {view.data(), view.size()};
  }

  const py::dict& given_;
  // Whose elements stay where they are.
  std::deque<std::string> texts_;
  std::deque<View> views_;
  std::deque<SampleArrays> samples_;
  std::deque<std::vector<int64_t>> shapes_;
};

}  // namespace rshift::python

#endif  // RSHIFT_PYTHON_CORE_ARGUMENTS_H_
