#include "pipeline/tensor_choice.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "calibrate/fill_inputs.h"
#include "calibrate/observed_program.h"
#include "pipeline/consumer_error.h"
#include "pipeline/consumer_graph.h"
#include "pipeline/paired_choice.h"
#include "pipeline/program_pair.h"
#include "quantize/ranges/table_match.h"

namespace rshift {
namespace {

constexpr size_t kAtOnce = 8;  // tensors whose programs are in memory together, for each thread
constexpr int kRounds = 3;
constexpr QuantMode kModes[] = {QuantMode::kSymmetric, QuantMode::kAsymmetric};

// A range that a table offers, and what the consumers make of it.
struct Offer {
  size_t table = 0;
  double width = 0;
  std::unique_ptr<ConsumerError> error;
};

struct Candidate {
  size_t tensor = 0;
  std::string readers;
  std::vector<Offer> symmetric, asymmetric;
  std::vector<Offer>& offers(QuantMode mode) {
    return mode == QuantMode::kSymmetric ? symmetric : asymmetric;
  }
};

double WidthOf(const TensorRange& range, QuantMode mode) {
  if (mode == QuantMode::kSymmetric) return range.threshold;
  return static_cast<double>(std::max(range.high, 0.0f)) - std::min(range.low, 0.0f);
}

bool SameEnds(const TensorRange& a, const TensorRange& b, QuantMode mode) {
  if (mode == QuantMode::kSymmetric) return a.threshold == b.threshold;
  return a.low == b.low && a.high == b.high;
}

// From the widest to the narrowest: a narrower range must be better by more than chance.
ModeChoice Best(const std::vector<Offer>& offers) {
  std::vector<std::vector<double>> quality;
  ModeChoice best;
  for (const Offer& offer : offers) {
    quality.push_back(offer.error->quality());
    if (offer.table == 0) best.first_db = Mean(quality.back());
  }
  const size_t winner = FirstAsGoodAsTheBest(quality);
  best.table = offers[winner].table;
  best.quality_db = Mean(quality[winner]);
  return best;
}

class Chooser {
 public:
  Chooser(const Graph& graph, const std::vector<CalibrationTable>& tables,
          const CalibrationTable& start, const Dataset& samples, const ChooseRangesOptions& options)
      : graph_(graph),
        tables_(tables),
        samples_(samples),
        options_(options),
        floating_(CompileObservable(graph, "float program")),
        places_(TensorsByName(floating_)),
        others_(start),
        choices_(tables[0].tensors.size()),
        progress_("choosing ranges", kRounds * static_cast<int64_t>(choices_.size()),
                  options.progress) {}

  std::vector<TensorChoice> Run() {
    const size_t chunks = (choices_.size() + kAtOnce - 1) / kAtOnce;
    for (int round = 0; round < kRounds; ++round) {
      entries_ = MatchTable(graph_, others_);
      ForEachIndex(options_.threads, chunks, [this] { return Work(); });
      TakeChoices(tables_, choices_, others_);
    }
    return std::move(choices_);
  }

 private:
  const TensorRange& RangeOf(size_t table, size_t tensor) const {
    return tables_[table].tensors[tensor].second;
  }

  // By chunk of tensors.
  IndexWork Work() {
    const auto session = std::make_shared<Session>(
        floating_, SessionOptions{.threads = 1, .portable = options_.portable});
    return [this, session](size_t chunk) {
      const size_t begin = kAtOnce * chunk;
      Choose(begin, std::min(begin + kAtOnce, choices_.size()), *session);
    };
  }

  void Choose(size_t begin, size_t end, Session& session) {
    std::vector<Candidate> candidates;
    for (size_t t = begin; t < end; ++t) {
      if (std::optional<Candidate> found = MakeCandidate(t))
        candidates.push_back(std::move(*found));
    }
    for (int64_t s = 0; s < samples_.size() && !candidates.empty(); ++s) {
      RSHIFT_REQUIRE(!options_.interrupted || !options_.interrupted(), ErrorCode::kIo,
                     "interrupted");
      FillInputs(floating_, session, samples_.Read(s));
      session.Run();
      for (Candidate& candidate : candidates) {
        for (const QuantMode mode : kModes) {
          for (Offer& offer : candidate.offers(mode)) offer.error->Add(session);
        }
      }
    }
    for (const Candidate& candidate : candidates) {
      choices_[candidate.tensor] = {candidate.readers, Best(candidate.symmetric),
                                    Best(candidate.asymmetric)};
    }
    for (size_t t = begin; t < end; ++t) progress_.Advance();
  }

