#!/bin/sh
# Runs the laws on LAWS cores and the mutants on JOBS, and stops both after LIMIT seconds. What there is then is kept:
# run it again with the same OUT and the mutants go on where they were. LAWS=0 leaves out the laws, JOBS=0 the mutants.
cd "$(dirname "$0")" || exit 1
cores=$(nproc)
LAWS=${LAWS:-$((cores / 2))}
JOBS=${JOBS:-$((cores - LAWS))}
LIMIT=${LIMIT:-18000}
OUT=${OUT:-results}
CASES=${CASES:-10000000}
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
laws= mutants=
if [ "$LAWS" -gt 0 ]; then
	(cd tree/algebra && GOCUTE_LAWS=$CASES GOMAXPROCS=$LAWS exec ../laws.test -test.v -test.timeout 5h -test.run 'TestLaws(Enumerated|Random)|TestLawProduct') >"$OUT/laws.log" 2>&1 &
	laws=$!
fi
if [ "$JOBS" -gt 0 ]; then
	./mutate -run . -jobs "$JOBS" -out "$OUT/verdicts" >"$OUT/mutants.log" 2>&1 &
	mutants=$!
fi
trap 'kill $laws $mutants 2>/dev/null; wait; exit 1' INT TERM

alive() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null; }
count() { grep -c "^$1" "$OUT/verdicts" 2>/dev/null; }

start=$(date +%s)
while alive "$laws" || alive "$mutants"; do
	sleep 5
	now=$(($(date +%s) - start))
	if [ $((now % 30)) -lt 5 ] || [ "$now" -ge "$LIMIT" ]; then
		echo "${now}s: $(count killed) killed, $(count timeout) out of time, $(count survived) survived of $(wc -l <mutants.txt); laws: $(grep -c 'given' "$OUT/laws.log" 2>/dev/null) of 6 lines"
	fi
	if [ "$now" -ge "$LIMIT" ]; then
		echo "stopped after $LIMIT s"
		kill $laws $mutants 2>/dev/null
		break
	fi
done
wait
tail -n 1 "$OUT/mutants.log" 2>/dev/null
tail -n 12 "$OUT/laws.log" 2>/dev/null
