#include "quantize/ranges/table.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

CalibrationTable Example() {
  CalibrationTable table;
  table.model_sha256 = "0123abcd";
  table.method = "percentile 99.99";
  table.samples = 100;
  table.samples_sha256 = "ffee";
  table.sample_names = {"a b.jpg", "true", "c:\\d\n.png", "-x", ""};
  table.check_samples = {
      {"00ab", "a b.jpg", {{"data_0", {"photos/a b.jpg", "c:\\d\n.png"}, 0}}},
      {"00ac", "x.npz:7", {{"data_0", {"x.npz"}, 7}, {"true", {"-y=[1]\u00e9"}, 1}}}};
  table.preprocess = "inputs:\n  - name: data_0\n\n    color: BGR\n";
  table.input_shapes = {{"data_0", {1, 3, 224, 224}}, {"null", {}}};
  table.pass_list_version = 3;
  table.environment = {{"cpu", "Xeon: 'W' #5"}, {"onednn", "2.6.3"}};
  table.equalization = {{"conv1_out", {0, -3, 64}}, {"/model/x:0", {-64}}};
  table.tensors = {
      {"conv1_out", {-2.1000001f, 3.5f, 3.21f, -1.98f, 3.21f, "kl"}},
      {"/model/x:0", {0, std::numeric_limits<float>::max(), 1e-45f, 0.1f, 1e30f, "minmax"}},
      {"122", {-0.0f, 1, 1, 0, 1, "kl"}},
      {"null", {0, 0, 0, 0, 0, "percentile 99.99"}},
      {"\xc3\xa9 \"q\"", {0, 1, 1, 0, 1, "kl"}}};
  table.unequalized = {{"conv1_out", {-9, 28, 28, -9, 28, "kl"}}};
  return table;
}

std::string MessageOf(const std::string& text) {
  return ErrorOf(ErrorCode::kInvalidInput, [&] { ReadTable(text, "t.yaml"); });
}

// A table with one tensor line (line 5).
std::string With(const std::string& tensor_line) {
  return "rshift_calibration: 1\nmodel_sha256: a\nmethod: kl\nsamples: 1\ntensors:\n" + tensor_line;
}
const char kFine[] = "  x: {min: -1, max: 1, threshold: 1, low: -1, high: 1, method: kl}\n";

TEST(TableTest, ShapesOfInputsAreDimensionsFromOneOn) {
  const auto message = [](const std::string& shapes) {
    return MessageOf(With(kFine) + "input_shapes: " + shapes + "\n");
  };
  EXPECT_EQ(message("{x: [1, 3], y: []}"), "no error");
  EXPECT_NE(message("{x: [1, 0]}").find("shape of input 'x': dimension 0"), std::string::npos);
  EXPECT_NE(message("{x: 3}").find("shape of input 'x' is not a list"), std::string::npos);
}

TEST(TableTest, ComesBackExactly) {
  const CalibrationTable table = Example();
  const std::string text = WriteTable(table);
  const CalibrationTable again = ReadTable(text, "t.yaml");
  EXPECT_EQ(WriteTable(again), text);
  EXPECT_EQ(again.sample_names, table.sample_names);
  EXPECT_EQ(again.preprocess, table.preprocess);
  EXPECT_EQ(again.check_samples, table.check_samples);
  EXPECT_EQ(again.environment, table.environment);
  EXPECT_EQ(again.equalization, table.equalization);
  ASSERT_EQ(again.unequalized.size(), 1u);
  EXPECT_EQ(again.unequalized[0].first, "conv1_out");
  EXPECT_EQ(again.unequalized[0].second.threshold, 28);
  EXPECT_EQ(again.input_shapes, table.input_shapes);
  EXPECT_EQ(again.method, table.method);
  EXPECT_EQ(again.pass_list_version, 3);
  ASSERT_EQ(again.tensors.size(), table.tensors.size());
  for (size_t i = 0; i < table.tensors.size(); ++i) {
    EXPECT_EQ(again.tensors[i].first, table.tensors[i].first);
    const TensorRange &a = again.tensors[i].second, &b = table.tensors[i].second;
    EXPECT_EQ(a.min, b.min);
    EXPECT_EQ(a.max, b.max);
    EXPECT_EQ(a.threshold, b.threshold);
    EXPECT_EQ(a.low, b.low);
    EXPECT_EQ(a.high, b.high);
    EXPECT_EQ(a.method, b.method);
  }
}

