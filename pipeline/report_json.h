// Deploy's report as JSON: --report-json, --json, and what the HTML page shows.
#ifndef RSHIFT_PIPELINE_REPORT_JSON_H_
#define RSHIFT_PIPELINE_REPORT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/report.h"

namespace rshift {

nlohmann::json JsonReport(const DeployReport& report);
// Parts of it.
nlohmann::json VerdictJson(const Verdict& verdict);
nlohmann::json SensitivityJson(const Sensitivity& sensitivity);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_REPORT_JSON_H_
