# The shim: runs one attempt of a script, stores its reports, and writes its exit status. It outlives the node and the
# runner process. It has a session of its own, and so has the script.
#
# `sh -s` reads the start request (start-request.ts) from stdin; this file is its last line. The request sets `home`, the
# directory of this file, defines prepare_script (limits and environment), and sets the arguments FOLDER STDIN CWD PLACE
# GROUP COMMAND… A request that was cut short because the runner process died ends before that line, and starts nothing.
#
# Files in FOLDER, the attempt directory:
#   pid    "PID START PLACE" of the shim, then "PID START PIPE" of the script
#   log    stdout and stderr of the script
#   said   the reports that the script writes to fd 3
#   exit   spaces; at the end the output of `times`, then "STATUS CAT", the exit statuses of the script and of cat
#
# Tools are called through `command -p`, because the shim has no PATH.
trap '' HUP INT QUIT TERM
umask 077
exec </dev/null 2>/dev/null
folder=$1 stdin=$2 cwd=$3 place=$4 group=$5
shift 5

# The start time distinguishes a process from a later one with the same pid. A shell reads it byte by byte, so the
# runner process sets that of the shim.
read_stat() { read -r stat </proc/self/stat && set -- ${stat##*) } && start=${20}; }

# Race with an adopter (adopt.ts): the process that creates `pid` decides whether this attempt was started.
claim_attempt() { [ -n "$start" ] || read_stat; set -C; echo "$$ $start $place" >"$folder/pid" || exit 0; set +C; }

# Race with a disk that fills up: room for `exit` is reserved now, and write_exit overwrites it in place.
reserve_exit() { printf '%128s' '' >"$folder/exit"; }

# The inode of the pipe behind fd 3, by which processes that hold it are found (membership.ts). Old kernels do not
# report it. A FIFO needs none: it is found by its directory, and its inode may equal that of a pipe elsewhere.
read_pipe() { while read -r key value; do [ "$key" != ino: ] || pipe=$value; done </proc/self/fdinfo/3; }

# An empty here-document is a pipe in most shells and takes no process; where it is a file, FIFOs replace it. A pipe
# that is opened for reading and writing blocks on no other process, and has no end of file while the shim holds it.
open_pipes() {
  exec 3<<. 4<<.
.
.
  if [ -p /dev/fd/3 ]; then exec 3<>/dev/fd/3 4<>/dev/fd/4; read_pipe; return; fi
  command -p mkfifo "$folder/3" "$folder/4" || exit 1
  exec 3<>"$folder/3" 4<>"$folder/4"
  command -p rm "$folder/3" "$folder/4"
}

store_reports() { command -p cat </dev/fd/3 >>"$folder/said" 3>&- 4>&- & cat=$!; }

# Race with other nodes that share the store: deadline.sh ends the script when no node renews its lease.
watch_deadline() {
  [ -e "$folder/deadline" ] || return
  command -p sh "$home/deadline.sh" "$folder" $$ >/dev/null 3>&- 4>&- & deadline=$!
}

# In the foreground, because a shell makes its background processes ignore INT and QUIT.
run_script() (
  trap - HUP INT QUIT TERM
  # Race with a stop (terminate.ts): the process is recorded before it execs the script.
  read_stat; echo "${stat%% *} $start $pipe" >>"$folder/pid"
  [ -z "$group" ] || echo 0 >"$group/cgroup.procs"
  exec 2>>"$folder/log" >&2 3>/dev/fd/3 4</dev/fd/4 <"$stdin"
  cd "$cwd" || exit 126
  unset OLDPWD
  prepare_script
  exec "$@"
)

# A pid that is no longer that of a child belongs to another process: cat has ended.
read_state() {
  state=Z parent=
  while read -r key value rest; do
    case $key in State:) state=$value ;; PPid:) parent=$value; break ;; esac
  done <"/proc/$cat/status"
  [ "$parent" = $$ ] || state=Z
}

read_written() { { read -r rest && read -r rest written; } <"/proc/$cat/io" || written=$((written + 4096)); }

# Race with cat, which may still hold the last reports. A write to a pipe wakes its reader before the writer continues,
# so a cat that sleeps has written all of them. So has a cat that has since written more than a pipe can hold: then a
# process that the script left behind keeps writing. A cat that a node has paused for a moment needs more time. The shim
# keeps its own end of the pipe open: an end of file would wake a cat that has nothing to write.
drain_reports() {
  turns=0 written=0 enough=
  while read_state; [ "$state" != S ] && [ "$state" != Z ]; do
    read_written
    [ "$written" -lt "${enough:=$((written + 2097152))}" ] || break
    if [ $((turns += 1)) -le 100 ]; then ( : ); else command -p sleep 0.1; fi
  done
  [ "$state" = Z ] || kill -9 "$cat"
  wait "$cat"; cat_status=$?
}

# Written once, when the reports are complete. Without reserved room it waits: a missing `exit` would count as a crash.
write_exit() {
  until { times && echo "$status $cat_status"; } 1<>"$folder/exit" || [ ! -d "$folder" ]; do command -p sleep 1; done
}

claim_attempt
reserve_exit
open_pipes
store_reports
watch_deadline
run_script "$@"; status=$?
[ -z "$deadline" ] || kill -USR1 "$deadline"
drain_reports
write_exit