TEST(TableTest, HasTheDocumentedForm) {
  CalibrationTable table;
  table.model_sha256 = "ab12";
  table.method = "kl";
  table.samples = 100;
  table.tensors = {{"conv1_out", {-2.1000001f, 3.5f, 3.21f, -1.98f, 3.21f, "kl"}}};
  EXPECT_EQ(
      WriteTable(table),
      "rshift_calibration: 1\nmodel_sha256: ab12\nmethod: kl\nsamples: 100\nsamples_sha256: \"\"\n"
      "pass_list_version: 0\ntensors:\n"
      "  conv1_out: {min: -2.1000001, max: 3.5, threshold: 3.21, low: -1.98, high: 3.21, method: "
      "kl}\n");
}

TEST(TableTest, WhatARangeDoesComesBack) {
  CalibrationTable table = Example();
  TensorRange& range = table.tensors[0].second;
  range.symmetric = {1.23e-5f, 31.4f};
  range.asymmetric = {0, 200};
  range.reason = "never clipped: read by a Softmax";
  const std::string text = WriteTable(table);
  EXPECT_NE(text.find("method: kl, symmetric: {clipped: 1.23e-05, sqnr_db: 31.4}, asymmetric: "
                      "{clipped: 0, sqnr_db: 200}, reason: \"never clipped: read by a Softmax\"}"),
            std::string::npos);
  const CalibrationTable again = ReadTable(text, "t.yaml");
  EXPECT_EQ(WriteTable(again), text);
  EXPECT_EQ(again.tensors[0].second.symmetric->clipped, 1.23e-5f);
  EXPECT_EQ(again.tensors[0].second.asymmetric->sqnr_db, 200);
  EXPECT_EQ(again.tensors[0].second.reason, range.reason);
  EXPECT_FALSE(again.tensors[1].second.symmetric.has_value());
}

TEST(TableTest, WhatARangeDoesIsReadStrictly) {
  const auto error = [](const std::string& more) {
    return MessageOf(
        With("  x: {min: -1, max: 1, threshold: 1, low: -1, high: 1, method: kl, " + more + "}\n"));
  };
  EXPECT_EQ(error("symmetric: {clipped: 0.5, sqnr_db: -3}"), "no error");
  EXPECT_NE(error("symmetric: {clipped: 1.5, sqnr_db: 3}").find("expected a share of 0 to 1"),
            std::string::npos);
  for (const char* bad : {"symmetric: {clipped: 0.5}", "asymmetric: {clipped: .nan, sqnr_db: 1}",
                          "symmetric: {clipped: 0, sqnr_db: 1, extra: 2}", "symmetric: 5"})
    EXPECT_EQ(error(bad).rfind("t.yaml:6: ", 0), 0u) << bad;
}

TEST(TableTest, OddPreprocessingTextSurvives) {
  for (const char* text :
       {"a", "a\n\n", " a: 1\n", "a: 1\r\nb: 2\n", "\n", "a:\tb\n", "# c\na: {b: [1, 2]}\n"}) {
    CalibrationTable table;
    table.preprocess = text;
    EXPECT_EQ(ReadTable(WriteTable(table), "t").preprocess, text);
  }
}

TEST(TableTest, FindsByName) {
  const CalibrationTable table = Example();
  EXPECT_EQ(table.Find("122")->max, 1);
  EXPECT_EQ(table.Find("123"), nullptr);
}

