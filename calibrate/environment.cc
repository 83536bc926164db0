#include "calibrate/environment.h"

#include <fstream>

#include "runtime/onednn/float_library.h"

namespace rshift {
namespace {

std::string CpuName() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

std::map<std::string, std::string> DescribeEnvironment() {
  return {{"cpu", CpuName()}, {"onednn", OneDnnVersion()}, {"rshift", RSHIFT_VERSION}};
}

}  // namespace rshift
