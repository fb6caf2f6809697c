// NumPy files with named tensors, and how recorded values are kept in them.
//
// A .npz is a zip archive of KEY.npy. What NumPy has no type for is encoded: strings as KEY#bytes
// (uint8, concatenated), KEY#offsets (int64, one more than there are strings) and KEY#shape
// (int64); bfloat16 as KEY#bf16 (uint16, the bits). Files are untrusted; see npy.h and zip.h.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace tare {

using NpzArrays = std::vector<std::pair<std::string, Tensor>>;

// All arrays of one archive together may have this many bytes.
constexpr size_t kMaxNpzBytes = size_t{2} << 30;

// Errors name the file. Tensors belong to the caller.
Result<Tensor> ReadNpyFile(const Ref<Account>& account, const std::string& path);
// Sorted by name.
Result<NpzArrays> ReadNpzFile(const Ref<Account>& account, const std::string& path);

Status WriteNpyFile(const std::string& path, const Tensor& tensor);
// The archive is deflated. InvalidArgument for resources and variants.
Status WriteNpzFile(const std::string& path, const NpzArrays& tensors);

}  // namespace tare
