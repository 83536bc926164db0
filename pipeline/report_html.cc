// The report as one HTML page. What it shows is JsonReport(): the page's script reads that and
// builds tables from it as text.
#include "pipeline/html_page.h"
#include "pipeline/page_texts.h"
#include "pipeline/report_json.h"

namespace rshift {

std::string HtmlReport(const DeployReport& report) {
  HtmlPage page;
  page.title = report.model;
  page.styles = {kPageStyle, kTableStyle, kReportStyle};
  page.data_id = "report";
  page.data = JsonReport(report);
  page.scripts = {kPageToolsScript, kReportScript};
  page.summary = TextReport(report);
  page.without_script = "The tables of this page need JavaScript; --report-json has the same.";
  return HtmlText(page);
}

}  // namespace rshift