TEST(TableTest, AcceptsAHandWrittenTable) {
  const CalibrationTable table =
      ReadTable(With(kFine) + "preprocess: {inputs: [{name: x}]}\n", "t.yaml");
  EXPECT_EQ(table.tensors.size(), 1u);
  EXPECT_FALSE(table.preprocess.empty());
}

TEST(TableTest, TablesWithoutCheckSamplesAreStillRead) {
  EXPECT_TRUE(ReadTable(With(kFine), "t.yaml").check_samples.empty());
}

TEST(TableTest, ABadCheckSampleIsNamed) {
  const auto error = [](const std::string& entry) {
    return MessageOf(With(kFine) + "check_samples:\n  - " + entry + "\n");
  };
  EXPECT_EQ(error("{name: a, sha256: b, sources: [{input: x, index: 0, paths: [p]}]}"), "no error");
  EXPECT_EQ(error("{name: a, sources: []}").rfind("t.yaml:8: ", 0), 0u);
  EXPECT_EQ(error("{name: a, sha256: b, sources: 5}").rfind("t.yaml:8: ", 0), 0u);
  EXPECT_EQ(error("{name: a, sha256: b, sources: [{input: x, index: z, paths: []}]}")
                .rfind("t.yaml:8: ", 0),
            0u);
}

TEST(TableTest, ErrorsNameFileAndLine) {
  EXPECT_EQ(MessageOf(With(kFine)), "no error");
  EXPECT_EQ(MessageOf(With(std::string(kFine) + kFine)).rfind("t.yaml:7: tensors has 'x' twice", 0),
            0u);
  const auto line6 = [](const std::string& line) {
    return MessageOf(With(line)).rfind("t.yaml:6: ", 0) == 0;
  };
  EXPECT_TRUE(line6("  x: {min: .nan, max: 1, threshold: 1, low: -1, high: 1, method: kl}\n"));
  EXPECT_TRUE(line6("  x: {min: -1, max: inf, threshold: 1, low: -1, high: 1, method: kl}\n"));
  EXPECT_TRUE(line6("  x: {min: -1, max: 1e99, threshold: 1, low: -1, high: 1, method: kl}\n"));
  EXPECT_TRUE(line6("  x: {min: -1, max: 1x, threshold: 1, low: -1, high: 1, method: kl}\n"));
  EXPECT_TRUE(line6("  x: {min: -1, max: 1, threshold: 1, low: -1, high: 1, methd: kl}\n"));
  EXPECT_TRUE(line6("  x: {min: -1, max: 1, threshold: 1, low: -1, high: 1}\n"));
  EXPECT_TRUE(line6("  x: {min: -1, max: 1, low: -1, high: 1, method: kl}\n"));
  EXPECT_TRUE(line6("  x: {min: 2, max: 1, threshold: 1, low: -1, high: 1, method: kl}\n"));
  EXPECT_TRUE(line6("  x: {min: -1, max: 1, threshold: -1, low: -1, high: 1, method: kl}\n"));
  EXPECT_TRUE(line6("  x: {min: -1, max: 1, threshold: 1, low: 1, high: -1, method: kl}\n"));
  EXPECT_TRUE(line6("  x: 5\n"));
}

TEST(TableTest, RejectsWhatIsNotATable) {
  EXPECT_NE(MessageOf("").find("not a calibration table"), std::string::npos);
  EXPECT_NE(MessageOf("hello").find("not a calibration table"), std::string::npos);
  EXPECT_NE(MessageOf("a: b\n").find("not a calibration table"), std::string::npos);
  EXPECT_EQ(MessageOf("a: [b\n").rfind("t.yaml:", 0), 0u);
  EXPECT_EQ(
      MessageOf("rshift_calibration: 2\nmodel_sha256: a\nmethod: kl\nsamples: 1\ntensors: {}\n")
          .rfind("t.yaml:1: version 2", 0),
      0u);
  EXPECT_EQ(MessageOf(With(kFine) + "extra: 1\n").rfind("t.yaml:7: ", 0), 0u);
  EXPECT_NE(MessageOf("rshift_calibration: 1\nmethod: kl\nsamples: 1\ntensors: {}\n")
                .find("model_sha256"),
            std::string::npos);
}