  // None where all tables offer the same, and where nobody computes with the tensor.
  std::optional<Candidate> MakeCandidate(size_t t) {
    const std::string& name = tables_[0].tensors[t].first;
    Candidate candidate{t, "", Distinct(t, QuantMode::kSymmetric),
                        Distinct(t, QuantMode::kAsymmetric)};
    if (candidate.symmetric.size() + candidate.asymmetric.size() <= 2) return std::nullopt;
    const ConsumerGraph consumers = ConsumersOf(graph_, graph_.FindValue(name));
    if (consumers.readers.empty()) return std::nullopt;
    candidate.readers = consumers.readers;
    CalibrationTable table = TableOf(consumers.graph);
    const auto entry = std::find_if(table.tensors.begin(), table.tensors.end(),
                                    [&](const auto& one) { return one.first == name; });
    RSHIFT_REQUIRE(entry != table.tensors.end(), ErrorCode::kInternal, "'", name,
                   "' is not among what its consumers read");
    for (const QuantMode mode : kModes) {
      for (Offer& offer : candidate.offers(mode)) {
        entry->second = RangeOf(offer.table, t);
        offer.error = std::make_unique<ConsumerError>(consumers.graph, table, mode, places_,
                                                      options_.portable);
      }
    }
    return candidate;
  }

  // The widest first; of equal ones the first table's.
  std::vector<Offer> Distinct(size_t t, QuantMode mode) const {
    std::vector<Offer> offers;
    for (size_t m = 0; m < tables_.size(); ++m) {
      const TensorRange& range = RangeOf(m, t);
      const bool known = std::any_of(offers.begin(), offers.end(), [&](const Offer& other) {
        return SameEnds(RangeOf(other.table, t), range, mode);
      });
      if (!known) offers.push_back({m, WidthOf(range, mode), nullptr});
    }
    std::stable_sort(offers.begin(), offers.end(),
                     [](const Offer& a, const Offer& b) { return a.width > b.width; });
    return offers;
  }

  // A range of every tensor of the consumers' graph.
  CalibrationTable TableOf(const Graph& consumers) const {
    CalibrationTable table;
    for (const ValueId id : CalibratedValues(consumers)) {
      const std::string& name = consumers.value(id).name;
      table.tensors.emplace_back(name, *entries_[graph_.FindValue(name).index()]);
    }
    return table;
  }

  const Graph& graph_;
  const std::vector<CalibrationTable>& tables_;
  const Dataset& samples_;
  const ChooseRangesOptions& options_;
  const Program floating_;
  const std::map<std::string, int32_t> places_;
  CalibrationTable others_;                  // in this round
  std::vector<const TensorRange*> entries_;  // of it, by value
  std::vector<TensorChoice> choices_;        // by tensor of the tables
  ProgressReport progress_;
};

}  // namespace

std::vector<TensorChoice> ChooseByTensor(const Graph& graph,
                                         const std::vector<CalibrationTable>& tables,
                                         const CalibrationTable& start, const Dataset& samples,
                                         const ChooseRangesOptions& options) {
  return Chooser(graph, tables, start, samples, options).Run();
}

void TakeChoices(const std::vector<CalibrationTable>& tables,
                 const std::vector<TensorChoice>& choices, CalibrationTable& into) {
  for (size_t t = 0; t < choices.size(); ++t) {
    const TensorRange& symmetric = tables[choices[t].symmetric.table].tensors[t].second;
    const TensorRange& asymmetric = tables[choices[t].asymmetric.table].tensors[t].second;
    TensorRange& range = into.tensors[t].second;
    range.threshold = symmetric.threshold;
    range.low = asymmetric.low;
    range.high = asymmetric.high;
    range.method = symmetric.method == asymmetric.method
                       ? symmetric.method
                       : Cat("symmetric ", symmetric.method, "; asymmetric ", asymmetric.method);
  }
}

}  // namespace rshift
