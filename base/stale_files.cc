#include "base/stale_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file_descriptor.h"

namespace rshift {
namespace {

constexpr std::string_view kPrefix = ".rshift-";
constexpr std::string_view kSuffix = ".tmp";

// "" where /proc does not say: then nothing is ever taken for stale.
std::string ReadDomain() {
  const FileDescriptor fd(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char boot[8];  // of the 36 characters of a random UUID
  struct stat status {};
  if (fd.get() < 0 || read(fd.get(), boot, sizeof(boot)) != sizeof(boot) ||
      stat("/proc/self/ns/pid", &status) != 0) {
    return "";
  }
  return Cat(std::string(boot, sizeof(boot)), std::hex, status.st_ino);
}

const std::string& Domain() {
  static const std::string domain = ReadDomain();
  return domain;
}

// The process of a temporary file of this domain; -1 for any other name.
pid_t ProcessOf(std::string_view name) {
  const std::string start = Cat(kPrefix, Domain(), "-");
  if (Domain().empty() || !name.starts_with(start)) return -1;
  name.remove_prefix(start.size());
  pid_t pid = -1;
  const char* end = name.data() + name.size();
  const auto [behind_pid, pid_error] = std::from_chars(name.data(), end, pid);
  if (pid_error != std::errc() || pid <= 0 || behind_pid == end || *behind_pid != '-') return -1;
  uint64_t number = 0;
  const auto [behind, error] = std::from_chars(behind_pid + 1, end, number);
  const std::string_view rest(behind, static_cast<size_t>(end - behind));
  const bool is_ours = rest == kSuffix || rest.starts_with(".tmp.");
  return error == std::errc() && is_ours ? pid : -1;
}

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};

bool IsGone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace

std::string TemporaryName(pid_t pid, uint64_t number) {
  return Cat(kPrefix, Domain(), "-", pid, "-", number, kSuffix);
}

void RemoveStaleFiles(const std::string& directory) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  const std::lock_guard lock(mutex);
  if (!seen.insert(directory).second) return;
  const int before = errno;
  const std::unique_ptr<DIR, CloseDirectory> stream(opendir(directory.c_str()));
  std::vector<std::string> stale;
  while (stream != nullptr) {
    const dirent* entry = readdir(stream.get());
    if (entry == nullptr) break;
    const pid_t pid = ProcessOf(entry->d_name);
    if (pid > 0 && IsGone(pid)) stale.emplace_back(entry->d_name);
  }
  for (const std::string& name : stale) (void)unlink(Cat(directory, "/", name).c_str());
  errno = before;
}

}  // namespace rshift
