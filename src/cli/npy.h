// NumPy's .npy format, versions 1.0 to 3.0: one array with a header that tells type, order and
// shape.
//
// Files are untrusted: the header is parsed strictly and the data must be exactly as long as it
// says. No pickled objects, no structured types. Either byte order and either element order are
// read; little endian in C order is written. 'S' and 'U' arrays are read as strings, trailing NULs
// dropped as NumPy does. bfloat16 has no NumPy type.
#pragma once
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace tare {

Result<Tensor> DecodeNpy(const Ref<Account>& account, std::string_view bytes);

// Strings become an 'S' array, bfloat16 float32. InvalidArgument for what the format cannot hold:
// strings that end in NUL, resources, variants.
Result<std::string> EncodeNpy(const Tensor& tensor);

}  // namespace tare
