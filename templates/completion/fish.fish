# fish completion of eksproxy. Load it with: eksproxy completion fish | source
function __eksproxy_complete
  set -l words (commandline -opc)
  set -l cur (commandline -ct)
  if string match -q -- '-*' $cur
    set -a words $cur
  end
  $words --generate-bash-completion 2>/dev/null
end
complete -c eksproxy -a '(__eksproxy_complete)'
