#!/bin/bash
. "$(dirname "$LONGHAUL_REALSCRIPT")/longhaul.sh"

# data.json is {"n": 4}; the first parameters of a job are also RQ_PARAM1 to RQ_PARAM4.
n=$(sed 's/.*"n": *\([0-9]*\).*/\1/' data.json)
first=1
if [ -e checkpoint.json ]; then first=$(($(sed 's/[^0-9]//g' checkpoint.json) + 1)); fi

sum=0
for ((i = first; i <= n; i++)); do
  echo "square of $i is $((i * i))"
  sum=$((sum + i * i))
  longhaul progress $((100 * i / n)) "number $i"
  longhaul checkpoint "{\"done\": $i}"
done
echo "$sum" >out/sum.txt
longhaul tag squares
longhaul_dup copies || { longhaul err 'no copy could be sent'; exit 1; }
longhaul result "{\"sum\": $sum}"
longhaul done "squared $n numbers"
