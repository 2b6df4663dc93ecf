// Ctrl-C as a question that long work asks itself, so that it can clean up and stop.
#pragma once

namespace nmc {

// From now on SIGINT, SIGTERM and SIGHUP only set a flag (the one process-wide state that signals
// force on us); a second signal ends the process at once. Call once, from main.
void catch_interrupts();

// True once SIGINT, SIGTERM or SIGHUP has arrived. Safe from any thread.
bool interrupted();

}  // namespace nmc
