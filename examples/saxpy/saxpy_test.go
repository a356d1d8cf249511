package saxpy

import (
	"testing"

	"github.com/gocute/gocute/check"
)

// TestSaxpy runs the kernel on the GPU if there is one, else in the emulator, which also looks for races and the like.
func TestSaxpy(t *testing.T) {
	for _, n := range []int64{1, 3, 512, 513, 10_007} {
		check.Kernel(t, Saxpy(), check.Args{Dims: map[string]int64{"n": n}}, check.Options{})
	}
}
