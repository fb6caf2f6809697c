// `--passes`, for subcommands that load models.
#pragma once
#include <CLI/CLI.hpp>

#include "passes/passes.h"

namespace tare {

inline void AddPassesOption(CLI::App& command, PassOptions* passes) {
  auto parse = [passes](const std::string& list) {
    auto parsed = PassOptions::Parse(list);
    if (!parsed.ok()) throw CLI::ValidationError("--passes", std::string(parsed.status().message()));
    *passes = *parsed;
  };
  command.add_option_function<std::string>("--passes", parse,
      "Graph passes: all, none, or changes to what stands before, as in all,-fold (" + PassOptions::Names() + ")");
}

}  // namespace tare
