#include "pipeline/search/search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "pipeline/check_samples.h"
#include "pipeline/paired_choice.h"
#include "pipeline/search/judge.h"
#include "pipeline/search/noise.h"
#include "pipeline/search/search_report.h"
#include "pipeline/search/trials.h"

namespace rshift {
namespace {

constexpr size_t kNoiseSamples = 2;
constexpr int kMostRemovals = 8;  // trials of leaving types out again
// A run of commands is what a type changes the time of; groups without products cost something,
// too.
constexpr double kMacsOfElement = 8, kMacsOfGroup = 1e5;

class Searcher {
 public:
  Searcher(const SearchInput& input, const SearchBudget& budget)
      : budget_(budget), trials_(input, budget.evaluations), judge_(budget_, trials_) {}

  SearchResult Run() {
    RSHIFT_REQUIRE(!trials_.groups().empty(), ErrorCode::kInvalidInput,
                   "--auto: the program has no integer operator whose type is free");
    Candidate all8;
    all8.bits.assign(trials_.groups().size(), 8);
    best_ = first_ = trials_.Evaluate(all8, "8 bits");
    judge_.CheckAims(*first_);
    if (Enough())
      KeepDefault();
    else
      ChooseMethods();
    if (!judge_.Reaches(*best_)) Widen();
    if (!judge_.Reaches(*best_) && MayFloat()) LeaveInFloat();
    if (HasTypes(*best_)) {
      FillHoles();
      MeasureAsIs();
    }
    return Result();
  }

 private:
  // Without an aim whatever costs no time is tried.
  bool Enough() const { return budget_.has_aim() && judge_.Reaches(*best_); }

  // --- methods that cost no time ---

  // What is good enough as it is, is not to be worse than without a search.
  void KeepDefault() {
    Candidate candidate = best_->candidate;
    candidate.bias_correction = BiasCorrectionMode::kFast;
    const Point* point = trials_.Evaluate(candidate, "biases");
    if (point != nullptr && judge_.Reaches(*point) && judge_.IsBetter(*point, *best_))
      best_ = point;
    if (IsAscend()) return;
    candidate = best_->candidate;
    candidate.weights.rounding = WeightRounding::kGptq;
    point = trials_.Evaluate(candidate, "weights");
    const auto decibels = [&](const Point& of) {
      return DecibelsOf(of.measured.scores, trials_.judging());
    };
    if (point != nullptr && judge_.Reaches(*point) &&
        WorthKeeping(decibels(*best_), decibels(*point)))
      best_ = point;
  }

  bool IsAscend() const { return trials_.input().options.profile.id == ProfileId::kAscend; }

  void ChooseMethods() {
    const auto weights = [](WeightMethods methods) {
      return [methods](Candidate* candidate) { candidate->weights = methods; };
    };
    const auto biases = [](BiasCorrectionMode mode) {
      return [mode](Candidate* candidate) { candidate->bias_correction = mode; };
    };
    // Behind gptq clipping brings nothing (docs/weights.md).
    if (!IsAscend() && !Try(weights({WeightRounding::kGptq, WeightClipping::kOff}), "weights"))
      Try(weights({WeightRounding::kNearest, WeightClipping::kMse}), "weights");
    Try(biases(BiasCorrectionMode::kFast), "biases");
    fast_ = best_;
    if (Try(biases(BiasCorrectionMode::kFull), "biases"))
      Try(biases(BiasCorrectionMode::kRegression), "biases");
  }

  template <typename Change>
  bool Try(const Change& change, const std::string& step) {
    if (Enough()) return false;
    Candidate candidate = best_->candidate;
    change(&candidate);
    const Point* point = trials_.Evaluate(candidate, step);
    if (point == nullptr || !judge_.IsBetter(*point, *best_)) return false;
    best_ = point;
    return true;
  }

  // --- types ---

  static bool HasTypes(const Point& point) {
    const std::vector<int>& bits = point.candidate.bits;
    return std::any_of(bits.begin(), bits.end(), [](int b) { return b != 8; });
  }

  bool MayFloat() const {
    return budget_.float_layers ? *budget_.float_layers > 0 : budget_.has_aim();
  }

  // One pass for all groups; the numbers are kept in the state.
  std::vector<double> MeasuredNoise(const Candidate& candidate) {
    const std::string key = "noise of " + KeyOf(candidate);
    if (!trials_.Spend()) return {};
    ++passes_;
    if (const auto* known = trials_.state().FindNumbers(key)) return *known;
    std::vector<Sample> few;
    const size_t count = std::min(kNoiseSamples, trials_.making().size());
    for (size_t s = 0; s < count; ++s)
      few.push_back(trials_.making_samples().Read(static_cast<int64_t>(s)));
    std::vector<double> noise = MeasureNoise(
        trials_.input().floating, trials_.IntegerGraph(candidate), SampleList(std::move(few)));
    trials_.state().AddNumbers(key, noise);
    return noise;
  }

