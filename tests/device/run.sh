#!/usr/bin/env bash
# Runs every GPU test and benchmark of the bundle in this folder and prints a summary; whole logs go to $OUT (or
# ./logs). Needs the driver; nvcc for the reference kernels; compute-sanitizer, cuBLAS, torch with Triton and ncu where
# they are there.
set -u
cd "$(dirname "$0")"
logs=${OUT:-logs}
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/*.csv "$logs"/*.svg
failed=0

# step NAME LINES COMMAND…: runs the command, shows the last LINES lines of its output. NAME:LOG appends to LOG.log.
step() {
  local log=${1#*:} name=${1%:*} lines=$2 start=$SECONDS out
  shift 2
  out=$(mktemp)
  if "$@" >"$out" 2>&1; then echo "ok      $name ($((SECONDS - start)) s)"; else echo "FAILED  $name: $*"; failed=1; lines=40; fi
  tail -n "$lines" "$out" | sed 's/^/        /'
  { echo "== $name"; cat "$out"; } >>"$logs/$log.log"
  rm -f "$out"
}

if [ -z "${GOCUTE_CUBLAS:-}" ]; then
  GOCUTE_CUBLAS=$(python3 -c 'import glob,sys; print(next((f for p in sys.path for f in sorted(glob.glob(p+"/nvidia/*/lib/libcublas.so.*"))), ""))' 2>/dev/null)
  if [ -n "$GOCUTE_CUBLAS" ]; then export GOCUTE_CUBLAS; else unset GOCUTE_CUBLAS; fi
fi

for t in cuda cublas launch; do step $t:cuda 1 ./$t.test -test.v -test.run GPU; done
step device 8 ./device.test -test.v -test.skip '^(TestAgreement|TestCompileTime)$'
step agree 12 ./device.test -test.run '^TestAgreement$' # prints its table
step bench 60 ./bench -csv "$logs/bench.csv"
results=$logs/bench.csv
if python3 -c 'import torch, triton' 2>/dev/null; then
  step compare 60 python3 compare.py --csv "$logs/compare.csv"
  if [ -f "$logs/compare.csv" ]; then results=$results,$logs/compare.csv; fi
else
  echo "skipped compare: torch or Triton is not here"
fi
step plot 1 ./bench -plot "$results" -o "$logs/bench.svg"

# What make tune-bundle prepared, if it did.
if [ -d gemm ]; then step tune 24 ./gocute tune --run gemm -o "$logs/gemm.tune.json"; fi

# How long nvcc takes, with nothing else running.
step nvcc 64 ./device.test -test.v -test.run '^TestCompileTime$'
# Races are looked for in four kernels, eight seconds each; others take minutes.
if command -v compute-sanitizer >/dev/null; then
  sanitize() {
    GOCUTE_TEST_SMALL=1 step "$1" 2 compute-sanitizer --tool "$1" --report-api-errors no --error-exitcode 9 ./device.test -test.run "$2"
  }
  sanitize memcheck '^TestGEMM$/^cubin$|^TestKernels$'
  sanitize racecheck '^TestKernels$/^gemm_(f16|f16_f16|f16_bias_gelu|s8_s8)$/cubin'
else
  echo "skipped compute-sanitizer: not here"
fi

# The emulator's bank conflicts and sectors beside the hardware's counters. An unknown name makes ncu measure nothing,
# so the metrics are asked for in groups; those that are not there are left out.
counters() (
  dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT || exit
  ./counters -predict || exit
  ./counters -launch || exit # compiles the kernels, which is then not done under ncu
  ncu --query-metrics >"$dir/known" 2>/dev/null
  echo "ncu knows $(wc -l <"$dir/known") metrics, among them:"
  grep -E '^[a-z0-9_]*(mem_shared|op_ldsm|ldgsts|lsu_mem_global_op)' "$dir/known" | cut -c1-110
  n=0 files=
  while read -r group; do
    n=$((n + 1))
    if ! timeout 150 ncu --clock-control none --target-processes application-only --csv --print-units base \
      --metrics "$group" ./counters -launch >"$dir/$n.csv" 2>&1 </dev/null; then
      echo "ncu: $group: $(grep -h '==ERROR==' "$dir/$n.csv" | head -n 2 | tr '\n' ' ')"
      if grep -qiE 'failed to initialize|LibraryNotLoaded|ERR_NVGPUCTRPERM|not supported on this device' "$dir/$n.csv"; then
        echo "skipped: ncu cannot read this machine's counters"
        exit 0
      fi
      continue
    fi
    files=$files,$dir/$n.csv
  done < <(./counters -metrics "$dir/known")
  ./counters -join "${files#,}"
)
if command -v ncu >/dev/null; then step counters 14 counters; else echo "skipped counters: ncu is not here"; fi

# The share of the tensor pipe by ncu, over one launch, beside that of the benchmark: by the clock in the kernel. The
# benchmark's is of all time, as is what ncu calls elapsed; active leaves out when a multiprocessor has no block.
tensor() (
  dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT || exit
  once=(./bench -once gemm_f16 -sizes 4096)
  "${once[@]}" || exit # compiles the kernel
  ncu --query-metrics 2>/dev/null | grep -oE '^sm__(pipe_tensor[a-z0-9_]*_cycles_active|inst_executed_pipe_tensor[a-z0-9_]*) ' >"$dir/known"
  while read -r metric; do
    if ! timeout 150 ncu --clock-control none --target-processes application-only --csv --print-units base \
      --kernel-name gemm_f16 --metrics "$metric.avg.pct_of_peak_sustained_active,$metric.avg.pct_of_peak_sustained_elapsed" "${once[@]}" >"$dir/out" 2>&1 </dev/null; then
      echo "ncu: $metric: $(grep -h '==ERROR==' "$dir/out" | head -n 2 | tr '\n' ' ')"
      if grep -qiE 'failed to initialize|LibraryNotLoaded|ERR_NVGPUCTRPERM|not supported on this device' "$dir/out"; then
        echo "skipped: ncu cannot read this machine's counters"
        exit 0
      fi
      continue
    fi
    awk -F'","' '/^"[0-9]+","/ { gsub(/"/, "", $NF); if ($NF + 0 > 0) printf "%-84s %6.2f %%\n", $(NF - 2), $NF }' "$dir/out"
  done < <(sort -u "$dir/known")
  awk -F, '$2 == "zeros" && $5 == 4096 && $6 == 4096 && $8 == "gocute gemm_f16" {
    printf "%-84s %6.2f %% at %s GHz\n", "TFLOP/s over the pipe\047s limit at the clock inside the kernel (bench, zeros)", 100 * $14, $13 }' "$logs/bench.csv"
)
if command -v ncu >/dev/null; then step tensor 20 tensor; else echo "skipped tensor: ncu is not here"; fi
exit $failed
