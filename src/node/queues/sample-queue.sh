#!/bin/sh
# Sample queue: prints coloured lines, reports progress, and ends after a minute. It changes nothing.
#   longhaul add sample                    takes a minute
#   longhaul add sample '{"param1":"5"}'   takes five seconds
# Any executable file in this folder is a queue of that name; delete this one when you have your own.

seconds=${LONGHAUL_PARAM1:-60}
case $seconds in *[!0-9]* | '' | 0) seconds=60 ;; esac

printf '\033[1mHello from job %s\033[0m, attempt %s. This takes %s seconds.\n' "$LONGHAUL_JOB_ID" "$LONGHAUL_ATTEMPT" "$seconds"

second=0
while [ "$second" -lt "$seconds" ]; do
  sleep 1
  second=$((second + 1))
  percent=$((second * 100 / seconds))
  printf '\033[3%dmstep %d of %d\033[0m\n' "$((second % 6 + 1))" "$second" "$seconds"
  echo "progress $percent step $second of $seconds" >&3
done

echo 'done it took a while' >&3