  // Those that a type is for, by what it takes of the noise for the time it costs.
  std::vector<size_t> ByGain(const std::vector<size_t>& groups, const std::vector<double>& gains,
                             bool by_time) const {
    std::vector<size_t> order = groups;
    const auto worth = [&](size_t g) {
      const OperatorGroup& group = trials_.groups()[g];
      const double cost = static_cast<double>(group.macs) +
                          kMacsOfElement * static_cast<double>(group.elements) + kMacsOfGroup;
      return by_time ? gains[g] / cost : gains[g];
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return worth(a) > worth(b); });
    return order;
  }

  static Candidate With(Candidate candidate, const std::vector<size_t>& order, size_t count,
                        int bits) {
    for (size_t i = 0; i < count; ++i) candidate.bits[order[i]] = bits;
    return candidate;
  }

  // The shortest beginning of `order` that reaches what is asked for, when the first `most` do;
  // else those. To a sixteenth of them. nullptr when no evaluations are left.
  const Point* Fewest(const std::vector<size_t>& order, size_t most, int bits,
                      const std::string& step, double fastest = -1) {
    const Candidate from = best_->candidate;
    const Point* found = trials_.Evaluate(With(from, order, most, bits), step);
    if (found == nullptr || !judge_.Reaches(*found)) return found;
    const double slowest = fastest < 0 ? found->measured.nanoseconds : fastest;
    size_t low = 0, high = most;
    const size_t exact = std::max<size_t>(1, most / 16);
    while (high - low > exact) {
      const size_t middle = (low + high) / 2;
      const Candidate candidate = With(from, order, middle, bits);
      // What is no faster than what there is, is not worth a run; nor is what has more.
      const Point* point =
          trials_.PredictTime(candidate) < slowest ? trials_.Evaluate(candidate, step) : nullptr;
      if (point == nullptr) break;
      if (judge_.Reaches(*point)) {
        high = middle;
        found = point;
      } else {
        low = middle;
      }
    }
    return found;
  }

  void Widen() {
    std::vector<size_t> able;
    for (size_t g = 0; g < trials_.groups().size(); ++g)
      if (trials_.groups()[g].can_widen()) able.push_back(g);
    if (able.empty()) return;
    // What full and regression take back is what 8 bits everywhere leave behind.
    const Point* narrow = best_;
    if (fast_ != nullptr) best_ = fast_;
    const Candidate all = With(best_->candidate, able, able.size(), 16);
    const Point* widest = trials_.Evaluate(all, "16 bits");
    if (widest == nullptr || !judge_.IsBetter(*widest, *narrow)) {
      best_ = narrow;
      return;
    }
    if (!budget_.has_aim()) judge_.set_widest(widest);
    if (!judge_.Reaches(*widest)) {
      best_ = widest;
      return;
    }
    const std::vector<double> narrow_noise = MeasuredNoise(best_->candidate);
    const std::vector<double> wide_noise = MeasuredNoise(all);
    if (!narrow_noise.empty() && !wide_noise.empty()) {
      noise_8_ =
          NoiseOfGroups(trials_.input().floating, trials_.groups(), narrow_noise, wide_noise);
      noise_16_ = NoiseOfGroups(trials_.input().floating, trials_.groups(), wide_noise, wide_noise);
    }
    const Point* found = Faster(Fewest(able, able.size(), 16, "16 bits, from the front"), widest);
    std::vector<double> gains = noise_8_;
    if (!noise_16_.empty()) {
      for (size_t g = 0; g < gains.size(); ++g) gains[g] = std::max(0.0, gains[g] - noise_16_[g]);
      const std::vector<size_t> order = ByGain(able, gains, true);
      found = Faster(
          Fewest(order, able.size(), 16, "16 bits, by gain", found->measured.nanoseconds), found);
    }
    best_ = found;
    LeaveOut(16, gains);
  }

  // The first of them, where it reaches what is asked for and is the faster one.
  const Point* Faster(const Point* point, const Point* than) const {
    return point != nullptr && judge_.Reaches(*point) && IsFaster(*point, *than) ? point : than;
  }

  static bool IsFaster(const Point& point, const Point& than) {
    return point.measured.nanoseconds < than.measured.nanoseconds;
  }

  // Layers that a number of groups has in the program.
  int64_t LayersOf(const std::vector<int>& bits, int type) const {
    int64_t layers = 0;
    for (size_t g = 0; g < bits.size(); ++g)
      layers += bits[g] == type ? static_cast<int64_t>(trials_.groups()[g].tensors.size()) : 0;
    return layers;
  }

  void LeaveInFloat() {
    std::vector<size_t> all(trials_.groups().size());
    std::iota(all.begin(), all.end(), size_t{0});
    const std::vector<double> measured = MeasuredNoise(best_->candidate);
    if (measured.empty()) return;
    const std::vector<double> noise =
        NoiseOfGroups(trials_.input().floating, trials_.groups(), measured, measured);
    if (noise_8_.empty()) noise_8_ = noise;
    const std::vector<size_t> order = ByGain(all, noise, !budget_.float_layers);
    size_t most = order.size();
    if (budget_.float_layers) {
      while (most > 0 && LayersOf(With(best_->candidate, order, most, kFloatBits).bits,
                                  kFloatBits) > *budget_.float_layers)
        --most;
    }
    if (most == 0) return;
    const Point* point = Fewest(order, most, kFloatBits, "F32, by gain");
    if (point == nullptr || !(judge_.Reaches(*point) || judge_.IsBetter(*point, *best_))) return;
    best_ = point;
    LeaveOut(kFloatBits, noise);
  }

