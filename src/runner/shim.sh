# The shim: runs one attempt after the other, keeps what each says, and writes how it ended. It outlives node and runner
# process: without orders to come it ends when the attempt in hand has.
#
#   sh -s < orders    where the first line is `. shim.sh`, and an order is
#   lh_env() { export NAME=VALUE …; }; lh_attempt ID FOLDER STDIN CWD PLACE GROUP PRELUDE COMMAND [ARGUMENT]…
#
# In FOLDER it writes: pid (a line for itself, which nobody may have written before; a line for the script, "PID START" or
# "PID TIME latest", where it began at that time or before), log (all
# output), said (what came through fd 3), exit (spaces at first; at the end what it cost, then "STATUS CAT" and what the shim had cost before: the
# last line, once `said` is whole). Then it says ID on stdout. Both pipes are made of empty here-documents, so that no
# file is left behind; a shell that makes files of those gets FIFOs, unlinked at once. The script's environment is set
# in the script's own process alone, and tools are called by `command -p`, since PATH may be anything.
#
# After its first attempt whoever gives it more opens two pipes of its through /proc: 7, for its orders, and 9, where it then
# says its IDs (`lh_stand`). A shell that makes files of here-documents has none, and ends after that attempt.
#
# The cat that empties fd 3 into `said` stays for the next attempt if this one said nothing: whoever gives the order
# moves the empty file along, and without it there are new pipes and a new cat. So what was said, or answered, or
# written by somebody that was left behind, never reaches another attempt.
trap '' HUP INT QUIT TERM
umask 077; exec 2>/dev/null
exec 7<<. 9<<.
.
.
if [ -p /dev/fd/7 ]; then exec 8>/dev/fd/9; else exec 7<&- 9<&-; fi
lh_stand() { exec <&7 7<&- >&8 8>&- 9<&-; echo; }
lh_stamp() { read -r lh_line <"/proc/$1/stat" && set -- ${lh_line##*) } && lh_start=${20}; }
lh_now() { read -r lh_time lh_ </proc/uptime; lh_time=${lh_time%.*}${lh_time#*.}; }
lh_stamp $$; lh_own="$$ $lh_start"
# A shell reads byte by byte, and the time is a tenth as long. But a container may be shown a clock of its own.
lh_now; lh_quick=; [ "$lh_time" -ge "$lh_start" ] && [ "$lh_time" -le $((lh_start + 1000)) ] && lh_quick=1
lh_cat= lh_fifos= lh_is_in=; trap lh_shut EXIT
lh_look() { lh_state=; { read -r lh_ && read -r lh_ && read -r lh_ lh_state lh_; } <"/proc/$lh_cat/status"; }
lh_wrote() { { read -r lh_ lh_; read -r lh_ lh_bytes; } <"/proc/$lh_cat/io" || lh_bytes=0; }
lh_shut() {
[ -n "$lh_cat" ] || return 0
exec 3>&- 4>&-
# One that is gone has no number any more: that may be somebody else's by now.
lh_look; case $lh_state in ''|Z) ;; *) kill -9 $lh_cat ;; esac
wait $lh_cat; lh_end=$? lh_cat=; exec 5<&-
}
lh_open() {
[ ! -s "$lh_folder/said" ] || : >"$lh_folder/said"
exec 5<<. 6<<.
.
.
[ -p /dev/fd/5 ] || { lh_fifos=1; command -p mkfifo "$lh_folder/3" "$lh_folder/4"; exec 5<>"$lh_folder/3" 6<>"$lh_folder/4"; command -p rm "$lh_folder/3" "$lh_folder/4"; }
exec 3>/dev/fd/5 4<>/dev/fd/6; exec 5</dev/fd/5 6<&-
command -p cat <&5 >>"$lh_folder/said" 3>&- 4>&- 5<&- 7<&- 8>&- 9<&- & lh_cat=$!
}
lh_stands() { [ -n "$lh_cat" ] && [ -e "$lh_folder/said" ] && [ ! -s "$lh_folder/said" ] && lh_look && [ "$lh_state" = S ]; }
# What was used so far. A line that comes back behind others tells of a pipe that was written to by a script.
lh_used() { { times; echo "$lh_id"; } >&4; { read -r lh_; read -r lh_before; read -r lh_; } <&4; [ "$lh_" = "$lh_id" ]; }
lh_attempt() {
lh_id=$1 lh_folder=$2 lh_stdin=$3 lh_cwd=$4 lh_place=$5 lh_group=$6 lh_prelude=$7 lh_watch= lh_tries=0; shift 7
# The race with an adopter: whoever makes `pid` has decided whether this attempt was started.
set -C; echo "$lh_own $lh_place" >"$lh_folder/pid" || { set +C; echo "$lh_id"; return; }; set +C
# Once for all its attempts, which have the same group.
[ -n "$lh_is_in" ] || [ -z "$lh_group" ] || { echo 0 >"$lh_group/cgroup.procs"; lh_is_in=1; }
# Room for `exit` is taken now and written over at the end: a disk that is full by then keeps no status from being written.
printf '%128s' '' >"$lh_folder/exit"
lh_stands && lh_used || { lh_shut; lh_open; lh_used; }
if [ -e "$lh_folder/deadline" ]; then command -p sh "$lh_home/deadline.sh" "$lh_folder" $$ >/dev/null 3>&- 4>&- 5<&- 7<&- 8>&- 9<&- & lh_watch=$!; fi
# In the foreground, because a shell lets its background ignore INT and QUIT for ever. The pipes are opened anew: what
# a script sets on its own ends is not set on those of the next one.
( trap - HUP INT QUIT TERM
  if [ -n "$lh_quick" ] && cd -P /proc/self; then lh_now; echo "${PWD##*/} $lh_time latest" >>"$lh_folder/pid"
  else lh_stamp self; echo "${lh_line%% *} $lh_start" >>"$lh_folder/pid"; fi
  exec 2>>"$lh_folder/log" >&2 3>/dev/fd/3 4</dev/fd/4 5<&- 7<&- 8>&- 9<&- <"$lh_stdin"; cd "$lh_cwd" || exit 126
  unset OLDPWD; eval "$lh_prelude"; lh_env; exec "$@" )
lh_status=$? lh_end=0
[ -z "$lh_watch" ] || kill -USR1 "$lh_watch"
# A write to a pipe wakes its reader before the writer goes on. So a cat that sleeps has written all there was. So has
# one that wrote more since than a pipe can hold: then a process that the script left behind goes on talking.
while lh_look; do
  case $lh_state in S|Z) break ;; esac
  # Waiting for a child that does nothing lets the cat have the processor; asking again and again would keep it.
  ( : )
  [ $((lh_tries += 1)) -lt 50 ] && continue
  lh_wrote; [ $lh_tries -gt 50 ] || lh_enough=$((lh_bytes + 2097152))
  [ $lh_tries -lt 1000 ] || command -p sleep 0.1
  [ $lh_tries -lt 1100 ] && [ $lh_bytes -lt $lh_enough ] || break
done
# Nothing is kept of one that was killed; nor are FIFOs, since they are known by the folder they were made in.
[ "$lh_state" = S ] && [ ! -s "$lh_folder/said" ] && [ $lh_status -lt 128 ] && [ -z "$lh_fifos" ] || lh_shut
# Where no room was to be had, or a write needs new room all the same, this waits: without a status it would be a crash.
until { times && echo "$lh_status $lh_end $lh_before"; } 1<>"$lh_folder/exit" || [ ! -d "$lh_folder" ]; do command -p sleep 1; done
echo "$lh_id"
}
