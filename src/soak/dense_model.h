// Writes small SavedModels of a chosen size, without TensorFlow: chains of matrix products whose weights are
// constants of the graph. For sweeps over model size and for tests that need much memory from few files.
#pragma once
#include <string>

#include "status/status.h"

namespace tare {

struct DenseModelSize {
  int layers = 2;
  int width = 64;  // weights take layers * width * width * 4 bytes
};

// Makes DIR/saved_model.pb with signature serving_default, x [?,width] -> y [?,width].
Status WriteDenseModel(const std::string& dir, const DenseModelSize& size);

}  // namespace tare
