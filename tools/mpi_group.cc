#include "tools/mpi_group.h"

#include <dlfcn.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tools/mpi_module.h"

namespace rshift {
namespace {

constexpr const char* kModule = "rshift_mpi.so";

template <typename Function>
void FindFunction(void* module, const char* name, Function*& function) {
  void* const symbol = dlsym(module, name);
  RSHIFT_REQUIRE(symbol != nullptr, ErrorCode::kUnsupported, kModule, " has no ", name,
                 "; expected the one that was built with this program");
  function = reinterpret_cast<Function*>(symbol);
}

void* LoadModule() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::string reasons;
  for (const fs::path& path : {folder / kModule, folder / "../lib/rshift" / kModule}) {
    if (void* const module = dlopen(path.c_str(), RTLD_NOW)) return module;
    reasons += Cat(reasons.empty() ? "" : "; ", dlerror());
  }
  Fail(ErrorCode::kUnsupported, "mpirun runs this program without --shard, which needs ", kModule,
       " (built where CMake finds MPI: apt-get install libopenmpi-dev; ", reasons,
       "); or give --shard auto and merge the statistics");
}

void Require(int status, const char* what) {
  RSHIFT_REQUIRE(status == 0, ErrorCode::kIo, "MPI: ", what, " failed with code ", status);
}

class LoadedGroup : public MpiGroup {
 public:
  LoadedGroup() {
    void* const module = LoadModule();  // stays loaded: MPI's threads outlive it
    int (*start)(int*, int*) = nullptr;
    FindFunction(module, "RshiftMpiStart", start);
    FindFunction(module, "RshiftMpiSend", send_);
    FindFunction(module, "RshiftMpiReceiveSize", receive_size_);
    FindFunction(module, "RshiftMpiReceive", receive_);
    FindFunction(module, "RshiftMpiFinish", finish_);
    Require(start(&rank_, &size_), "MPI_Init");
  }
  LoadedGroup(const LoadedGroup&) = delete;
  LoadedGroup& operator=(const LoadedGroup&) = delete;
  ~LoadedGroup() override { finish_(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void Send(int to, std::span<const uint8_t> bytes) override {
    Require(send_(to, bytes.data(), bytes.size()), "sending");
  }
  std::vector<uint8_t> Receive(int from) override {
    uint64_t size = 0;
    Require(receive_size_(from, &size), "receiving");
    std::vector<uint8_t> bytes(size);
    Require(receive_(from, bytes.data(), size), "receiving");
    return bytes;
  }

 private:
  int rank_ = 0, size_ = 1;
  int (*send_)(int, const void*, uint64_t) = nullptr;
  int (*receive_size_)(int, uint64_t*) = nullptr;
  int (*receive_)(int, void*, uint64_t) = nullptr;
  void (*finish_)() = nullptr;
};

}  // namespace

int MpiRanks(const Environment& environment) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* text = environment(name);
    const std::string_view found = text == nullptr ? "" : text;
    int ranks = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), ranks);
    if (error == std::errc() && end == found.data() + found.size() && ranks > 1) return ranks;
  }
  return 1;
}

std::unique_ptr<MpiGroup> JoinMpiGroup() { return std::make_unique<LoadedGroup>(); }

}  // namespace rshift
