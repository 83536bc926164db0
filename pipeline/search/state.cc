#include "pipeline/search/state.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/json_text.h"

namespace rshift {
namespace {

using nlohmann::json;

constexpr const char* kKind = "rshift search 2";

json ToJson(const SampleScore& s) {
  return {s.decibels, s.rows,   s.agree,    s.labelled,     s.right,       s.float_right,
          s.found,    s.wanted, s.products, s.boxes.wanted, s.boxes.found, s.boxes.matched};
}

SampleScore ScoreFrom(const json& j) {
  SampleScore score;
  score.decibels = j.at(0).get<double>();
  int64_t* counts[] = {&score.rows, &score.agree, &score.labelled, &score.right,
                       &score.float_right};
  for (size_t i = 0; i < 5; ++i) *counts[i] = j.at(i + 1).get<int64_t>();
  score.found = j.at(6).get<std::vector<double>>();
  score.wanted = j.at(7).get<std::vector<double>>();
  score.products = j.at(8).get<std::vector<double>>();
  score.boxes = {j.at(9).get<int64_t>(), j.at(10).get<int64_t>(), j.at(11).get<int64_t>()};
  return score;
}

json ToJson(const Measured& m) {
  json scores = json::array();
  for (const SampleScore& score : m.scores) scores.push_back(ToJson(score));
  return {{"scores", scores},
          {"cost", {m.nanoseconds, m.macs_8, m.macs_16, m.macs_float, m.conversions}}};
}

Measured MeasuredFrom(const json& j) {
  Measured m;
  for (const json& score : j.at("scores")) m.scores.push_back(ScoreFrom(score));
  const json& cost = j.at("cost");
  m.nanoseconds = cost.at(0).get<double>();
  m.macs_8 = cost.at(1).get<int64_t>();
  m.macs_16 = cost.at(2).get<int64_t>();
  m.macs_float = cost.at(3).get<int64_t>();
  m.conversions = cost.at(4).get<int64_t>();
  return m;
}

}  // namespace

SearchState::SearchState(std::string path, std::string identity)
    : path_(std::move(path)), identity_(std::move(identity)) {
  if (path_.empty()) return;
  if (std::filesystem::exists(path_))
    Read();
  else
    CheckWritable(path_);
}

void SearchState::Read() {
  json file;
  try {
    file = json::parse(ReadTextFile(path_));
    RSHIFT_REQUIRE(file.at("kind") == kKind, ErrorCode::kInvalidInput, path_,
                   ": of another version; remove the file to begin anew");
    RSHIFT_REQUIRE(file.at("identity") == identity_, ErrorCode::kInvalidInput, path_,
                   ": belongs to another search (another model, table, mode, configuration or "
                   "samples); name another file, or remove this one");
    for (const auto& [key, value] : file.at("measured").items())
      measured_[key] = MeasuredFrom(value);
    for (const auto& [key, value] : file.at("numbers").items())
      numbers_[key] = value.get<std::vector<double>>();
  } catch (const json::exception& error) {
    Fail(ErrorCode::kInvalidInput, path_,
         ": is no state of a search of model_deploy --auto; name another file");
  }
  resumed_ = true;
}

// Numbers are written with as many digits as give them back.
void SearchState::Write() const {
  if (path_.empty()) return;
  json file = {{"kind", kKind}, {"identity", identity_}};
  file["measured"] = json::object();
  file["numbers"] = json::object();
  for (const auto& [key, measured] : measured_) file["measured"][key] = ToJson(measured);
  for (const auto& [key, numbers] : numbers_) file["numbers"][key] = numbers;
  WriteFileAtomic(path_, JsonText(file, 1) + "\n");
}

const Measured* SearchState::Find(const std::string& key) const {
  const auto found = measured_.find(key);
  return found == measured_.end() ? nullptr : &found->second;
}

const Measured& SearchState::Add(const std::string& key, Measured measured) {
  const Measured& added = measured_[key] = std::move(measured);
  Write();
  return added;
}

const std::vector<double>* SearchState::FindNumbers(const std::string& key) const {
  const auto found = numbers_.find(key);
  return found == numbers_.end() ? nullptr : &found->second;
}

void SearchState::AddNumbers(const std::string& key, std::vector<double> numbers) {
  numbers_[key] = std::move(numbers);
  Write();
}

}  // namespace rshift
