# Completion for the nmc programs: options from their own --help, otherwise file names.
_nmc() {
  local word=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  if [[ $word == -* ]]; then
    local options
    options=$("${COMP_WORDS[0]}" --help 2>/dev/null | grep -oE '^  -[^ ]+( --[^ ]+)?' | tr -s ' ,' '\n')
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _nmc nmc-server nmc-convert nmc-inspect nmc-eval nmc-chat nmc-bench
