#include "calibrate/environment.h"

#include <fstream>

#include "runtime/onednn/float_library.h"

namespace rshift {
namespace {

constexpr const char *kArithmetic = "arithmetic", *kPortable = "portable";

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

std::map<std::string, std::string> DescribeEnvironment(bool portable) {
  if (portable) return {{kArithmetic, kPortable}, {"rshift", RSHIFT_VERSION}};
  return {{"cpu", CpuName()}, {"onednn", OneDnnVersion()}, {"rshift", RSHIFT_VERSION}};
}

bool IsPortable(const std::map<std::string, std::string>& environment) {
  const auto found = environment.find(kArithmetic);
  return found != environment.end() && found->second == kPortable;
}

}  // namespace rshift
