// The style and the script of HTML reports: report_page.css and report_page.js, as the build embeds
// them (pipeline/CMakeLists.txt).
#ifndef RSHIFT_PIPELINE_REPORT_PAGE_H_
#define RSHIFT_PIPELINE_REPORT_PAGE_H_

namespace rshift {

extern const char* const kReportStyle;
extern const char* const kReportScript;

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_REPORT_PAGE_H_
