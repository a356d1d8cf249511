# Targets: demo and test are the two commands of the README; check is what a commit must pass.
export CGO_ENABLED := 0
GO ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@2026.1
MODULES := . ./tests/device $(wildcard ./examples/*)

.PHONY: demo test check vet generate gpu-bundle bench toolchain clean

# Sets all up, generates and compiles every kernel, runs the GEMM and compares it with a float64 reference.
demo: toolchain
	$(GO) run ./cmd/gocute build ./kernels
	$(GO) run ./cmd/gocute run gemm_f16 ./kernels

# Everything that needs no GPU.
test: toolchain vet
	$(GO) test -count=1 ./...
	@for m in $(filter-out .,$(MODULES)); do (cd $$m && $(GO) test -count=1 ./...) || exit 1; done

# The quick part of test: builds, vets and runs the short tests.
check: vet
	$(GO) test -short -count=1 ./...

vet:
	@test -z "$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go'))" || { gofmt -l $$(git ls-files -co --exclude-standard '*.go'); echo "run gofmt -w on these"; exit 1; }
	$(GO) vet ./...

# Finds nvcc, or installs the pinned one into the user's cache directory.
toolchain:
	$(GO) run ./cmd/gocute toolchain

generate:
	$(GO) run ./cmd/gocute gen ./kernels
