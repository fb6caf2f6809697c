// What a checkpoint's index says: its header, and for each tensor its type, shape and place in the data.
#pragma once
#include <string_view>

#include "bundle/byte_reader.h"
#include "bundle/tensor_slice.h"
#include "tensor/dtype.h"

namespace tare {

struct BundleHeader {
  int32_t num_shards = 0;
  // DataLoss when not parseable or big-endian; InvalidArgument, in TensorFlow's words, for a version that
  // this reader must not read.
  static Result<BundleHeader> Parse(std::string_view message);
};

// Views into the index; offset and size are as stored, unchecked.
struct BundleEntry {
  std::string_view name;
  DType dtype = DType::kInvalid;
  Shape shape;
  int32_t shard = 0;
  int64_t offset = 0;
  int64_t size = 0;
  uint32_t crc = 0;              // masked
  size_t slices = 0;             // into how many pieces the tensor is partitioned; 0: it is not
  std::string_view message;

  // DataLoss, in TensorFlow's words, for a message that is none or a shape that is none.
  static Result<BundleEntry> Parse(std::string_view name, std::string_view message);

  // Calls f(const TensorSlice&) -> Status for each piece.
  template <class F>
  Status ForEachSlice(F&& f) const;
};

template <class F>
Status BundleEntry::ForEachSlice(F&& f) const {
  MessageReader m(message);
  while (m.Next()) {
    if (m.field() != 7) continue;
    TARE_ASSIGN_OR_RETURN(TensorSlice slice, TensorSlice::FromMessage(m.Message()));
    TARE_RETURN_IF_ERROR(f(slice));
  }
  return OkStatus();
}

}  // namespace tare
