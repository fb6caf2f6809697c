// The subcommands of `tare`. Each lives in a file of its own: it adds itself to the parser, and its callback
// runs it and says the exit status.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace tare {

// Set by the subcommand that was chosen; run by main once parsing is done.
using Run = std::function<int()>;

void AddShow(CLI::App& app, Run* run);
void AddRun(CLI::App& app, Run* run);
void AddVerify(CLI::App& app, Run* run);
void AddSoak(CLI::App& app, Run* run);
void AddBench(CLI::App& app, Run* run);

// What every subcommand that fails on its own account returns.
constexpr int kExitError = 3;

}  // namespace tare
