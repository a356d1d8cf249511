# demo and test are the two commands of the README; check is what a commit must pass.
export CGO_ENABLED := 0
GO ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOCUTE := $(GO) run ./cmd/gocute
MODULES := ./tests/device ./tests/sarif $(wildcard ./examples/*)
LDFLAGS := -ldflags="-s -w" -trimpath

.PHONY: demo test check vet generate gpu-bundle tune-bundle agree bench times laws test-golden fuzz clean

# Sets all up, generates every kernel, compiles them for sm_80 and sm_90, runs the GEMM on the GPU if there is one and
# else in the emulator, and compares it with a float64 reference.
demo:
	$(GOCUTE) build ./kernels
	$(GOCUTE) run gemm_f16 ./kernels

# Everything that needs no GPU. The first line finds or installs nvcc.
test: vet
	$(GOCUTE) build ./kernels
	$(GO) test -count=1 ./...
	@for m in $(MODULES); do echo "== $$m"; (cd $$m && $(GO) vet ./... && $(GO) test -count=1 ./...) || exit 1; done

# The quick part of test.
check: vet
	$(GO) test -short -count=1 ./...

vet:
	@test -z "$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go'))" || { echo "run gofmt -w on:"; gofmt -l $$(git ls-files -co --exclude-standard '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# Writes out/ anew; the tests fail where it is not what the code generates.
generate:
	$(GOCUTE) gen ./kernels --prune
	UPDATE=1 $(GO) test -count=1 -run TestIncludeIsCurrent ./tests

# One folder with everything that the GPU tests and benchmarks need; run its run.sh on a machine with a GPU.
gpu-bundle:
	$(GOCUTE) build ./kernels
	mkdir -p bundle
	cd tests/device && $(GO) test -c $(LDFLAGS) -o ../../bundle/device.test . && $(GO) build $(LDFLAGS) -o ../../bundle/ ./bench ./counters
	$(GO) test -c $(LDFLAGS) -o bundle/cuda.test ./cuda
	$(GO) test -c $(LDFLAGS) -o bundle/cublas.test ./cuda/cublas
	$(GO) test -c $(LDFLAGS) -o bundle/launch.test ./cuda/launch
	cp tests/device/run.sh tests/device/bench/compare.py bundle/
	@du -sh bundle

# The same for gocute tune: bundle/gocute tune --run bundle/gemm measures the GEMM's family there.
tune-bundle:
	mkdir -p bundle
	$(GO) build $(LDFLAGS) -o bundle/gocute ./cmd/gocute
	bundle/gocute tune gemm ./kernels --arch sm_90 --bundle bundle/gemm

# Holds every kernel's results on this machine's GPU against the emulator's, bit by bit, and prints the table.
agree:
	cd tests/device && $(GO) test -count=1 -run '^TestAgreement$$' -v .

# Times the GEMMs beside cuBLAS on this machine's GPU.
bench:
	$(GOCUTE) build ./kernels
	cd tests/device && $(GO) run ./bench

# How long it takes to generate all kernels (once the command is built) and to compile the GEMM.
times:
	$(GO) build -o bundle/gocute ./cmd/gocute
	bundle/gocute gen ./kernels >/dev/null
	@bash -c 'TIMEFORMAT="gocute gen ./kernels: %R s"; time bundle/gocute gen ./kernels >/dev/null'
	bundle/gocute build ./out/gemm_f16 --no-cache --compiler nvrtc
	bundle/gocute build ./out/gemm_f16 --no-cache

# The laws of the layout algebra over all small layouts and 10 million random ones: about half an hour on two cores.
laws:
	GOCUTE_LAWS=10000000 $(GO) test -count=1 -v -timeout 5h -run 'TestLaws(Enumerated|Random)|TestLawProduct' ./algebra

# The golden rows of the layout algebra, also of another folder: make test-golden GOCUTE_GOLDEN=dir
test-golden:
	$(if $(GOCUTE_GOLDEN),GOCUTE_GOLDEN=$(abspath $(GOCUTE_GOLDEN))) $(GO) test -count=1 -v -run 'TestGolden|TestEvalGolden' ./algebra ./algebra/calc ./cmd/gocute

# Ten minutes of fuzzing for each target.
fuzz:
	$(GO) test ./algebra -run '^$$' -fuzz FuzzParse -fuzztime 10m
	$(GO) test ./algebra -run '^$$' -fuzz FuzzCompose -fuzztime 10m
	$(GO) test ./algebra -run '^$$' -fuzz FuzzDivide -fuzztime 10m
	$(GO) test ./algebra/calc -run '^$$' -fuzz FuzzEval -fuzztime 10m
	$(GO) test ./cuda -run '^$$' -fuzz FuzzCalls -fuzztime 10m -fuzzminimizetime 10x
	$(GO) test ./cuda/tuned -run '^$$' -fuzz FuzzParse -fuzztime 10m
	$(GO) test ./tune -run '^$$' -fuzz FuzzReadBundle -fuzztime 10m -fuzzminimizetime 10x
	$(GO) test ./gen/golaunch -run '^$$' -fuzz FuzzPrint -fuzztime 10m
	$(GO) test ./cmd/gocute -run '^$$' -fuzz FuzzEvalArgs -fuzztime 10m
	$(GO) test ./cmd/gocute -run '^$$' -fuzz FuzzFindArgs -fuzztime 10m
	$(GO) test ./cmd/gocute -run '^$$' -fuzz FuzzShowArgs -fuzztime 10m

clean:
	rm -rf bundle out/*/bin/*.cubin out/*/bin/*.ptx
