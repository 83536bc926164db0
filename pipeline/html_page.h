// HTML pages that are one file: style, script and data inside, nothing fetched.
#ifndef RSHIFT_PIPELINE_HTML_PAGE_H_
#define RSHIFT_PIPELINE_HTML_PAGE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rshift {

struct HtmlPage {
  std::string title;  // any text
  std::vector<const char*> styles;
  std::string data_id;  // the script reads `data` from the element of this id
  nlohmann::json data;
  std::vector<const char*> scripts;  // in this order; none holds the end tag of a script element
  std::string summary;               // shown below what the script builds; may be empty
  std::string without_script;        // what a reader without JavaScript is told
};

// The page has an empty <main> for its script to fill.
std::string HtmlText(const HtmlPage& page);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_HTML_PAGE_H_
