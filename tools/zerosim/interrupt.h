// Removes unfinished files when a signal ends the program (^C, kill).
//
// A signal handler may touch little more than static memory and the system, so the paths stand in a
// fixed table. It is the one process-wide state of the command line.
#pragma once

#include <string>

namespace zerosim {

// From now on SIGINT, SIGTERM and SIGHUP remove the registered files before they end the program as
// they would have.
void RemoveFilesOnSignals();

// Registers a file, or takes it back. A path that is too long, or one too many, is left out.
void RemoveOnSignal(const std::string& path);
void KeepOnSignal(const std::string& path);

}  // namespace zerosim
