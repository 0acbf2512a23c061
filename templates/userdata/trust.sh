
# The trust store, where it lacks a certificate of ours.
set -- %ANCHORS%
[ -z "$root" ] || set --
for file; do
  case $(cat %BUNDLE%) in *"$(cat "$file")"*) ;; *) %COMMAND% && trusted=1 || failed=1; break ;; esac
done
