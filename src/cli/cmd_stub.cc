#include "cli/command.h"
namespace tare {
void AddRun(CLI::App&, Run*) {}
void AddVerify(CLI::App&, Run*) {}
void AddSoak(CLI::App&, Run*) {}
}  // namespace tare
