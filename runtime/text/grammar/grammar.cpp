#include "runtime/text/grammar/grammar.h"

#include <algorithm>
#include <cassert>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/local_mask.h"

namespace nmc {
namespace {

constexpr size_t kKeptMasks = 64;           // whole masks one matcher keeps
constexpr size_t kMaxMaskBytes = 4u << 20;  // of local masks of a grammar; more start over

}  // namespace

// `mutex` guards the map; a mask once made is never changed or moved.
struct GrammarVocabulary::SharedMasks {
  std::mutex mutex;
  std::map<std::pair<std::string, StateId>, std::unique_ptr<LocalMask>> by_rule_and_state;
  RunTokensCache runs;
};

GrammarVocabulary::GrammarVocabulary(std::span<const std::string> spellings,
                                     std::vector<int32_t> end_tokens)
    : trie_(spellings),
      end_tokens_(std::move(end_tokens)),
      masks_(std::make_unique<SharedMasks>()) {
  compute_shared_masks();
}
GrammarVocabulary::~GrammarVocabulary() = default;

// Before any request: the masks inside strings are the slowest of all.
void GrammarVocabulary::compute_shared_masks() const {
  GrammarBuilder builder;
  JsonRules rules(builder);
  Result<Machine> compiled = compile_machine(builder, builder.rule("root", rules.value()));
  assert(compiled.ok());
  auto machine = std::make_shared<const Machine>(std::move(*compiled));
  LocalMasks masks(machine, trie_, masks_->runs);
  for (StateId state = 0; state < machine->states.size(); ++state) {
    RuleId rule = machine->rule_of(state);
    const std::string& name = machine->rule_names[rule];
    if (!name.starts_with(kSharedRulePrefix) || machine->states[state].edges.empty()) continue;
    shared_mask(name, state - machine->rule_start[rule], [&] { return masks.compute(state); });
  }
}

RunTokensCache& GrammarVocabulary::runs() const {
  return masks_->runs;
}

const LocalMask& GrammarVocabulary::shared_mask(const std::string& rule, uint32_t state,
                                                const std::function<LocalMask()>& compute) const {
  std::lock_guard lock(masks_->mutex);
  auto& mask = masks_->by_rule_and_state[{rule, state}];
  if (!mask) mask = std::make_unique<LocalMask>(compute());
  return *mask;
}

// `mutex` guards the masks; one once made is never changed.
class Grammar::Shared {
 public:
  Shared(std::shared_ptr<const Machine> machine,
         std::shared_ptr<const GrammarVocabulary> vocabulary)
      : machine_(std::move(machine)),
        vocabulary_(std::move(vocabulary)),
        masks_(machine_, vocabulary_->trie(), vocabulary_->runs()) {}

  const std::shared_ptr<const Machine>& machine() const { return machine_; }
  const GrammarVocabulary& vocabulary() const { return *vocabulary_; }

  std::shared_ptr<const LocalMask> local_mask(StateId state) {
    const StateId key = machine_->states[state].mask_class;
    std::lock_guard lock(mutex_);
    auto it = known_.find(key);
    if (it != known_.end()) return it->second;
    const RuleId rule = machine_->rule_of(key);
    const std::string& name = machine_->rule_names[rule];
    if (name.starts_with(kSharedRulePrefix)) {
      const LocalMask& mask = vocabulary_->shared_mask(name, key - machine_->rule_start[rule],
                                                       [&] { return masks_.compute(key); });
      // Owned by the vocabulary, which is kept here.
      return known_.emplace(key, std::shared_ptr<const LocalMask>(std::shared_ptr<void>(), &mask))
          .first->second;
    }
    auto mask = std::make_shared<const LocalMask>(masks_.compute(key));
    known_bytes_ += mask->bytes();
    if (known_bytes_ > kMaxMaskBytes) {
      known_.clear();
      known_bytes_ = mask->bytes();
    }
    return known_.emplace(key, std::move(mask)).first->second;
  }

