// A search as JSON and as one HTML page, which shows that.
#ifndef RSHIFT_PIPELINE_SEARCH_SEARCH_JSON_H_
#define RSHIFT_PIPELINE_SEARCH_SEARCH_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/search/search.h"

namespace rshift {

nlohmann::json SearchJson(const SearchReport& report);
// `model`: its name, the title.
std::string SearchPage(const SearchReport& report, const std::string& model);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_SEARCH_JSON_H_