TEST(TableTest, NamesOfThousandsOfCharactersComeBack) {
  CalibrationTable table = Example();
  for (const size_t size : {998, 1000, 1024, 1025, 5000, 60000}) {
    table.tensors.emplace_back(std::string(size, 'n') + "/: #" + std::to_string(size),
                               TensorRange{0, 1, 1, 0, 1, "kl"});
  }
  const std::string text = WriteTable(table);
  const CalibrationTable read = ReadTable(text, "t.yaml");
  ASSERT_EQ(read.tensors.size(), table.tensors.size());
  for (size_t i = 0; i < table.tensors.size(); ++i)
    EXPECT_EQ(read.tensors[i].first, table.tensors[i].first);
  EXPECT_EQ(WriteTable(read), text);
  table.tensors.emplace_back(std::string(70000, 'n'), TensorRange{});
  EXPECT_THROW(WriteTable(table), Error) << "such a table could not be read back";
}

TEST(TableTest, InfinitiesOfMasksComeBack) {
  CalibrationTable table = Example();
  table.tensors[0].second.infinities = 12345678901;
  const CalibrationTable read = ReadTable(WriteTable(table), "t.yaml");
  EXPECT_EQ(read.tensors[0].second.infinities, 12345678901u);
  EXPECT_EQ(read.tensors[1].second.infinities, 0u);
}

TEST(TableTest, LimitsAreCheckedBeforeTheWork) {
  const std::string line(4 << 20, 'x'), brackets(1000000, '[');
  for (const std::string& text : {line, "a: {b: 1}\n" + line, brackets, "tensors: " + brackets}) {
    EXPECT_NE(MessageOf(text).find("bytes in one line, a YAML file has at most 65536"),
              std::string::npos);
  }
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += "[\n";
  EXPECT_NE(MessageOf(nested).find("not valid YAML"), std::string::npos);
  EXPECT_NE(MessageOf(std::string((64 << 20) + 1, '\n')).find("a YAML file has at most 67108864"),
            std::string::npos);
}

// A model with an input x, scaled as x__equalized, and a tensor a, scaled as a__equalized.
CalibrationTable Equalized() {
  CalibrationTable table;
  table.equalization = {{"x", {1, 0}}, {"a", {0, 2}}};
  table.tensors = {{"x", {0, 8, 8, 0, 8, "kl"}},
                   {"x__equalized", {0, 4, 4, 0, 4, "kl"}},
                   {"a__equalized", {0, 2, 2, 0, 2, "kl"}},
                   {"y", {0, 1, 1, 0, 1, "kl"}}};
  table.unequalized = {{"a", {0, 5, 5, 0, 5, "mse"}}};
  return table;
}

TEST(WithoutEqualizationTest, TheModelsOwnTensorsComeBack) {
  const CalibrationTable table = WithoutEqualization(Equalized(), "t.yaml");
  EXPECT_TRUE(table.equalization.empty());
  EXPECT_TRUE(table.unequalized.empty());
  ASSERT_EQ(table.tensors.size(), 3u);
  EXPECT_EQ(table.tensors[0].first, "x");
  EXPECT_EQ(table.tensors[1].first, "a");
  EXPECT_EQ(table.tensors[1].second.threshold, 5);
  EXPECT_EQ(table.tensors[1].second.method, "mse");
  EXPECT_EQ(table.tensors[2].first, "y");
  EXPECT_EQ(WriteTpuMlirTable(Equalized()), WriteTpuMlirTable(table));
}

