package build

import (
	"context"
	"fmt"
	"path/filepath"
)

// prover compiles a first kernel with the compiler in the target folder.
type prover func(ctx context.Context, target, scratch string) error

// proveNVCC tries the nvcc in a folder of wheels.
func proveNVCC(ctx context.Context, target, scratch string) error {
	tc, err := probe(ctx, filepath.Join(target, wheelRoot, nvccPack().main), originInstalled, proving(scratch))
	if err != nil {
		return err
	}
	return tc.proves(ctx, tc.Compile)
}

// proveNVRTC tries the library in a folder of wheels.
func proveNVRTC(ctx context.Context, target, scratch string) error {
	n, err := probeNVRTC(filepath.Join(target, wheelRoot, nvrtcPack().main), originInstalled, proving(scratch))
	if err != nil {
		return err
	}
	return n.proves(ctx, n.Compile)
}

// proves checks the release and compiles a first kernel.
func (c *Common) proves(ctx context.Context, compile func(context.Context, Source) (*Result, error)) error {
	if c.Version.Major != pinnedMajor || c.Version.Minor != pinnedMinor {
		return fmt.Errorf("expected release %d.%d, but got %s", pinnedMajor, pinnedMinor, c.Version)
	}
	_, err := compile(ctx, Source{Name: "gocute_check", Code: []byte(checkKernel), Archs: []string{"sm_80"}})
	return err
}

const checkKernel = `#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void gocute_check(__half* h, __nv_bfloat16* b) {
  h[threadIdx.x] = __float2half(__bfloat162float(b[threadIdx.x]));
}
`

// proving are the options of a compiler that is not in its place yet.
func proving(scratch string) Options { return Options{CacheDir: scratch, askLimit: askLimit} }
