#include "tools/shard_environment.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/usage.h"

namespace rshift {
namespace {

constexpr std::string_view kAuto = "auto";

// What a scheduler says. count 0: it says none.
struct Place {
  std::string who;  // "SLURM_ARRAY_TASK_ID"
  int64_t index = 0, count = 0;
};

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  bool Has(const char* name) const { return environment_(name) != nullptr; }
  int64_t Number(const char* name) const {
    const char* text = environment_(name);
    const std::string_view found = text == nullptr ? "" : text;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    RequireUsage(
        !found.empty() && error == std::errc() && end == found.data() + found.size() && value >= 0,
        "--shard auto: the variable ", name, " is '", found,
        "', expected a number of 0 or more; give --shard I/N");
    return value;
  }

 private:
  const Environment& environment_;
};

// An array may begin anywhere and take steps, --array=1-15:2; one with gaps has no such numbering.
std::optional<Place> SlurmArray(const Variables& variables) {
  constexpr const char* kId = "SLURM_ARRAY_TASK_ID";
  if (!variables.Has(kId)) return std::nullopt;
  const int64_t id = variables.Number(kId), first = variables.Number("SLURM_ARRAY_TASK_MIN"),
                last = variables.Number("SLURM_ARRAY_TASK_MAX"),
                count = variables.Number("SLURM_ARRAY_TASK_COUNT"),
                step = variables.Has("SLURM_ARRAY_TASK_STEP")
                           ? variables.Number("SLURM_ARRAY_TASK_STEP")
                           : 1;
  RequireUsage(step > 0 && count > 0 && id >= first && id <= last && (id - first) % step == 0 &&
                   (last - first) / step + 1 == count,
               "--shard auto: the Slurm array has ", count, " tasks from ", first, " to ", last,
               " in steps of ", step, ", and this is ", id,
               ": expected an array without gaps, as --array=0-7; or give --shard I/N");
  return Place{kId, (id - first) / step, count};
}

std::optional<Place> Ranks(const Variables& variables) {
  struct Pair {
    const char *rank, *size;
  };
  for (const Pair& pair : {Pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                           Pair{"PMI_RANK", "PMI_SIZE"}, Pair{"SLURM_PROCID", "SLURM_NTASKS"}}) {
    if (!variables.Has(pair.rank) || !variables.Has(pair.size)) continue;
    // A batch script has them as well, and is no rank: srun starts those.
    if (std::string_view(pair.rank) == "SLURM_PROCID" && !variables.Has("SLURM_STEP_ID")) continue;
    const Place place{pair.rank, variables.Number(pair.rank), variables.Number(pair.size)};
    if (place.count > 1) return place;
  }
  return std::nullopt;
}

// They count their jobs, but tell them no number of all.
std::optional<Place> IndexAlone(const Variables& variables) {
  if (variables.Has("JOB_COMPLETION_INDEX"))
    return Place{"JOB_COMPLETION_INDEX", variables.Number("JOB_COMPLETION_INDEX"), 0};
  if (!variables.Has("PARALLEL_SEQ")) return std::nullopt;
  const int64_t job = variables.Number("PARALLEL_SEQ");
  RequireUsage(job > 0, "--shard auto: the variable PARALLEL_SEQ is 0, expected 1 or more");
  return Place{"PARALLEL_SEQ", job - 1, 0};
}

Place FindPlace(const Variables& variables) {
  std::vector<Place> found;
  for (auto look : {SlurmArray, Ranks, IndexAlone}) {
    if (std::optional<Place> place = look(variables)) found.push_back(*std::move(place));
  }
  RequireUsage(
      !found.empty(),
      "--shard auto: this is no task of a Slurm array (SLURM_ARRAY_TASK_ID), indexed job of "
      "Kubernetes (JOB_COMPLETION_INDEX), rank of Open MPI, PMI or srun "
      "(OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID) nor job of GNU parallel "
      "(PARALLEL_SEQ); give --shard I/N");
  RequireUsage(found.size() == 1, "--shard auto: both ", found[0].who, " and ",
               found.size() > 1 ? found[1].who : "", " are set; give --shard I/N");
  return found[0];
}

// The N of "auto/N"; 0 of "auto".
int64_t GivenCount(const std::string& shard) {
  if (shard == kAuto) return 0;
  int64_t count = 0;
  const char* begin = shard.data() + kAuto.size() + 1;
  const char* end = shard.data() + shard.size();
  const auto [at, error] = std::from_chars(begin, end, count);
  RequireUsage(error == std::errc() && at == end && count > 0, "--shard ", shard,
               ": expected auto, auto/N with N of 1 or more, or I/N");
  return count;
}

}  // namespace

std::string ResolveShard(const std::string& shard, const Environment& environment) {
  if (shard != kAuto && !shard.starts_with(Cat(kAuto, "/"))) return shard;
  const int64_t given = GivenCount(shard);
  const Place place = FindPlace(Variables(environment));
  RequireUsage(given > 0 || place.count > 0, "--shard auto: ", place.who,
               " says which share this is, not of how many; give --shard auto/N");
  RequireUsage(given == 0 || place.count == 0 || given == place.count, "--shard ", shard, ": ",
               place.who, " is one of ", place.count, "; give --shard auto");
  const int64_t count = given > 0 ? given : place.count;
  RequireUsage(place.index < count, "--shard ", shard, ": ", place.who, " makes this share ",
               place.index, " (from 0) of ", count, "; give the number of all jobs");
  return Cat(place.index, "/", count);
}

}  // namespace rshift
