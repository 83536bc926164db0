// model_tool compare and stats.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/names.h"
#include "calibrate/data/dataset.h"
#include "calibrate/statistics.h"
#include "pipeline/compare.h"
#include "pipeline/tensor_view.h"
#include "tools/print.h"
#include "tools/tool_commands.h"
#include "tools/tool_main.h"

namespace rshift {
namespace {

std::vector<float> Floats(const NumpyArray& array) {
  const TensorRecord record{
      array.name, array.dtype, Layout::kPlain, Region::kArena, false, 0, 0, array.shape, 0};
  return OnnxFloats(record, std::as_bytes(std::span(array.bytes)));
}

using Arrays = std::map<std::string, NumpyArray>;

// `used[i]` becomes true when exception i leaves out an array.
Arrays ReadArrays(const std::string& path, const CompareArguments& arguments,
                  std::vector<bool>& used) {
  const auto is_left_out = [&](const std::string& name) {
    bool left_out = false;
    for (size_t i = 0; i < arguments.exceptions.size(); ++i) {
      if (!MatchesGlob(arguments.exceptions[i], name)) continue;
      left_out = used[i] = true;
    }
    return left_out;
  };
  Arrays arrays;
  std::vector<std::string> texts;
  for (NumpyArray& array : ReadNpz(path, &texts)) {
    if (!is_left_out(array.name)) arrays[array.name] = std::move(array);
  }
  for (const std::string& name : texts) {
    if (!is_left_out(name))
      PrintNote(Cat(path, ": '", name, "' holds text, which is not compared; --except '", name,
                    "' where that is meant"));
  }
  return arrays;
}

std::vector<std::string> NamesOnlyIn(const Arrays& arrays, const Arrays& other) {
  std::vector<std::string> names;
  for (const auto& entry : arrays) {
    if (!other.contains(entry.first)) names.push_back(entry.first);
  }
  return names;
}

struct Row {
  std::string name;
  bool same_shape = true;
  Shape a, b;
  Similarity similarity;
  bool ok = false;
};

std::vector<Row> CompareArrays(const Arrays& a, const Arrays& b, const Tolerance& tolerance) {
  std::vector<Row> rows;
  for (const auto& [name, array] : a) {
    const auto match = b.find(name);
    if (match == b.end()) continue;
    Row row{name, array.shape == match->second.shape, array.shape, match->second.shape, {}, false};
    if (row.same_shape) {
      row.similarity = Compare(Floats(array), Floats(match->second));
      row.ok = tolerance.Accepts(row.similarity);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void PrintRow(const Row& row) {
  const std::string blanks(row.name.size() < 40 ? 40 - row.name.size() : 0, ' ');
  PrintText(Cat(row.ok ? "ok     " : "FAILED ", row.name, blanks, " "));
  if (row.same_shape) {
    const Similarity& s = row.similarity;
    std::printf("cosine %.6f euclid %.6f SQNR %.2f dB max |a-b| %.6g\n", s.cosine, s.euclid,
                s.sqnr_db, s.max_abs);
  } else {
    std::printf("shape %s, the reference has %s\n", ToString(row.a).c_str(),
                ToString(row.b).c_str());
  }
}

nlohmann::json RowJson(const Row& row) {
  nlohmann::json json = {
      {"name", row.name}, {"ok", row.ok}, {"shape", row.a}, {"reference_shape", row.b}};
  if (!row.same_shape) return json;
  const Similarity& s = row.similarity;
  json.update({{"equal", s.equal}, {"nan", s.has_nan}});
  if (!s.has_nan) {
    json.update({{"cosine", s.cosine},
                 {"euclid", s.euclid},
                 {"sqnr_db", s.sqnr_db},
                 {"max_abs", s.max_abs}});
  }
  return json;
}

std::string OnlyIn(const std::vector<std::string>& names, const std::string& file) {
  if (names.empty()) return "";
  std::string text = Cat("; only ", file, " has '", names[0], "'");
  if (names.size() > 1) text += Cat(" and ", names.size() - 1, " more");
  return text;
}

}  // namespace

int CompareCommand(const CompareArguments& arguments, bool json) {
  const Tolerance tolerance = ParseTolerance(arguments.tolerance);
  std::vector<bool> used(arguments.exceptions.size(), false);
  const Arrays a = ReadArrays(arguments.a, arguments, used);
  const Arrays b = ReadArrays(arguments.b, arguments, used);
  for (size_t i = 0; i < used.size(); ++i) {
    RSHIFT_REQUIRE(used[i], ErrorCode::kInvalidInput, "--except ", arguments.exceptions[i],
                   ": neither file has such an array");
  }
  const std::vector<Row> rows = CompareArrays(a, b, tolerance);
  const std::vector<std::string> only_a = NamesOnlyIn(a, b), only_b = NamesOnlyIn(b, a);
  RSHIFT_REQUIRE(!rows.empty(), ErrorCode::kInvalidInput, "nothing to compare: ", arguments.a,
                 " and ", arguments.b, " have no array of the same name",
                 OnlyIn(only_a, arguments.a), OnlyIn(only_b, arguments.b));
  const auto failed = static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.ok; }));
  if (json) {
    nlohmann::json arrays = nlohmann::json::array();
    for (const Row& row : rows) arrays.push_back(RowJson(row));
    PrintJson({{"compared", rows.size()},
               {"failed", failed},
               {"arrays", arrays},
               {"only_a", only_a},
               {"only_b", only_b}});
  } else {
    for (const Row& row : rows) PrintRow(row);
    for (const std::string& name : only_a)
      PrintText(Cat("only in ", arguments.a, ": ", name, "\n"));
    for (const std::string& name : only_b)
      PrintText(Cat("only in ", arguments.b, ": ", name, "\n"));
  }
  const bool same_names = arguments.common || (only_a.empty() && only_b.empty());
  if (failed == 0 && same_names) return 0;
  std::string why;
  if (failed > 0) {
    why = Cat(failed, " of ", Count(rows.size(), "array"), failed == 1 ? " is" : " are", " below ",
              arguments.tolerance, " (cosine,euclid) or of another shape");
  }
  if (!same_names) {
    why += Cat(OnlyIn(only_a, arguments.a), OnlyIn(only_b, arguments.b),
               " (--common compares what both have)");
  }
  Fail(ErrorCode::kInvalidInput, why.starts_with("; ") ? why.substr(2) : why);
}

int StatsCommand(const std::string& path, bool json) {
  const StatisticsFile file = ReadStatistics(ReadFile(path), path);
  if (!json) {
    std::printf("model_sha256 %s\nsamples %zu\n", file.model_sha256.c_str(), file.samples.size());
  }
  nlohmann::json tensors = nlohmann::json::array();
  for (const TensorStatistics& t : file.tensors) {
    if (json) {
      tensors.push_back({{"name", t.name},
                         {"count", t.count},
                         {"zeros", t.histogram.zeros},
                         {"min", t.min},
                         {"max", t.max},
                         {"octaves", t.histogram.pages.size()}});
      continue;
    }
    const std::string blanks(t.name.size() < 40 ? 40 - t.name.size() : 0, ' ');
    PrintText(t.name + blanks);
    std::printf(" count %llu zeros %llu min %.9g max %.9g octaves %zu\n",
                static_cast<unsigned long long>(t.count),
                static_cast<unsigned long long>(t.histogram.zeros), static_cast<double>(t.min),
                static_cast<double>(t.max), t.histogram.pages.size());
  }
  if (json) {
    PrintJson({{"file", path},
               {"model_sha256", file.model_sha256},
               {"samples", file.samples.size()},
               {"tensors", tensors}});
  }
  return 0;
}

}  // namespace rshift