 private:
  const std::shared_ptr<const Machine> machine_;
  const std::shared_ptr<const GrammarVocabulary> vocabulary_;
  std::mutex mutex_;
  LocalMasks masks_;
  std::unordered_map<StateId, std::shared_ptr<const LocalMask>> known_;  // by mask class
  size_t known_bytes_ = 0;
};

Grammar::Grammar(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}
Grammar::~Grammar() = default;

const GrammarVocabulary& Grammar::vocabulary() const {
  return shared_->vocabulary();
}

Result<std::shared_ptr<Grammar>> Grammar::compile(
    const GrammarBuilder& builder, RuleId root,
    std::shared_ptr<const GrammarVocabulary> vocabulary) {
  NMC_ASSIGN(Machine machine, compile_machine(builder, root));
  auto shared = std::make_unique<Shared>(std::make_shared<const Machine>(std::move(machine)),
                                         std::move(vocabulary));
  return std::shared_ptr<Grammar>(new Grammar(std::move(shared)));
}

struct GrammarMatcher::State {
  explicit State(std::shared_ptr<Grammar> g)
      : grammar(std::move(g)), automaton(grammar->shared_->machine()) {
    const Machine& m = automaton.machine();
    set = automaton.start(m.rule_start[m.root]);
  }

  const TokenTrie& trie() const { return grammar->shared_->vocabulary().trie(); }

  void compute_mask(std::span<uint32_t> mask) {
    if (automaton.size() > kMaxAutomatonSets) {
      set = automaton.keep_only(set);
      kept.clear();
    }
    std::fill(mask.begin(), mask.end(), 0u);
    // A copy: walking may add sets, which moves the vector.
    std::vector<Configuration> places = automaton.places(set);
    for (Configuration c : places) {
      const auto local = grammar->shared_->local_mask(c.state);
      local->add_to(mask);
      if (local->exits.empty()) continue;
      SetId after = automaton.resume(c.frame);
      if (automaton.places(after).empty()) continue;
      for (uint32_t node : local->exits) {
        walk_subtree(automaton, trie(), node, after,
                     [&](int32_t token) { allow_token(mask, token); });
      }
    }
    if (automaton.ended(set)) {
      for (int32_t token : grammar->shared_->vocabulary().end_tokens()) allow_token(mask, token);
    }
  }

  std::shared_ptr<Grammar> grammar;
  Automaton automaton;
  SetId set;
  std::list<std::pair<SetId, std::vector<uint32_t>>> kept;  // most recently used first
};

GrammarMatcher::GrammarMatcher(std::shared_ptr<Grammar> grammar)
    : state_(std::make_unique<State>(std::move(grammar))) {}
GrammarMatcher::~GrammarMatcher() = default;
GrammarMatcher::GrammarMatcher(GrammarMatcher&&) noexcept = default;

void GrammarMatcher::fill_mask(std::span<uint32_t> mask) {
  State& s = *state_;
  auto it =
      std::find_if(s.kept.begin(), s.kept.end(), [&](const auto& k) { return k.first == s.set; });
  if (it != s.kept.end()) {
    s.kept.splice(s.kept.begin(), s.kept, it);
    std::copy(it->second.begin(), it->second.end(), mask.begin());
    return;
  }
  s.compute_mask(mask);
  s.kept.emplace_front(s.set, std::vector<uint32_t>(mask.begin(), mask.end()));
  if (s.kept.size() > kKeptMasks) s.kept.pop_back();
}

bool GrammarMatcher::accept_token(int32_t token) {
  State& s = *state_;
  const auto& ends = s.grammar->shared_->vocabulary().end_tokens();
  if (std::find(ends.begin(), ends.end(), token) != ends.end()) return can_end();
  if (token < 0 || static_cast<size_t>(token) >= s.trie().vocab_size()) return false;
  std::string_view spelling = s.trie().spelling(token);
  if (spelling.empty() || spelling.size() > static_cast<size_t>(kMaxTokenBytes)) return false;
  SetId before = s.set;
  if (accept_bytes(spelling) == spelling.size()) return true;
  s.set = before;
  return false;
}

size_t GrammarMatcher::accept_bytes(std::string_view bytes) {
  State& s = *state_;
  for (size_t i = 0; i < bytes.size(); ++i) {
    SetId next = s.automaton.step(s.set, static_cast<uint8_t>(bytes[i]));
    if (next == kDeadSet) return i;
    s.set = next;
  }
  return bytes.size();
}

bool GrammarMatcher::can_end() const {
  return state_->automaton.ended(state_->set);
}
bool GrammarMatcher::must_end() const {
  return can_end() && state_->automaton.places(state_->set).empty();
}

}  // namespace nmc
