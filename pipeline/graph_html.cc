// The picture of a graph as one HTML page.
#include <set>

#include "base/error.h"
#include "pipeline/graph_json.h"
#include "pipeline/html_page.h"
#include "pipeline/page_texts.h"

namespace rshift {

void AddFigures(const nlohmann::ordered_json& report, const std::string& where,
                nlohmann::json& graph) {
  const auto layers = report.is_object() ? report.find("layers") : report.end();
  RSHIFT_REQUIRE(report.is_object() && layers != report.end() && layers->is_array(),
                 ErrorCode::kInvalidInput, where,
                 ": no list of layers; expected what model_deploy --report-json writes");
  std::set<std::string> names;
  for (const auto& tensor : graph["tensors"]) names.insert(tensor["name"].get<std::string>());
  nlohmann::json figures = nlohmann::json::array();
  for (const auto& layer : *layers) {
    if (!layer.is_object() || !layer.contains("tensor") || !layer["tensor"].is_string()) continue;
    if (names.count(layer["tensor"].get<std::string>()) == 0) continue;
    nlohmann::json row;
    for (const char* key : {"tensor", "sqnr_db", "cosine", "max_abs", "saturated", "elements"})
      row[key] = layer.value(key, nlohmann::json());
    const auto alone = layer.find("alone");
    row["alone_db"] = alone != layer.end() && alone->is_object()
                          ? alone->value("sqnr_db", nlohmann::json())
                          : nlohmann::json();
    figures.push_back(std::move(row));
  }
  RSHIFT_REQUIRE(layers->empty() || !figures.empty(), ErrorCode::kInvalidInput, where,
                 ": none of its ", layers->size(),
                 " layers is a tensor of this graph; expected the report of the same program");
  graph["layers"] = std::move(figures);
}

std::string GraphHtml(const std::string& title, const nlohmann::json& graph) {
  HtmlPage page;
  page.title = title;
  page.styles = {kPageStyle, kGraphStyle};
  page.data_id = "graph";
  page.data = graph;
  page.scripts = {kDagreScript, kGraphScript};
  page.without_script =
      "The picture needs JavaScript; model_tool graph --json and model_tool memory have the same.";
  return HtmlText(page);
}

}  // namespace rshift
