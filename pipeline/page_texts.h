// Styles and scripts of HTML pages: the .css and .js files of this folder, as the build embeds them
// (pipeline/CMakeLists.txt).
#ifndef RSHIFT_PIPELINE_PAGE_TEXTS_H_
#define RSHIFT_PIPELINE_PAGE_TEXTS_H_

namespace rshift {

extern const char* const kPageStyle;        // what all pages share; the others come behind it
extern const char* const kTableStyle;       // of tables with legends and histograms
extern const char* const kPageToolsScript;  // comes before scripts that take pageTools
extern const char* const kReportStyle;
extern const char* const kReportScript;
extern const char* const kCalibrationStyle;
extern const char* const kCalibrationScript;
extern const char* const kSearchStyle;
extern const char* const kSearchScript;
extern const char* const kGraphStyle;
extern const char* const kGraphScript;
extern const char* const kDagreScript;  // places the nodes of a graph: window.dagre

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_PAGE_TEXTS_H_
