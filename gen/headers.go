package gen

import (
	"github.com/gocute/gocute/gen/cuda"
	"github.com/gocute/gocute/gen/lower"
)

// AtomHeaders makes the headers of all atoms that a kernel can run, by path below an include folder: what kernels in
// header mode include, and CUDA written by hand may.
func AtomHeaders() (map[string][]byte, error) { return cuda.Headers(lower.AtomOps()) }
