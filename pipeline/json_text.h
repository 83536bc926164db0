// JSON as text.
#ifndef RSHIFT_PIPELINE_JSON_TEXT_H_
#define RSHIFT_PIPELINE_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace rshift {

// `indent` -1: one line. Names come from files and may be no UTF-8: what is not becomes U+FFFD, for
// readers refuse anything else. NaN and infinities are null.
std::string JsonText(const nlohmann::json& json, int indent = -1);
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_JSON_TEXT_H_
