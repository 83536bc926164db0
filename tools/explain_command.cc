// model_tool explain: where the range of a tensor comes from.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "graph/passes/passes.h"
#include "pipeline/config_names.h"
#include "pipeline/explain.h"
#include "pipeline/input_shapes.h"
#include "pipeline/usage.h"
#include "quantize/equalize/apply.h"
#include "tools/print.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

std::string Number(const nlohmann::json& number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", number.get<double>());
  return text;
}

std::string RangeText(const nlohmann::json& ends) {
  return Cat("[", Number(ends[0]), ", ", Number(ends[1]), "]");
}

std::string ModeText(const std::string& mode, const nlohmann::json& found) {
  const nlohmann::json& own = found["table"][mode];
  std::string text = Cat("  ", mode, ": ", RangeText(own["range"]));
  if (own.contains("clipped")) {
    text += Cat(", clips ", Number(100 * own["clipped"].get<double>()),
                " % of the elements, expected SQNR ", Number(own["sqnr_db"]), " dB");
  }
  text += "\n";
  if (!found.contains(mode)) return text;
  for (const nlohmann::json& change : found[mode]["propagation"]) {
    text +=
        Cat("    ", change["rule"].get<std::string>(), ": ", change["reason"].get<std::string>(),
            ": ", RangeText(change["before"]), " -> ", RangeText(change["after"]), "\n");
  }
  const nlohmann::json& last = found[mode]["final"];
  if (last.is_null())
    return text + "    no integers of its own (F32, or part of another command)\n";
  return text + Cat("    ", last["type"].get<std::string>(), ", scale ", Number(last["scale"]),
                    ", zero point ", last["zero_point"].get<int>(), ": ", RangeText(last["range"]),
                    "\n");
}

std::string TensorText(const nlohmann::json& found) {
  const nlohmann::json& seen = found["observed"];
  std::string text =
      Cat("'", found["tensor"].get<std::string>(), "'\n  seen: ", Number(seen["min"]), " to ",
          Number(seen["max"]), " in ", seen["samples"].get<int64_t>(), " samples");
  if (const auto sample = seen["min_sample"].get<std::string>(); !sample.empty())
    text +=
        Cat("; least in '", sample, "', greatest in '", seen["max_sample"].get<std::string>(), "'");
  if (seen["infinities"] > 0)
    text += Cat("; ", seen["infinities"].get<uint64_t>(), " infinities of masks left out");
  const auto reason = found["table"]["reason"].get<std::string>();
  text += Cat("\n  method: ", found["table"]["method"].get<std::string>(),
              reason.empty() ? "" : "; " + reason, "\n");
  const auto node = [](const nlohmann::json& one) {
    return Cat(one[1].get<std::string>(), " '", one[0].get<std::string>(), "'");
  };
  if (found.contains("trial")) {
    text += Cat("  model_deploy tries to scale its channels: '", found["trial"].get<std::string>(),
                "' is what it is then\n");
  }
  if (found.contains("consumers")) {
    text +=
        Cat("  made by: ",
            found["made_by"].is_null() ? "nothing: an input of the model" : node(found["made_by"]),
            "\n  read by: ");
    std::string readers;
    for (const nlohmann::json& reader : found["consumers"])
      readers += (readers.empty() ? "" : ", ") + node(reader);
    text += (readers.empty() ? "nothing: an output of the model" : readers) + "\n";
  }
  return text + ModeText("symmetric", found) + ModeText("asymmetric", found);
}

std::string JoinsText(const nlohmann::json& joins) {
  std::string text = joins.empty() ? "no joined tensors whose ranges lie more than 8 times apart\n"
                                   : "joined tensors whose ranges lie more than 8 times apart:\n";
  for (const nlohmann::json& join : joins) {
    text += Cat("  ", join["op"].get<std::string>(), " '", join["node"].get<std::string>(), "', ",
                join["mode"].get<std::string>(), ": ", Number(join["ratio"]), " times\n");
    for (const nlohmann::json& input : join["inputs"]) {
      text += Cat("    '", input["tensor"].get<std::string>(), "' ", RangeText(input["range"]),
                  ": ", Number(input["quanta"]), " steps of the output\n");
    }
  }
  return text;
}

}  // namespace

int ExplainCommand(const ExplainArguments& a, const ImportOptions& import, bool json) {
  RequireUsage(!a.tensor.empty() || !a.model.empty(),
               "give a TENSOR, or --model for the list of joins");
  CalibrationTable table = ReadTable(ReadSmallText(a.table), a.table);
  // A tensor that only a trial scales is explained as the trial makes it.
  const bool tried = std::any_of(table.trial_tensors.begin(), table.trial_tensors.end(),
                                 [&](const auto& entry) { return entry.first == a.tensor; });
  if (tried) table = WithTrial(std::move(table));
  std::optional<Graph> graph;
  if (!a.model.empty()) {
    const Graph imported = ImportOnnx(a.model, WithShapesOf(table, import));
    graph = RunPasses(imported);
    const std::string fate = FateOfName(imported, *graph, a.tensor);
    RSHIFT_REQUIRE(fate.empty(), ErrorCode::kInvalidInput, a.table, ": has no tensor '", a.tensor,
                   "': it ", fate);
    graph = Equalize(std::move(*graph), table.equalization, a.table);
  }
  nlohmann::json found = a.tensor.empty()
                             ? nlohmann::json::object()
                             : ExplainTensor(table, a.table, a.tensor, graph ? &*graph : nullptr);
  if (a.tensor.empty()) found["joins"] = JoinsFarApart(table, *graph);
  if (json)
    PrintJson(found);
  else
    PrintText(a.tensor.empty() ? JoinsText(found["joins"]) : TensorText(found));
  return 0;
}

}  // namespace rshift
