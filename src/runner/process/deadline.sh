# Terminates the processes of an attempt when its deadline passes, in case no node is there to do it.
#
#   sh deadline.sh FOLDER SHIM
#
# FOLDER/deadline contains seconds since boot, like /proc/uptime, so that no clock step can move it. The node that
# renews the lease replaces the file; it is read again only when the time it named has come.
lh_folder=$1 lh_shim=$2 PATH=/usr/local/bin:/usr/bin:/bin
exec 2>/dev/null
trap 'kill $!; exit 0' USR1
while read -r lh_at <"$lh_folder/deadline" && read -r lh_now lh_rest </proc/uptime && [ "${lh_now%.*}" -lt "$lh_at" ]; do
  sleep $((lh_at - ${lh_now%.*})) & wait $!
done
# Race with the end of the script: its shim then sends USR1, but processes that the script left behind must end too.
trap '' USR1
: >"$lh_folder/overdue"
lh_session=$(sed -n '2s/ .*//p' "$lh_folder/pid")
# Signals processes in the session of the script or with its mark, but never those in the session of the shim.
lh_signal() {
  lh_name=$1
  for lh_process in /proc/[0-9]*; do
    read -r lh_line <"$lh_process/stat" || continue
    set -- ${lh_line##*) }
    [ "$1" != Z ] && [ "$4" != "$lh_shim" ] || continue
    [ "$4" = "$lh_session" ] || grep -qszxF "LONGHAUL_ATTEMPT_MARK=$lh_folder" "$lh_process/environ" || continue
    kill -"$lh_name" "${lh_process#/proc/}" && lh_empty=0
  done
}
lh_signal TERM; lh_signal CONT; sleep 2
# Until three rounds in a row find no process: one that forks and exits may escape a single round.
lh_empty=0 lh_round=0
while [ $((lh_empty += 1)) -le 3 ] && [ $((lh_round += 1)) -le 100 ]; do lh_signal KILL; sleep 0.2; done
