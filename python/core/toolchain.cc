#include "rshift/toolchain.h"

#include <memory>

#include "python/core/arguments.h"
#include "python/core/core.h"
#include "python/core/interruptible.h"

namespace rshift::python {
namespace {

py::bytes ToBytes(const rshift_bytes& bytes) {
  return {static_cast<const char*>(bytes.data), bytes.size};
}

// Of memory that rshift_free frees.
py::bytes TakeBytes(void* memory, size_t size) {
  const std::unique_ptr<void, decltype(&rshift_free)> owner(memory, rshift_free);
  return ToBytes({memory, size});
}

// Calls `body` with the options that the keywords of rshift.calibrate and rshift.collect stand for.
template <typename Body>
void WithCalibrateOptions(const py::object& progress, const py::dict& keywords, const Body& body) {
  Arguments given(keywords);
  Interruptible work(progress);
  rshift_calibrate_options options{};
  const auto shapes = given.Shapes("input_shapes");
  const auto data = given.Samples("data");
  const auto statistics = given.BytesList("statistics");
  options.model = given.Text("model");
  options.model_bytes = given.Bytes("model_bytes");
  options.dataset = given.Text("dataset");
  options.preprocess = given.Text("preprocess");
  options.method = given.Text("method");
  options.equalize = given.Text("equalize");
  options.samples = given.Number<int64_t>("samples");
  options.seed = given.Number<uint64_t>("seed");
  options.threads = given.Number<int>("threads");
  options.input_shapes = shapes.data();
  options.input_shapes_count = shapes.size();
  options.data = data.data();
  options.data_count = data.size();
  options.shard = given.Text("shard");
  options.statistics = statistics.data();
  options.statistics_count = statistics.size();
  options.partial = given.Number<bool>("partial") ? 1 : 0;
  options.portable = given.Number<bool>("portable") ? 1 : 0;
  options.progress = Interruptible::Progress;
  options.user = &work;
  body(work, options);
}

py::bytes Calibrate(const py::object& progress, const py::kwargs& keywords) {
  char* table = nullptr;
  WithCalibrateOptions(progress, keywords, [&](Interruptible& work, const auto& options) {
    work.Run([&] { return rshift_calibrate(&options, &table); });
  });
  return TakeBytes(table, std::char_traits<char>::length(table));
}

py::bytes Collect(const py::object& progress, const py::kwargs& keywords) {
  void* statistics = nullptr;
  size_t size = 0;
  WithCalibrateOptions(progress, keywords, [&](Interruptible& work, const auto& options) {
    work.Run([&] { return rshift_collect(&options, &statistics, &size); });
  });
  return TakeBytes(statistics, size);
}

py::bytes Merge(const py::list& statistics) {
  py::dict keywords;
  keywords["statistics"] = statistics;
  Arguments given(keywords);
  const auto parts = given.BytesList("statistics");
  void* merged = nullptr;
  size_t size = 0;
  {
    const py::gil_scoped_release released;
    Check(rshift_merge(parts.data(), parts.size(), &merged, &size));
  }
  return TakeBytes(merged, size);
}

// (program, warnings, text, JSON, HTML, QDQ model, configuration of --auto)
py::tuple Deploy(const py::object& progress, const py::kwargs& keywords) {
  Arguments given(keywords);
  Interruptible work(progress);
  rshift_deploy_options options{};
  const auto shapes = given.Shapes("input_shapes");
  const auto inputs = given.Types("input_types");
  const auto outputs = given.Types("output_types");
  const auto data = given.Samples("test_data");
  options.model = given.Text("model");
  options.model_bytes = given.Bytes("model_bytes");
  options.table = given.Text("table");
  options.mode = given.Text("mode");
  options.profile = given.Text("profile");
  options.config = given.Text("config");
  options.target = given.Text("target");
  options.scales = given.Text("scales");
  options.preprocess = given.Text("preprocess");
  options.bias_correction = given.Text("bias_correction");
  options.equalize = given.Text("equalize");
  options.weight_rounding = given.Text("weight_rounding");
  options.weight_clipping = given.Text("weight_clipping");
  options.weight_bits = given.Number<int>("weight_bits");
  options.activation_bits = given.Number<int>("activation_bits");
  options.residual_bits = given.Number<int>("residual_bits");
  options.no_shift_negative = given.Number<int>("no_shift_negative");
  options.automatic = given.Number<bool>("automatic") ? 1 : 0;
  options.budget = given.Text("budget");
  options.no_check = given.Number<bool>("no_check") ? 1 : 0;
  options.threads = given.Number<int>("threads");
  options.input_shapes = shapes.data();
  options.input_shapes_count = shapes.size();
  options.input_types = inputs.data();
  options.input_types_count = inputs.size();
  options.output_types = outputs.data();
  options.output_types_count = outputs.size();
  options.test_data = data.data();
  options.test_data_count = data.size();
  options.emit_qdq = given.Number<bool>("emit_qdq") ? 1 : 0;
  options.progress = Interruptible::Progress;
  options.user = &work;
  rshift_deployment made{};
  work.Run([&] { return rshift_deploy_all(&options, &made); });
  const std::unique_ptr<rshift_deployment, decltype(&rshift_deployment_free)> owner(
      &made, rshift_deployment_free);
  return py::make_tuple(ToBytes(made.program), ToBytes(made.warnings), ToBytes(made.report_text),
                        ToBytes(made.report_json), ToBytes(made.report_html), ToBytes(made.qdq),
                        ToBytes(made.auto_config));
}

// (equal, has_nan, cosine, euclid, sqnr_db, max_abs) of two arrays of as many F32.
py::tuple Compare(const py::object& a, const py::object& b) {
  const View under_test(a, false), reference(b, false);
  if (under_test.size() != reference.size()) throw py::value_error("arrays of different sizes");
  rshift_similarity found{};
  {
    const py::gil_scoped_release released;
    Check(rshift_compare(static_cast<const float*>(under_test.data()),
                         static_cast<const float*>(reference.data()), reference.floats(), &found));
  }
  return py::make_tuple(found.equal != 0, found.has_nan != 0, found.cosine, found.euclid,
                        found.sqnr_db, found.max_abs);
}

}  // namespace

void AddToolchain(py::module_& module) {
  module.def("calibrate", &Calibrate, py::arg("progress"));
  module.def("collect", &Collect, py::arg("progress"));
  module.def("merge", &Merge, py::arg("statistics"));
  module.def("deploy", &Deploy, py::arg("progress"));
  module.def("compare", &Compare, py::arg("a"), py::arg("b"));
}

}  // namespace rshift::python
