// model_tool weights: the constants of a program or a model as a table, and as .npy files.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/model_file.h"
#include "runtime/onednn/float_library.h"
#include "runtime/runtime.h"
#include "tools/constant_table.h"
#include "tools/paths.h"
#include "tools/print.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

std::vector<ConstantRow> ReadConstants(const WeightsArguments& a, const ImportOptions& import) {
  if (!IsProgramFile(ReadFile(a.file)))
    return ConstantsOf(ImportModel({a.file}, import, PrintNote));
  RefuseModelOption(a.file, a.model_option);
  RegisterFloatLibrary();
  return ConstantsOf(Program::Load(a.file, {.limits = Limits::None()}));
}

// "00012_conv1.weights.npy": in the order of the table, so that no two are the same.
std::string NpyName(size_t index, std::string name) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%05zu_", index);
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
  };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !is_plain(c); }, '_');
  constexpr size_t kLongest = 200;  // file systems take 255 bytes
  return number.data() + name.substr(0, kLongest) + ".npy";
}

// Whole numbers with all their digits.
std::string Number(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  const bool is_whole = std::fabs(value) < kExact && std::nearbyint(value) == value;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), is_whole ? "%.0f" : "%.6g", value);
  return text.data();
}

std::string ScaleText(const std::vector<float>& scales) {
  if (scales.empty()) return "-";
  const auto [least, largest] = std::minmax_element(scales.begin(), scales.end());
  if (scales.size() == 1) return Number(*least);
  return Cat(scales.size(), ": ", Number(*least), "..", Number(*largest));
}

std::string Percent(double share) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.2f", 100 * share);
  return text.data();
}

std::string TypeOf(const ConstantRow& row) {
  if (!row.has_numbers) return "bytes";
  if (row.bits == 4) return row.values.dtype == DType::kS8 ? "s4" : "u4";
  return Name(row.values.dtype);
}

size_t BytesOf(const ConstantRow& row) {
  return row.bits == 4 ? (row.values.bytes.size() + 1) / 2 : row.values.bytes.size();
}

std::vector<std::string> Cells(const ConstantRow& row) {
  const ConstantFigures figures = FiguresOf(row.values, row.bits);
  const bool numbers = row.has_numbers && !row.values.bytes.empty();
  return {row.name,
          row.op,
          ToString(row.values.shape),
          TypeOf(row),
          ScaleText(row.scales),
          numbers ? Number(figures.min) : "-",
          numbers ? Number(figures.max) : "-",
          numbers ? Percent(figures.zeros) : "-",
          numbers && figures.has_ends ? Percent(figures.ends) : "-",
          std::to_string(BytesOf(row))};
}

// Names and operators to the left, figures to the right.
void PrintTable(const std::vector<ConstantRow>& rows) {
  std::vector<std::vector<std::string>> table = {
      {"name", "op", "shape", "type", "scale", "min", "max", "zeros %", "ends %", "bytes"}};
  size_t bytes = 0;
  for (const ConstantRow& row : rows) {
    table.push_back(Cells(row));
    bytes += BytesOf(row);
  }
  std::vector<size_t> widths(table[0].size(), 0);
  for (const auto& cells : table) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  constexpr size_t kLeft = 2;
  for (const auto& cells : table) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string blanks(widths[i] - cells[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (i < kLeft ? cells[i] + blanks : blanks + cells[i]);
    }
    PrintText(line + "\n");
  }
  PrintText(Cat(Count(rows.size(), "constant"), ", ", bytes, " bytes\n"));
}

nlohmann::json ConstantJson(const ConstantRow& row, const std::string& file) {
  nlohmann::json json = {{"name", row.name},          {"op", row.op},        {"node", row.node},
                         {"shape", row.values.shape}, {"type", TypeOf(row)}, {"scales", row.scales},
                         {"bytes", BytesOf(row)}};
  if (row.has_numbers && !row.values.bytes.empty()) {
    const ConstantFigures figures = FiguresOf(row.values, row.bits);
    json.update({{"min", figures.min}, {"max", figures.max}, {"zeros", figures.zeros}});
    if (figures.has_ends) json["ends"] = figures.ends;
  }
  if (!file.empty()) json["file"] = file;
  return json;
}

}  // namespace

int WeightsCommand(const WeightsArguments& a, const ImportOptions& import, bool json) {
  CheckOutputName({"--output", a.output});
  const std::vector<ConstantRow> rows = ReadConstants(a, import);
  std::vector<std::string> files(rows.size());
  if (!a.output.empty()) {
    std::error_code failed;
    fs::create_directories(a.output, failed);
    RSHIFT_REQUIRE(!failed, ErrorCode::kIo, a.output,
                   ": cannot make the folder: ", failed.message());
    for (size_t i = 0; i < rows.size(); ++i) {
      files[i] = (fs::path(a.output) / NpyName(i, rows[i].name)).string();
      CheckPaths({.inputs = {{"the file", a.file}}, .outputs = {{"--output", files[i]}}});
      WriteNpy(files[i], rows[i].values);
    }
  }
  if (!json) {
    PrintTable(rows);
    return 0;
  }
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < rows.size(); ++i) list.push_back(ConstantJson(rows[i], files[i]));
  PrintJson({{"file", a.file}, {"constants", std::move(list)}});
  return 0;
}

}  // namespace rshift