TEST(WithTrialTest, TakesTheScaledTensorsAndKeepsTheModels) {
  CalibrationTable table = Equalized();
  table.trial = {{"y", {3, 0, 1}}};
  table.trial_tensors = {{"y__equalized", {0, 7, 7, 0, 7, "kl"}}};
  const std::string text = WriteTable(table);
  EXPECT_EQ(WriteTable(ReadTable(text, "t.yaml")), text);
  const CalibrationTable all = WithTrial(table);
  ASSERT_EQ(all.equalization.size(), 3u);
  EXPECT_EQ(all.equalization[2].tensor, "y");
  ASSERT_NE(all.Find("y__equalized"), nullptr);
  EXPECT_EQ(all.Find("y__equalized")->threshold, 7);
  EXPECT_EQ(all.Find("y"), nullptr);
  EXPECT_TRUE(all.trial.empty() && all.trial_tensors.empty());
  // Back to the model as it is.
  EXPECT_EQ(WriteTable(WithoutEqualization(all, "t")), WriteTable(WithoutEqualization(table, "t")));
}

TEST(WithTrialTest, ARangeOfWhatIsNotTriedIsRefused) {
  CalibrationTable table = Equalized();
  table.trial = {{"y", {3, 0, 1}}};
  table.trial_tensors = {{"z__equalized", {0, 7, 7, 0, 7, "kl"}}};
  EXPECT_NE(MessageOf(WriteTable(table))
                .find("trial_tensors has 'z__equalized', which trial_equalization does not scale"),
            std::string::npos);
}

TEST(WithoutEqualizationTest, AnOldTableIsRefusedByTheTensorItSaysNothingOf) {
  CalibrationTable table = Equalized();
  table.unequalized.clear();
  EXPECT_EQ(ErrorOf(ErrorCode::kInvalidInput, [&] { WithoutEqualization(table, "t.yaml"); }),
            "t.yaml: equalizes 2 tensors and has no range of 'a' as the model has it (an older "
            "model_calibrate made it); calibrate again");
}

TEST(TpuMlirTableTest, ANumberThatIsNotFiniteIsNamedWithItsLine) {
  for (const char* bad : {"nan", "inf", "-inf", "1e99"}) {
    const std::string line = std::string("conv1 1.5 ") + bad + " 2";
    EXPECT_NE(MessageOf("# comment\n" + line + "\n").find("t.yaml:2: '" + line + "' is not"),
              std::string::npos);
  }
}

TEST(TpuMlirTableTest, ComesBack) {
  CalibrationTable table = Example();
  table.equalization.clear();
  table.unequalized.clear();
  table.tensors.resize(2);
  const CalibrationTable again = ReadTable(WriteTpuMlirTable(table), "t");
  ASSERT_EQ(again.tensors.size(), 2u);
  EXPECT_EQ(again.tensors[0].first, "conv1_out");
  EXPECT_EQ(again.tensors[0].second.threshold, 3.21f);
  EXPECT_EQ(again.tensors[0].second.low, -1.98f);
  EXPECT_EQ(again.tensors[0].second.min, -1.98f);
  EXPECT_EQ(again.tensors[1].second.high, 1e30f);
}

TEST(TpuMlirTableTest, ReadsTheirFilesAndNothingSilently) {
  const CalibrationTable table = ReadTable(
      "# mlir version: x\n###\n# op_name threshold min max\n"
      "images_Conv 1.0000080 0.0000000 1e+05\r\n\n",
      "t");
  EXPECT_EQ(table.tensors[0].second.high, 1e5f);
  EXPECT_EQ(MessageOf("a 1 0 1\nb nan 0 1\n").rfind("t.yaml:2: ", 0), 0u);
  EXPECT_EQ(MessageOf("a 1 0 1\nb 1 0\n").rfind("t.yaml:2: ", 0), 0u);
  EXPECT_EQ(MessageOf("a 1 0 1\n# c\na 1 0 1\n").rfind("t.yaml:3: tensor 'a' occurs twice", 0), 0u);
}

TEST(TpuMlirTableTest, RefusesNamesItCannotHold) {
  CalibrationTable table;
  table.tensors = {{"a b", {}}};
  EXPECT_THROW(WriteTpuMlirTable(table), Error);
}

}  // namespace
}  // namespace rshift
