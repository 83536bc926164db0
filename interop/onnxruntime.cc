// Calibration ranges of ONNX Runtime as JSON: save_tensors_data(), {"CLS": "TensorsData", "data":
// {tensor: {"CLS": "TensorData", "lowest": array, "highest": array}}}, write_calibration_table()'s
// calibration.json, which is the inner map alone, and that of older versions, {tensor: [low,
// high]}. An array is a number, a list, or {"CLS": "numpy.array", "data": ..., "dtype": ...}.
// Source: onnxruntime/quantization/calibrate.py and quant_utils.py of ONNX Runtime 1.31.
#include "interop/format_list.h"
#include "interop/json_file.h"

namespace rshift {
namespace {

// {"CLS": ...}, or {name: [number ... or {name: {"CLS" or "lowest" ...: by its own keys, for there
// are many tables in JSON.
bool Recognise(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || text[begin] != '{') return false;
  for (const char* key : {"\"CLS\"", "\"lowest\"", "\"TensorsData\""}) {
    if (text.find(key) != std::string::npos) return true;
  }
  const size_t colon = text.find(':', begin);
  const size_t list =
      colon == std::string::npos ? colon : text.find_first_not_of(" \t\r\n", colon + 1);
  const size_t number =
      list == std::string::npos ? list : text.find_first_not_of(" \t\r\n", list + 1);
  return number != std::string::npos && text[list] == '[' &&
         std::string("-0123456789").find(text[number]) != std::string::npos;
}

std::vector<double> ArrayOf(const Json& value, const std::string& what) {
  const Json& data = value.is_object() ? Member(value, "data", what) : value;
  std::vector<double> numbers = JsonNumbers(data, what);
  RSHIFT_REQUIRE(!numbers.empty(), ErrorCode::kInvalidInput, what, ": an empty list");
  return numbers;
}

ScaleEntry EntryOf(const std::string& name, const Json& value, const std::string& what) {
  ScaleEntry entry{.name = name};
  if (value.is_array()) {
    RSHIFT_REQUIRE(value.size() == 2, ErrorCode::kInvalidInput, what, ": ", value.size(),
                   " numbers, expected [low, high]");
    entry.low = ArrayOf(value[0], what);
    entry.high = ArrayOf(value[1], what);
    return entry;
  }
  RSHIFT_REQUIRE(!value.is_object() || value.contains("lowest") || !value.contains("avg"),
                 ErrorCode::kUnsupported, what,
                 ": average and deviation alone (the Distribution method); calibrate with MinMax, "
                 "Entropy or Percentile");
  entry.low = ArrayOf(Member(value, "lowest", what), what + ": lowest");
  entry.high = ArrayOf(Member(value, "highest", what), what + ": highest");
  return entry;
}

ScaleSet Read(const std::string& text, const std::string& where) {
  const Json json = ParseJson(text, where);
  ScaleSet set;
  const bool outer = json.contains("CLS");
  if (outer && json.contains("calibration_method") && json["calibration_method"].is_object()) {
    const std::string method = JsonString(
        Member(json["calibration_method"], "value", where + ": calibration_method"), where);
    set.method = method.substr(method.find('.') + 1);
  }
  const Json& data = outer ? Member(json, "data", where) : json;
  RSHIFT_REQUIRE(data.is_object(), ErrorCode::kInvalidInput, where, ": data: expected an object");
  for (const auto& [name, value] : data.items())
    set.entries.push_back(EntryOf(name, value, where + ": '" + name + "'"));
  return set;
}

Json Array(const std::vector<double>& numbers) {
  Json array = {{"CLS", "numpy.array"}, {"dtype", "float32"}};
  // Numbers of float32, in the decimals that Python writes of them.
  std::vector<double> floats;
  floats.reserve(numbers.size());
  for (const double number : numbers)
    floats.push_back(static_cast<double>(static_cast<float>(number)));
  array["data"] = floats.size() == 1 ? Json(floats[0]) : Json(floats);
  return array;
}

std::string Write(const ScaleSet& set, const WriteOptions&, Losses* losses) {
  Json data = Json::object();
  for (const ScaleEntry& entry : set.entries) {
    if (entry.subject != Subject::kTensor) {
      ++(*losses)[Cat("scales of ", Name(entry.subject),
                      " left out: ONNX Runtime's ranges are of activations by tensor")];
      continue;
    }
    if (entry.is_float) {
      ++(*losses)["tensors in floating point left out: ONNX Runtime has ranges only"];
      continue;
    }
    if (entry.threshold && !entry.low.empty())
      ++(*losses)["thresholds left out where there is a range: ONNX Runtime has ranges only"];
    if (entry.bits != 8) ++(*losses)["widths other than 8 bits left out: the range stays"];
    const AxisRange range = RangeOf(entry);
    data[entry.name] = {
        {"CLS", "TensorData"}, {"lowest", Array(range.low)}, {"highest", Array(range.high)}};
  }
  if (!set.precisions.empty())
    (*losses)["precisions of operators left out: ONNX Runtime's ranges have none"] =
        static_cast<int64_t>(set.precisions.size());
  const bool known = set.method == "Entropy" || set.method == "Percentile";
  const std::string method = known ? set.method : "MinMax";
  return JsonFileText({{"CLS", "TensorsData"},
                       {"data", data},
                       {"calibration_method",
                        {{"CLS", "CalibrationMethod"}, {"value", "CalibrationMethod." + method}}},
                       {"smooth_quant", false}});
}

}  // namespace

const ScaleFormat kOnnxRuntime = {
    "onnxruntime", "calibration ranges of ONNX Runtime, JSON", ".json", Recognise, Read, Write};

}  // namespace rshift
