package emu_test

import (
	"testing"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/kernels"
)

// TestExact: every kernel of the library is linear in its inputs, and right in the field of 2^61-1 elements.
func TestExact(t *testing.T) {
	for _, k := range kernels.Library() {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			for _, d := range sizesOf(k.Name()) {
				check.ExactKernel(t, k, check.Args{Dims: d})
			}
		})
	}
}
