#compdef eksproxy
# zsh completion of eksproxy. Load it with: source <(eksproxy completion zsh)
_eksproxy() {
  local -a opts
  if [[ "${words[CURRENT]}" == -* ]]; then
    opts=("${(@f)$(${words[@]:0:$CURRENT} --generate-bash-completion 2>/dev/null)}")
  else
    opts=("${(@f)$(${words[@]:0:$((CURRENT - 1))} --generate-bash-completion 2>/dev/null)}")
  fi
  if (( ${#opts} )); then
    _describe 'values' opts
  else
    _files
  fi
}
compdef _eksproxy eksproxy
