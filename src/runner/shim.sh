# The shim: runs one attempt after the other, keeps what each says, and writes how it ended. It outlives node and runner
# process: without orders to come it ends when the attempt in hand has.
#
#   sh -s < orders    where the first line is `. shim.sh`, and an order is
#   lh_env() { export NAME=VALUE …; }; lh_attempt ID FOLDER STDIN CWD PLACE PRELUDE COMMAND [ARGUMENT]…
#
# In FOLDER it writes: pid (a line for itself, which nobody may have written before; a line for the script), log (all
# output), said (what came through fd 3), exit (what it cost, then "STATUS CAT" and what the shim had cost before: the
# last line, once `said` is whole). Then it says ID on stdout. Both pipes are made of empty here-documents, so that no
# file is left behind; a shell that makes files of those gets FIFOs, unlinked at once. The script's environment is set
# in the script's own process alone, and tools are called by `command -p`, since PATH may be anything.
trap '' HUP INT QUIT TERM
umask 077; exec 2>/dev/null
lh_stamp() { read -r lh_line <"/proc/$1/stat" && set -- ${lh_line##*) } && lh_start=${20}; }
lh_stamp $$; lh_own="$$ $lh_start"
lh_wrote() { { read -r lh_ lh_; read -r lh_ lh_bytes; } <"/proc/$lh_cat/io" || lh_bytes=0; }
lh_attempt() {
lh_id=$1 lh_folder=$2 lh_stdin=$3 lh_cwd=$4 lh_place=$5 lh_prelude=$6 lh_watch= lh_tries=0; shift 6
# The race with an adopter: whoever makes `pid` has decided whether this attempt was started.
set -C; echo "$lh_own $lh_place" >"$lh_folder/pid" || { set +C; echo "$lh_id"; return; }; set +C
exec 5<<. 6<<.
.
.
[ -p /dev/fd/5 ] || { command -p mkfifo "$lh_folder/3" "$lh_folder/4"; exec 5<>"$lh_folder/3" 6<>"$lh_folder/4"; command -p rm "$lh_folder/3" "$lh_folder/4"; }
exec 3>/dev/fd/5 4<>/dev/fd/6; exec 5</dev/fd/5 6<&-
times >&4; read -r lh_before <&4; read -r lh_before <&4
command -p cat <&5 >>"$lh_folder/said" 3>&- 4>&- 5<&- & lh_cat=$!
if [ -e "$lh_folder/deadline" ]; then command -p sh "$lh_home/deadline.sh" "$lh_folder" $$ >/dev/null 3>&- 4>&- 5<&- & lh_watch=$!; fi
# In the foreground, because a shell lets its background ignore INT and QUIT for ever.
( trap - HUP INT QUIT TERM
  lh_stamp self; echo "${lh_line%% *} $lh_start" >>"$lh_folder/pid"
  exec 2>>"$lh_folder/log" >&2 5<&- <"$lh_stdin"; cd "$lh_cwd" || exit 126
  unset OLDPWD; eval "$lh_prelude"; lh_env; exec "$@" )
lh_status=$?
exec 3>&- 4>&-
[ -z "$lh_watch" ] || kill -USR1 "$lh_watch"
# A write to a pipe wakes its reader before the writer goes on. So a cat that sleeps has written all there was, and only
# a process that the script left behind still holds fd 3 open. So has one that wrote more since than a pipe can hold.
while { read -r lh_ && read -r lh_ && read -r lh_ lh_state lh_; } <"/proc/$lh_cat/status"; do
  case $lh_state in S) kill -9 $lh_cat ;; Z) break ;; esac
  # Waiting for a child that does nothing lets the cat have the processor; asking again and again would keep it.
  ( : )
  [ $((lh_tries += 1)) -lt 50 ] && continue
  lh_wrote; [ $lh_tries -gt 50 ] || lh_enough=$((lh_bytes + 2097152))
  [ $lh_tries -lt 1000 ] || command -p sleep 0.1
  [ $lh_tries -lt 1100 ] && [ $lh_bytes -lt $lh_enough ] || kill -9 $lh_cat
done
wait $lh_cat; lh_cat=$?
exec 5<&-
# On a full disk this waits for room: a status that is not written would count as a crash.
until { times; echo "$lh_status $lh_cat $lh_before"; } >"$lh_folder/exit" || [ ! -d "$lh_folder" ]; do command -p sleep 1; done
echo "$lh_id"
}