  // Types that are not needed: halves of the groups that have `bits`, those that gain least first,
  // then quarters.
  void LeaveOut(int bits, const std::vector<double>& gains) {
    if (!judge_.Reaches(*best_)) return;
    std::vector<size_t> have;
    for (size_t g = 0; g < best_->candidate.bits.size(); ++g)
      if (best_->candidate.bits[g] == bits) have.push_back(g);
    if (!gains.empty()) have = ByGain(have, gains, true);
    std::reverse(have.begin(), have.end());
    int trials = 0;
    for (size_t size = (have.size() + 1) / 2; size >= 1 && trials < kMostRemovals; size /= 2) {
      for (size_t at = 0; at < have.size() && trials < kMostRemovals;) {
        const size_t end = std::min(have.size(), at + size);
        const std::vector<size_t> part(have.begin() + static_cast<ptrdiff_t>(at),
                                       have.begin() + static_cast<ptrdiff_t>(end));
        if (part.size() == have.size()) break;
        const Candidate without = With(best_->candidate, part, part.size(), 8);
        if (trials_.PredictTime(without) >= best_->measured.nanoseconds) {
          at = end;
          continue;
        }
        const Point* point = trials_.Evaluate(without, "left out again");
        if (point == nullptr) return;
        ++trials;
        if (judge_.Reaches(*point) && IsFaster(*point, *best_)) {
          best_ = point;
          have.erase(have.begin() + static_cast<ptrdiff_t>(at),
                     have.begin() + static_cast<ptrdiff_t>(end));
        } else {
          at = end;
        }
      }
    }
  }

  // A group of 8 bits whose neighbours have 16 pays for two conversions: it gets 16, too, where the
  // program is not slower by that.
  void FillHoles() {
    const std::vector<OperatorGroup>& groups = trials_.groups();
    std::vector<std::vector<size_t>> makers(groups.size());
    for (size_t g = 0; g < groups.size(); ++g)
      for (const size_t reader : groups[g].readers) makers[reader].push_back(g);
    std::vector<size_t> holes;
    const std::vector<int>& bits = best_->candidate.bits;
    const auto wide = [&](const std::vector<size_t>& all) {
      return !all.empty() &&
             std::all_of(all.begin(), all.end(), [&](size_t g) { return bits[g] == 16; });
    };
    for (size_t g = 0; g < groups.size(); ++g)
      if (bits[g] == 8 && groups[g].can_widen() && wide(makers[g]) && wide(groups[g].readers))
        holes.push_back(g);
    if (holes.empty()) return;
    const Candidate filled = With(best_->candidate, holes, holes.size(), 16);
    if (trials_.PredictTime(filled) > best_->measured.nanoseconds) return;
    const Point* point = trials_.Evaluate(filled, "conversions that do not pay");
    if (point != nullptr && !judge_.IsWorse(*point, *best_)) best_ = point;
  }

  // Weights suit the types they are measured with, and what is delivered is measured so; with these
  // types the full correction may help where it could not before.
  void MeasureAsIs() {
    Candidate as_is = best_->candidate;
    as_is.measured_as_is = true;
    if (const Point* point = trials_.Evaluate(as_is, "measured with these types")) best_ = point;
    if (Enough()) return;
    for (const BiasCorrectionMode mode : {BiasCorrectionMode::kOff, BiasCorrectionMode::kFull}) {
      Candidate other = as_is;
      other.bias_correction = mode;
      if (mode == as_is.bias_correction) continue;
      const Point* point = trials_.Evaluate(other, "biases, with these types");
      if (point == nullptr || !judge_.IsBetter(*point, *best_)) continue;
      if (judge_.Reaches(*point) || !judge_.Reaches(*best_)) best_ = point;
    }
  }

  SearchResult Result() {
    SearchResult result;
    result.candidate = best_->candidate;
    AddTypes(trials_.groups(), best_->candidate.bits, &result.config);
    const SearchProgress progress{.budget = budget_,
                                  .first = first_,
                                  .best = best_,
                                  .noise_8 = noise_8_,
                                  .noise_16 = noise_16_,
                                  .passes = passes_,
                                  .reached = judge_.Reaches(*best_)};
    result.report = MakeSearchReport(trials_, progress,
                                     [&](const Point& point) { return judge_.Reaches(point); });
    return result;
  }

  const SearchBudget budget_;
  Trials trials_;
  SearchJudge judge_;
  const Point *first_ = nullptr, *best_ = nullptr;
  const Point* fast_ = nullptr;             // 8 bits, with weights and biases that suit any types
  std::vector<double> noise_8_, noise_16_;  // by group
  int64_t passes_ = 0;
};

}  // namespace

SearchResult Search(const SearchInput& input, const SearchBudget& budget) {
  return Searcher(input, budget).Run();
}

}  // namespace rshift
