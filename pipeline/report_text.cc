#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <utility>

#include "base/error.h"
#include "pipeline/paired_choice.h"
#include "pipeline/plural.h"
#include "pipeline/report.h"

namespace rshift {
namespace {

constexpr size_t kWorstLayers = 10;
constexpr size_t kNamedChannels = 3;  // of a repaired operator
constexpr size_t kRepairLines = 6;
constexpr size_t kNamedNodes = 3;  // of those that are F32 for one reason

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char line[1024];
  std::snprintf(line, sizeof line, format, args...);
  return line;
}

// Median and worst decile of the channels.
std::string Channels(const ChannelSqnr& c) {
  return Format("%6.1f /%6.1f", c.median_db, c.worst_decile_db);
}

std::string LayerLines(const DeployReport& report) {
  std::string out =
      Count(report.layers.size(), "tensor") +
      " compared; worst by what each loses alone, given the float inputs (dB; channels: median / "
      "worst decile):\n";
  out += Format("  %-40s %-12s | %6s %15s | %11s %6s %15s %9s\n", "tensor", "command", "alone",
                "channels", "accumulated", "cosine", "channels", "saturated");
  const std::vector<LayerResult> worst = WeakestAlone(report.layers);
  for (size_t i = 0; i < std::min(kWorstLayers, worst.size()); ++i) {
    const LayerResult& l = worst[i];
    out += Format("  %-40s %-12s | %6.1f %15s | %11.1f %6.3f %15s %9lld\n", l.tensor.c_str(),
                  l.command.c_str(), l.alone.sqnr_db, Channels(l.alone_channels).c_str(),
                  l.similarity.sqnr_db, l.similarity.cosine, Channels(l.channels).c_str(),
                  static_cast<long long>(l.saturated));
  }
  return out;
}

std::string CorrectionLine(const BiasCorrectionReport& c) {
  const std::string outputs = Format("outputs %.1f -> %.1f dB SQNR", c.before_db, c.after_db) +
                              " on " + Count(c.samples, "sample");
  const std::string mode = Cat("bias correction ", Name(c.mode), ": ");
  if (!c.why_none.empty()) return mode + "not done: " + c.why_none + "\n";
  if (c.candidates == 0) return mode + "no layer has a bias to correct\n";
  if (c.channels == 0 && c.slopes == 0)
    return mode + "no mean error beyond chance; nothing changed\n";
  if (!c.kept) {
    const std::string least = c.mode == BiasCorrectionMode::kAuto
                                  ? Format("by %.0f dB beyond chance: ", kAutoGainDb)
                                  : "beyond chance: ";
    return mode + "not kept, no better " + least + outputs + "\n";
  }
  return mode + outputs + ", " + Count(c.layers, "layer") + ", " + Count(c.channels, "channel") +
         (c.slopes > 0 ? ", " + Count(c.slopes, "slope") : "") +
         Format(", by up to %.1f steps of the output ('%s')\n", c.largest_quanta,
                c.largest_node.c_str());
}

std::string WeightLine(const WeightChoiceReport& w) {
  const std::string methods =
      Cat("weights: rounding ", Name(w.methods.rounding), ", clipping ", Name(w.methods.clipping));
  if (!w.why_none.empty()) return methods + ": not done: " + w.why_none + "\n";
  if (w.candidates == 0) return methods + ": no layer has weights to choose\n";
  const std::string costly =
      w.costly == 0 ? ""
                    : ", " + Count(w.costly, "layer") +
                          " left as nearest for what that would take (--weight-rounding gptq "
                          "rounds all)";
  if (w.costly == w.candidates) return methods + costly.substr(1) + "\n";
  if (w.layers == 0)
    return methods + ": nothing better than the nearest; nothing changed" + costly + "\n";
  const std::string outputs = Format("outputs %.1f -> %.1f dB SQNR", w.before_db, w.after_db) +
                              " on " + Count(w.samples, "sample");
  if (!w.kept) {
    const std::string least = w.methods.rounding == WeightRounding::kAuto
                                  ? Format("by %.0f dB beyond chance: ", kAutoGainDb)
                                  : "beyond chance: ";
    return methods + ": not kept, no better " + least + outputs + costly + "\n";
  }
  return methods + ": " + outputs + ", " + Count(w.layers, "layer") + ", " +
         Count(w.weights, "weight") + ", " + Count(w.channels, "channel") +
         Format(" clipped, sums of layers %.1f dB better", w.gain_db) + costly + "\n";
}

// How many integer tensors have 16 bits; empty when none has.
std::string Int16Line(const std::vector<ReportNode>& nodes) {
  size_t all = 0, wide = 0;
  for (const ReportNode& node : nodes) {
    if (!node.quant) continue;
    ++all;
    wide += node.dtype == DType::kS16 || node.dtype == DType::kU16 ? 1 : 0;
  }
  return wide == 0 ? "" : Cat("16 bits: ", wide, " of ", Count(all, "integer tensor"), "\n");
}

// One line: what was proved, and the tightest place.
std::string ProofLine(const std::vector<LayerProof>& proofs) {
  if (proofs.empty()) return "";
  int64_t channels = 0, flushed = 0;
  const LayerProof* tightest = &proofs.front();
  for (const LayerProof& proof : proofs) {
    channels += proof.channels;
    flushed += proof.flushed;
    if (proof.limit <= INT32_MAX && proof.headroom_bits() < tightest->headroom_bits())
      tightest = &proof;
  }
  return Cat("proved: ", Count(proofs.size(), "operator"), ", ", Count(channels, "channel"),
             ": accumulators, biases, multipliers and shifts in range; least headroom ",
             Format("%.1f", tightest->headroom_bits()), " bits (", tightest->op, " '",
             tightest->node, "'), ", Count(flushed, "channel"), " constant\n");
}

// Channels of one operator with one reason.
struct Repairs {
  std::string node, reason;
  bool changed = false;  // the weight scale was raised, else the channel was flushed to zero
  std::vector<const QuantizeReport::Repair*> channels{};
};

std::vector<Repairs> Grouped(const std::vector<QuantizeReport::Repair>& repairs) {
  std::vector<Repairs> groups;
  for (const auto& repair : repairs) {
    const Repairs key{repair.node, repair.reason, repair.scale_before != repair.scale_after};
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Repairs& g) {
      return g.node == key.node && g.reason == key.reason && g.changed == key.changed;
    });
    (same == groups.end() ? groups.emplace_back(key) : *same).channels.push_back(&repair);
  }
  return groups;
}

