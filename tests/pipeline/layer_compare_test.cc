#include "pipeline/layer_compare.h"

#include <gtest/gtest.h>

#include "quantize/quantize.h"
#include "runtime/onednn/float_library.h"
#include "tests/pipeline/sample_list.h"

namespace rshift::test {
namespace {

const LayerResult& Find(const std::vector<LayerResult>& layers, const std::string& tensor) {
  for (const LayerResult& layer : layers) {
    if (layer.tensor == tensor) return layer;
  }
  throw std::runtime_error("no tensor " + tensor);
}

std::vector<LayerResult> Compare(LittleGraph& little) {
  RegisterFloatLibrary();
  const CalibrationTable table = little.Calibrate(4);
  const QuantizeResult quantized = QuantizeGraph(little.graph(), table, {});
  return CompareLayers(little.graph(), quantized.graph, Samples(little), 1);
}

TEST(LayerCompareTest, ChannelsShowWhatTheTensorsFigureHides) {
  LittleGraph little = NetWithOneBadTensor();
  const LayerResult wide = Find(Compare(little), "wide");
  EXPECT_GT(wide.similarity.sqnr_db, 30);
  EXPECT_GT(wide.similarity.cosine, 0.999);
  EXPECT_EQ(wide.channels.channels, 8);
  EXPECT_LT(wide.channels.median_db, 15);
  EXPECT_LT(wide.channels.worst_decile_db, 15);
}

TEST(LayerCompareTest, ErrorsAloneDoNotPileUpBehindTheDamage) {
  LittleGraph little = NetWithOneBadTensor();
  const std::vector<LayerResult> layers = Compare(little);
  EXPECT_LT(Find(layers, "last").channels.median_db, 15);
  EXPECT_GT(Find(layers, "last").alone_channels.median_db, 30);
  EXPECT_GT(Find(layers, "first").alone_channels.median_db, 30);
  EXPECT_LT(Find(layers, "wide").alone_channels.median_db, 15);
}

TEST(LayerCompareTest, WithoutErrorsBeforeItBothFiguresAgree) {
  LittleGraph little = NetWithOneBadTensor();
  const std::vector<LayerResult> layers = Compare(little);
  // The first product reads the quantized input, which is the ideal one.
  const LayerResult& first = Find(layers, "first");
  EXPECT_NEAR(first.alone.sqnr_db, first.similarity.sqnr_db, 0.5);
}

}  // namespace
}  // namespace rshift::test
