#!/usr/bin/env bash
# Runs every GPU test and benchmark of the bundle in this folder and prints a summary; whole logs go to $OUT (or
# ./logs). Needs the driver; nvcc for the reference kernels; compute-sanitizer and cuBLAS where they are there.
set -u
cd "$(dirname "$0")"
logs=${OUT:-logs}
mkdir -p "$logs"
failed=0

# step NAME LINES COMMAND…: runs the command, shows the last LINES lines of its output.
step() {
  local name=$1 lines=$2 start=$SECONDS
  shift 2
  if "$@" >"$logs/$name.log" 2>&1; then echo "ok      $name ($((SECONDS - start)) s)"; else echo "FAILED  $name: $*"; failed=1; lines=40; fi
  tail -n "$lines" "$logs/$name.log" | sed 's/^/        /'
}

if [ -z "${GOCUTE_CUBLAS:-}" ]; then
  GOCUTE_CUBLAS=$(python3 -c 'import glob,sys; print(next((f for p in sys.path for f in sorted(glob.glob(p+"/nvidia/*/lib/libcublas.so.*"))), ""))' 2>/dev/null)
  if [ -n "$GOCUTE_CUBLAS" ]; then export GOCUTE_CUBLAS; else unset GOCUTE_CUBLAS; fi
fi

for t in cuda cublas launch; do step $t 1 ./$t.test -test.v -test.run GPU; done
step device 8 ./device.test -test.v
step bench 12 ./bench

# How long nvcc takes for the GEMM, alone in an empty folder.
compile() (
  dir=$(mktemp -d) && cp gemm_f16.cu "$dir" && cd "$dir" || exit
  for arch in sm_80 sm_90; do
    for i in 1 2 3; do
      t0=$EPOCHREALTIME
      nvcc -cubin -arch=$arch -O3 -std=c++17 gemm_f16.cu -o gemm.cubin || exit
      awk -v a=$arch -v s="$t0" -v e="$EPOCHREALTIME" 'BEGIN { printf "nvcc gemm_f16.cu %s %.2f s\n", a, e - s }'
    done
  done
)
if command -v nvcc >/dev/null; then step nvcc 6 compile; fi
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    GOCUTE_TEST_SMALL=1 step $tool 2 compute-sanitizer --tool $tool --report-api-errors no --error-exitcode 9 \
      ./device.test -test.run '^TestGEMM$/^cubin$|^TestKernels$'
  done
else
  echo "skipped compute-sanitizer: not here"
fi
exit $failed