// How far the weight scales of these channels were raised.
std::string ScaleChange(const Repairs& group) {
  const auto& channels = group.channels;
  if (channels.size() == 1) {
    return Cat(", weight scale ", channels[0]->scale_before, " -> ", channels[0]->scale_after);
  }
  float most = 1;
  for (const auto* repair : channels)
    most = std::max(most, repair->scale_after / repair->scale_before);
  return Cat(", by up to ", Format("%.3g", most), " times");
}

// One line for each operator and reason, of the first operators; --report-json has every channel.
std::string RepairLines(const std::vector<QuantizeReport::Repair>& repairs) {
  std::string out;
  const std::vector<Repairs> groups = Grouped(repairs);
  const size_t shown = groups.size() <= kRepairLines ? groups.size() : kRepairLines - 1;
  for (const Repairs& group : std::span(groups).first(shown)) {
    const size_t count = group.channels.size();
    std::string channels;
    for (size_t i = 0; i < std::min(count, kNamedChannels); ++i)
      channels += Cat(i == 0 ? "" : ", ", group.channels[i]->channel);
    out += Cat(group.changed ? "repaired " : "flushed ", group.node, ": ", Count(count, "channel"),
               " (", channels, count > kNamedChannels ? ", ..." : "", "): ", group.reason);
    if (group.changed) out += ScaleChange(group);
    out += "\n";
  }
  size_t rest = 0;
  for (const Repairs& group : std::span(groups).subspan(shown)) rest += group.channels.size();
  if (rest > 0) {
    out +=
        Cat("repaired or flushed: ", Count(rest, "channel"), " more, which --report-json lists\n");
  }
  return out;
}

// A line for each node and operator: the first note on it. What the importer made several operators
// of, an LSTM's steps, has a note on each that differ in numbers only; --report-json has them all.
std::string NoteLines(const std::vector<QuantizeReport::Note>& notes) {
  std::map<std::pair<std::string, std::string>, size_t> counts;  // of node and operator
  for (const auto& note : notes) ++counts[{note.node, note.op}];
  std::string out;
  for (const auto& note : notes) {
    size_t& count = counts[{note.node, note.op}];
    if (count == 0) continue;
    out += Cat("note: ", note.op, " '", note.node, "': ", note.text,
               count == 1 ? "" : Cat("; so are ", count - 1, " more of its parts"), "\n");
    count = 0;
  }
  return out;
}

// A reason without the tensor that it names behind a colon.
std::string KindOf(const std::string& reason) { return reason.substr(0, reason.find(": '")); }

