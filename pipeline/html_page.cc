#include "pipeline/html_page.h"

#include "pipeline/json_text.h"

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

// Nothing is fetched, whatever the page holds; pictures are in it.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

}  // namespace

std::string HtmlText(const HtmlPage& page) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + Escape(kPolicy) + "\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width\">\n";
  out += "<title>" + Escape(page.title) + " - rshift</title>\n<style>\n";
  for (const char* style : page.styles) out += style;
  out += "</style>\n</head>\n<body>\n<h1>" + Escape(page.title) + "</h1>\n<main></main>\n";
  if (!page.summary.empty()) out += "<h2>Summary</h2>\n<pre>" + Escape(page.summary) + "</pre>\n";
  out += "<noscript>" + Escape(page.without_script) + "</noscript>\n";
  out += "<script type=\"application/json\" id=\"" + Escape(page.data_id) + "\">" +
         ScriptData(page.data) + "</script>\n";
  for (const char* script : page.scripts) out += std::string("<script>\n") + script + "</script>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace rshift
