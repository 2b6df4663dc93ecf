// Ctrl-C in a conversation: it stops the answer, and pressed again it ends the program.
#pragma once

namespace nmc {

// Handles SIGINT from now on. Call once, from main. The state is process-wide: signals force that.
void watch_ctrl_c();

// Whether it was pressed since the last `forget_ctrl_c`. A second press before that has ended the
// process with exit code 130. Safe from any thread.
bool ctrl_c_pressed();
void forget_ctrl_c();

// Waits until standard input has something or ended; false when Ctrl-C was pressed before or
// meanwhile. `known`: that it was pressed before is known, and no reason to return.
bool wait_for_input(bool known);

}  // namespace nmc