// A line for each node of the model, or for many with one reason; what the importer made several
// operators of is one node, with the first of its reasons of a kind. --report-json has every node.
std::string FloatLines(const std::vector<QuantizeReport::FloatNode>& nodes) {
  if (nodes.empty()) return "F32 nodes: none\n";
  struct Group {
    const QuantizeReport::FloatNode* first;
    size_t operators = 0;
  };
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::string>, size_t> places;  // of node and kind of reason
  for (const auto& node : nodes) {
    const auto [place, is_new] =
        places.try_emplace({node.node, KindOf(node.reason)}, groups.size());
    if (is_new) groups.push_back({&node});
    ++groups[place->second].operators;
  }
  std::map<std::string, std::vector<std::string>> nodes_of;  // by reason
  const auto described = [](const Group& group) {
    return group.operators == 1
               ? Cat(group.first->op, " '", group.first->node, "'")
               : Cat(Count(group.operators, "part"), " of '", group.first->node, "'");
  };
  for (const Group& group : groups) nodes_of[group.first->reason].push_back(described(group));
  std::string out;
  for (const Group& group : groups) {
    std::vector<std::string>& same = nodes_of[group.first->reason];
    if (same.size() <= kNamedNodes) {
      out += Cat("F32 node: ", described(group), ": ", group.first->reason, "\n");
    } else if (same.front() == described(group)) {
      out += Cat("F32 nodes: ", same[0], ", ", same[1], ", ", same[2], " and ",
                 same.size() - kNamedNodes, " more: ", group.first->reason, "\n");
    }
  }
  return out;
}

// Of weights and biases; one line where neither was measured for the same reason.
std::string IntegerLines(const DeployReport& report) {
  const auto& weights = report.weight_choice;
  const auto& biases = report.bias_correction;
  if (weights && biases && !weights->why_none.empty() && weights->why_none == biases->why_none) {
    return Cat("weight rounding ", Name(weights->methods.rounding), ", bias correction ",
               Name(biases->mode), ": not done: ", weights->why_none, "\n");
  }
  return (weights ? WeightLine(*weights) : "") + (biases ? CorrectionLine(*biases) : "");
}

}  // namespace

std::string TextReport(const DeployReport& report) {
  std::string out = Format(
      "%s: %s, %s (%d integer, %d data movement, %d F32), %s, %llu bytes, arena %llu bytes\n",
      report.output.c_str(), report.mode.c_str(),
      Count(report.integer_commands + report.move_commands + report.float_commands, "command")
          .c_str(),
      report.integer_commands, report.move_commands, report.float_commands,
      Count(report.transposes, "transpose").c_str(),
      static_cast<unsigned long long>(report.file_bytes),
      static_cast<unsigned long long>(report.arena_bytes));
  if (report.mode == "f32") return out;
  if (report.quantize.type_sources.empty()) {
    const auto& changes = report.quantize.range_changes;
    const auto shifted =
        static_cast<size_t>(std::count_if(changes.begin(), changes.end(), [](const RangeChange& c) {
          return c.rule == kShiftNegative;
        }));
    out += Format("ranges changed by Forward/BackwardCalibration: %zu\n", changes.size() - shifted);
    if (shifted != 0)
      out += Format("unsigned by --shift-negative: %s\n", Count(shifted, "tensor").c_str());
  } else {
    out += "types taken from the model: " + Count(report.quantize.type_sources.size(), "tensor") +
           "\n";
    for (const RangeChange& c : report.quantize.range_changes) {
      out += Cat("range of '", c.tensor, "' ", c.reason, ": [", c.before.low, ", ", c.before.high,
                 "] becomes [", c.after.low, ", ", c.after.high, "]\n");
    }
  }
  if (const ScalesTrace& scales = report.scales; !scales.format.empty()) {
    out += Cat("scales: ", scales.file, " (", scales.format, "): ", scales.used.size(), " of ",
               Count(scales.used.size() + scales.unused.size(), "name"), " used\n");
  }
  if (report.equalized_tensors > 0) {
    out += "equalized: " + Count(report.equalized_tensors, "tensor") +
           "; factors between channels, powers of two, are in the weights\n";
  }
  if (report.equalization_trial) out += TrialLine(*report.equalization_trial);
  out += Int16Line(report.nodes);
  if (report.layers_of_4_bits > 0) {
    out += Cat("weights of 4 bits: ", Count(report.layers_of_4_bits, "layer"), ", ",
               report.weights_of_4_bits, " weights\n");
  }
  if (report.search) out += SearchText(*report.search);
  out += IntegerLines(report);
  if (!report.preprocess.empty()) {
    out += "preprocess: " + report.preprocess +
           "; of pictures, model_calibrate --check tells whether the model was trained with that\n";
  }
  out += ProofLine(report.proofs);
  out += RepairLines(report.quantize.repairs);
  out += FloatLines(report.quantize.float_nodes);
  out += NoteLines(report.quantize.notes);
  if (report.test_input) out += LayerLines(report);
  if (report.checked) out += CheckLine(report.verdict);
  return out;
}

}  // namespace rshift
