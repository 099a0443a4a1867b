# Runs an isolated process: isolate.sh MARK COMMAND…, with stderr joined to stdout, and a watcher beside it.
#
# fd 3: messages. fd 4: a socket that the worker holds open. Its end tells the watcher that the worker has ended, or needs
# the process no longer. The watcher then kills what is left: by the mark in the environment, and by the process group.
# It is a process of its own, because code that blocks every thread of the isolated process does not stop it.
mark=$1
shift
(
  (
    trap '' HUP INT TERM
    read -r self _ </proc/self/stat
    echo "$self" >&4
    read -r _ <&4
    # Repeated, because a process may fork while it is searched for.
    for round in 1 2 3; do
      for file in $(grep -lsF "$mark" /proc/[0-9]*/environ); do
        pid=${file#/proc/}
        kill -KILL "${pid%/environ}"
      done
    done
    kill -KILL 0
  ) </dev/null >/dev/null 2>&1 3>&- &
)
LONGHAUL_ATTEMPT_MARK=$mark
export LONGHAUL_ATTEMPT_MARK
exec "$@" 2>&1 4>&-
