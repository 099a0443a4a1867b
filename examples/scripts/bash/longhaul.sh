# Longhaul's script commands for bash: `. longhaul.sh`, then `longhaul progress 40 pass 1`.

# Sends a command to the node. The text must not contain a newline.
longhaul() {
  local verb=$1
  shift
  printf '%s %s\n' "$verb" "$*" >&"${LONGHAUL_WRITE:-3}"
}

# longhaul_dup QUEUE [SECONDS]: adds a copy of this job to another queue. Prints its URL; fails with the reason on stderr.
longhaul_dup() {
  local word rest
  longhaul dup "${2:-0}-X-$1"
  read -r word rest <&"${LONGHAUL_READ:-4}"
  if [ "$word" = ok ]; then echo "$rest"; else echo "$rest" >&2; return 1; fi
}
