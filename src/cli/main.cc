// `tare`: load, run, verify, soak and bench TensorFlow models from the command line.
#include <cstdio>
#include <exception>

#include "cli/command.h"

int main(int argc, char** argv) {
  CLI::App app("Tare loads TensorFlow models, runs them, unloads them, and gives every byte back.", "tare");
  app.set_version_flag("--version", "tare 0.1.0");
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);
  tare::Run run;
  tare::AddShow(app, &run);
  tare::AddRun(app, &run);
  tare::AddVerify(app, &run);
  tare::AddSoak(app, &run);
  tare::AddBench(app, &run);
  try {
    CLI11_PARSE(app, argc, argv);
    return run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tare: %s\n", e.what());
    return tare::kExitError;
  }
}
