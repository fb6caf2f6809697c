// TF_Function: a FunctionDef, as graphs and contexts take and give them.
#pragma once
#include <string>

#include "tensorflow/c/c_api.h"

struct TF_Function {
  std::string name;
  std::string function_def;
};
