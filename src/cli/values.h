// Values as people type and read them: JSON to tensors of a wanted dtype and shape, and back.
//
// Numbers, true and false, strings; nested lists, outermost dimension first. What JSON has no word
// for is a string: "NaN", "Infinity", "-Infinity"; complex numbers "1.5-2j". Bytes that are not
// UTF-8 are
// {"b64": "..."}, as in TensorFlow Serving's REST API. Untrusted: every value, range and length is
// checked.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace tare {

// InvalidArgument says where: "[1][0]: 300 does not fit uint8". An empty list takes the wanted
// shape's other dimensions. Tensors belong to the caller.
Result<Tensor> TensorFromJson(const Ref<Account>& account, const nlohmann::json& value, DType dtype,
                              const PartialShape& shape);
// REQUIRES: plain or string.
nlohmann::json TensorToJson(const Tensor& tensor);

// JSON text, or @FILE.npy, or, for a wanted string, text that is not JSON, taken as it is. A file's
// tensor must have the wanted dtype and shape.
Result<Tensor> TensorFromText(const Ref<Account>& account, std::string_view text, DType dtype,
                              const PartialShape& shape);
std::string TensorToText(const Tensor& tensor);

}  // namespace tare
