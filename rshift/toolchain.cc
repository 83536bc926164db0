#include "rshift/toolchain.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "calibrate/statistics.h"
#include "calibrate/threshold.h"
#include "pipeline/compare.h"
#include "pipeline/deploy.h"
#include "pipeline/json_text.h"
#include "pipeline/report.h"
#include "pipeline/report_json.h"
#include "pipeline/search/search.h"
#include "rshift/c_status.h"
#include "rshift/float_kernels.h"
#include "rshift/toolchain_options.h"

namespace rshift {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// Of malloc, with a 0 behind it: what a caller frees. Ours until all that a function gives is made.
struct Copy {
  explicit Copy(std::string_view bytes)
      : memory(static_cast<char*>(std::malloc(bytes.size() + 1))), size(bytes.size()) {
    if (memory == nullptr) throw std::bad_alloc();
    std::memcpy(memory.get(), bytes.data(), bytes.size());
    memory.get()[size] = 0;
  }
  explicit Copy(const std::vector<uint8_t>& bytes)
      : Copy(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())) {}

  char* release() { return memory.release(); }
  rshift_bytes ReleaseBytes() { return {memory.release(), size}; }

  std::unique_ptr<char, Free> memory;
  size_t size;
};

// Guarded, and the caller's own wish to end is told from an error.
template <typename Options, typename Body>
rshift_status GuardedWork(const Options* options, const char* function, const Body& body) noexcept {
  CallersProgress progress(options == nullptr ? nullptr : options->progress,
                           options == nullptr ? nullptr : options->user);
  const rshift_status status = Guarded([&] {
    RequirePointer(options, function, "options");
    RegisterFloatKernels();
    body(OptionsOf(*options, function), progress.function());
  });
  return status != RSHIFT_OK && progress.interrupted() ? RSHIFT_INTERRUPTED : status;
}

std::string WarningLines(const DeployResult& result) {
  std::string lines;
  for (const std::string& warning : result.warnings) lines += warning + "\n";
  return lines;
}

// What --auto-config writes; nothing without a search.
std::string AutoConfigOf(const DeployOptions& given, const DeployReport& report) {
  if (!report.search) return "";
  const std::string config = given.config.path.empty() ? "" : ReadTextFile(given.config.path);
  return SearchConfigText(*report.search, config);
}

}  // namespace
}  // namespace rshift

using rshift::Copy;
using rshift::GuardedWork;
using rshift::RequirePointer;

extern "C" {

rshift_status rshift_calibrate(const rshift_calibrate_options* options, char** table) {
  return GuardedWork(options, "rshift_calibrate", [&](const auto& given, auto progress) {
    RequirePointer(table, "rshift_calibrate", "table");
    const auto result = rshift::Calibrate(given, {.progress = std::move(progress)});
    *table = Copy(rshift::WriteTable(result.table)).release();
  });
}

rshift_status rshift_collect(const rshift_calibrate_options* options, void** statistics,
                             size_t* size) {
  return GuardedWork(options, "rshift_collect", [&](const auto& given, auto progress) {
    RequirePointer(statistics, "rshift_collect", "statistics");
    RequirePointer(size, "rshift_collect", "size");
    const auto result = rshift::Calibrate(given, {.progress = std::move(progress)});
    Copy bytes(rshift::WriteStatistics(result.statistics));
    *size = bytes.size;
    *statistics = bytes.release();
  });
}

rshift_status rshift_merge(const rshift_bytes* statistics, size_t count, void** merged,
                           size_t* size) {
  return rshift::Guarded([&] {
    RequirePointer(merged, "rshift_merge", "merged");
    RequirePointer(size, "rshift_merge", "size");
    RSHIFT_REQUIRE(count > 0, rshift::ErrorCode::kInvalidInput,
                   "rshift_merge: no statistics, expected those of one run or more");
    RequirePointer(statistics, "rshift_merge", "statistics");
    rshift::StatisticsFile all;
    for (size_t i = 0; i < count; ++i) {
      RequirePointer(statistics[i].data, "rshift_merge", "statistics[].data");
      rshift::StatisticsFile next = rshift::ReadStatistics(
          {static_cast<const uint8_t*>(statistics[i].data), statistics[i].size},
          "statistics " + std::to_string(i));
      if (i == 0)
        all = std::move(next);
      else
        Merge(all, next);
    }
    Copy bytes(rshift::WriteStatistics(all));
    *size = bytes.size;
    *merged = bytes.release();
  });
}

rshift_status rshift_deploy(const rshift_deploy_options* options, void** program, size_t* size,
                            char** warnings) {
  return GuardedWork(options, "rshift_deploy", [&](const auto& given, auto progress) {
    RequirePointer(program, "rshift_deploy", "program");
    RequirePointer(size, "rshift_deploy", "size");
    const rshift::DeployResult result = rshift::Deploy(given, {.progress = std::move(progress)});
    Copy lines(rshift::WarningLines(result));
    Copy bytes(result.program);
    *size = bytes.size;
    *program = bytes.release();
    if (warnings != nullptr) *warnings = lines.release();
  });
}

rshift_status rshift_deploy_all(const rshift_deploy_options* options,
                                rshift_deployment* deployment) {
  return GuardedWork(options, "rshift_deploy_all", [&](const auto& given, auto progress) {
    RequirePointer(deployment, "rshift_deploy_all", "deployment");
    const rshift::DeployResult result = rshift::Deploy(given, {.progress = std::move(progress)});
    Copy program(result.program);
    Copy warnings(rshift::WarningLines(result));
    Copy text(rshift::TextReport(result.report));
    Copy json(rshift::JsonText(rshift::JsonReport(result.report)));
    Copy html(rshift::HtmlReport(result.report));
    Copy qdq(result.qdq);
    Copy auto_config(rshift::AutoConfigOf(given, result.report));
    *deployment = {.program = program.ReleaseBytes(),
                   .warnings = warnings.ReleaseBytes(),
                   .report_text = text.ReleaseBytes(),
                   .report_json = json.ReleaseBytes(),
                   .report_html = html.ReleaseBytes(),
                   .qdq = qdq.ReleaseBytes(),
                   .auto_config = auto_config.ReleaseBytes()};
  });
}

void rshift_deployment_free(rshift_deployment* deployment) {
  if (deployment == nullptr) return;
  for (rshift_bytes* part : {&deployment->program, &deployment->warnings, &deployment->report_text,
                             &deployment->report_json, &deployment->report_html, &deployment->qdq,
                             &deployment->auto_config}) {
    std::free(const_cast<void*>(part->data));
    *part = {nullptr, 0};
  }
}

rshift_status rshift_compare(const float* a, const float* b, size_t count,
                             rshift_similarity* similarity) {
  return rshift::Guarded([&] {
    RequirePointer(similarity, "rshift_compare", "similarity");
    if (count > 0) {
      RequirePointer(a, "rshift_compare", "a");
      RequirePointer(b, "rshift_compare", "b");
    }
    const rshift::Similarity found = rshift::Compare({a, count}, {b, count});
    *similarity = {.equal = found.equal ? 1 : 0,
                   .has_nan = found.has_nan ? 1 : 0,
                   .cosine = found.cosine,
                   .euclid = found.euclid,
                   .sqnr_db = found.sqnr_db,
                   .max_abs = found.max_abs};
  });
}

void rshift_free(void* memory) { std::free(memory); }

}  // extern "C"
