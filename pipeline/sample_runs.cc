#include "pipeline/sample_runs.h"

#include <map>
#include <memory>

#include "base/error.h"
#include "calibrate/fill_inputs.h"
#include "calibrate/observed_program.h"
#include "pipeline/consumer_error.h"
#include "pipeline/program_pair.h"
#include "runtime/tensor_values.h"

namespace rshift {

void RunOnSamples(const Program& program, const Dataset& samples, int threads,
                  const std::string& title, const ProgressFunction& progress,
                  const std::function<void(const Session& session, size_t sample)>& visit) {
  ProgressReport report(title, samples.size(), progress);
  ForEachIndex(threads, static_cast<size_t>(samples.size()), [&]() -> IndexWork {
    const auto session =
        std::make_shared<Session>(program, SessionOptions{.threads = 1, .one_by_one = true});
    return [&, session](size_t s) {
      FillInputs(program, *session, samples.Read(static_cast<int64_t>(s)));
      session->Run();
      visit(*session, s);
      report.Advance();
    };
  });
}

void RunOnSamples(
    const Program& a, const Program& b, const Dataset& samples, int threads,
    const std::string& title, const ProgressFunction& progress,
    const std::function<void(const Session& a, const Session& b, size_t sample)>& visit) {
  ProgressReport report(title, samples.size(), progress);
  ForEachIndex(threads, static_cast<size_t>(samples.size()), [&]() -> IndexWork {
    const SessionOptions options{.threads = 1, .one_by_one = true};
    const auto one = std::make_shared<Session>(a, options);
    const auto other = std::make_shared<Session>(b, options);
    return [&, one, other](size_t s) {
      const Sample sample = samples.Read(static_cast<int64_t>(s));
      FillInputs(a, *one, sample);
      FillInputs(b, *other, sample);
      one->Run();
      other->Run();
      visit(*one, *other, s);
      report.Advance();
    };
  });
}

std::vector<int32_t> TensorPlaces(const Program& program, const std::vector<std::string>& names) {
  const std::map<std::string, int32_t> places = TensorsByName(program);
  std::vector<int32_t> result;
  result.reserve(names.size());
  for (const std::string& name : names) {
    const auto found = places.find(name);
    RSHIFT_REQUIRE(found != places.end() && program.image().tensors[found->second].pitch == 0,
                   ErrorCode::kInternal, program.where(), " has no tensor '", name, "'");
    result.push_back(found->second);
  }
  return result;
}

std::vector<std::byte> IntegersOf(DType dtype, const QuantParams& quant,
                                  std::span<const float> values) {
  TensorRecord record;
  record.dtype = dtype;
  record.quantized = true;
  record.scale = quant.scale;
  record.zero_point = quant.zero_point;
  std::vector<std::byte> bytes(values.size() * SizeOf(dtype));
  StoreValues(record, values, bytes);
  return bytes;
}

}  // namespace rshift
