// The report as one HTML page. What it shows is JsonReport(): the page's script reads that and
// builds tables from it as text, so that names need to be escaped in one place only.
#include "pipeline/json_text.h"
#include "pipeline/report_json.h"
#include "pipeline/report_page.h"

namespace rshift {
namespace {

// For element content and attribute values.
std::string Escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// JSON inside <script>: nothing in it may end the element or begin a comment. These characters are
// only found inside strings.
std::string ScriptData(const nlohmann::json& json) {
  std::string out;
  for (char c : JsonText(json)) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Nothing is fetched, whatever the page holds.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

}  // namespace

std::string HtmlReport(const DeployReport& report) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + Escape(kPolicy) + "\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width\">\n";
  out += "<title>" + Escape(report.model) + " - rshift</title>\n<style>\n";
  out += kReportStyle;
  out += "</style>\n</head>\n<body>\n<h1>" + Escape(report.model) + "</h1>\n<main></main>\n";
  out += "<h2>Summary</h2>\n<pre>" + Escape(TextReport(report)) + "</pre>\n";
  out +=
      "<noscript>The tables of this page need JavaScript; --report-json has the same.</noscript>\n";
  out += "<script type=\"application/json\" id=\"report\">" + ScriptData(JsonReport(report));
  out += "</script>\n<script>\n";
  out += kReportScript;
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace rshift
