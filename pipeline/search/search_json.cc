#include "pipeline/search/search_json.h"

#include <cmath>

#include "pipeline/html_page.h"
#include "pipeline/page_texts.h"

namespace rshift {
namespace {

nlohmann::json FiniteOrNull(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

template <typename T>
nlohmann::json OrNull(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json FiguresJson(const ScoreFigures& f) {
  nlohmann::json json = {{"sqnr_db", FiniteOrNull(f.decibels)},
                         {"standard_error_db", FiniteOrNull(f.error)},
                         {"cosine", FiniteOrNull(f.cosine)}};
  if (f.classes) json["same_class_percent"] = f.agree_percent;
  if (f.boxes)
    json.update({{"boxes_recall", f.boxes->recall()}, {"boxes_precision", f.boxes->precision()}});
  if (f.labelled)
    json.update({{"top1_percent", f.top1_percent}, {"float_top1_percent", f.float_top1_percent}});
  return json;
}

nlohmann::json PointJson(const SearchPoint& p) {
  return {{"step", p.step},
          {"options", p.options},
          {"made_on", FiguresJson(p.making)},
          {"judged_on", FiguresJson(p.judging)},
          {"time", p.time},
          {"macs_16", p.share_16},
          {"macs_float", p.share_float},
          {"groups_16", p.groups_16},
          {"groups_float", p.groups_float},
          {"float_layers", p.layers_float},
          {"conversions", p.conversions},
          {"reaches", p.reaches},
          {"pareto", p.pareto},
          {"chosen", p.chosen}};
}

nlohmann::json GroupJson(const SearchGroup& g) {
  return {{"tensors", g.tensors},
          {"ops", g.ops},
          {"bits", g.bits},
          {"noise_8", OrNull(g.noise_8)},
          {"noise_16", OrNull(g.noise_16)}};
}

}  // namespace

nlohmann::json SearchJson(const SearchReport& report) {
  nlohmann::json json = {{"budget",
                          {{"cosine", OrNull(report.budget.cosine)},
                           {"top1", OrNull(report.budget.top1)},
                           {"boxes", OrNull(report.budget.boxes)},
                           {"float_layers", OrNull(report.budget.float_layers)},
                           {"evaluations", OrNull(report.budget.evaluations)}}},
                         {"samples", report.samples},
                         {"judged", report.judged},
                         {"divided", report.divided},
                         {"evaluations", report.evaluations},
                         {"sensitivity_passes", report.sensitivity_passes},
                         {"measuring_runs", report.measuring_runs},
                         {"one_by_one", report.one_by_one},
                         {"reached", report.reached},
                         {"stopped", report.stopped},
                         {"options", report.command},
                         {"points", nlohmann::json::array()},
                         {"groups", nlohmann::json::array()}};
  for (const SearchPoint& point : report.points) json["points"].push_back(PointJson(point));
  for (const SearchGroup& group : report.groups) json["groups"].push_back(GroupJson(group));
  return json;
}

std::string SearchPage(const SearchReport& report, const std::string& model) {
  HtmlPage page;
  page.title = model;
  page.styles = {kPageStyle, kTableStyle, kSearchStyle};
  page.data_id = "search";
  page.data = SearchJson(report);
  page.scripts = {kPageToolsScript, kSearchScript};
  page.summary = SearchText(report);
  page.without_script =
      "The table and the picture of this page need JavaScript; --auto-report "
      "FILE.json has the same.";
  return HtmlText(page);
}

}  // namespace rshift
