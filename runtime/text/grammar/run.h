// Runs: long repetitions of one character class, such as the inside of a string. Which tokens stay
// within a run depends on the class and on how many characters are left, so it is found once for
// all states of all runs of a class.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nmc {

struct MachineState;

// The spellings of one repeated thing ("character"), none of which begins another one.
struct RunClass {
  static constexpr uint8_t kDead = 255;

  // By state and byte. State 0 stands between two characters: there they begin and end.
  std::vector<std::array<uint8_t, 256>> moves;

  bool begins(uint8_t byte) const { return moves[0][byte] != kDead; }
  // Equal for equal classes.
  std::string key() const;
};

// The class of the characters that a rule spells, whose states (machine.h) have no choices; nothing
// when one character begins another, when rules are called, or when few bytes begin one: then there
// is little to gain.
std::optional<RunClass> make_run_class(const std::vector<MachineState>& states);

// Plain text (plain_text.h).
const RunClass& plain_run_class();

}  // namespace nmc
