// Package device holds the tests and benchmarks that need a GPU. Its test binary is built without cgo and carried
// to the machine that has one.
package device

import (
	"context"
	_ "embed"
	"fmt"
	"math"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

//go:embed reference.cu
var referenceSource []byte

// Reference runs the hand-written reference kernels on a device.
type Reference struct {
	dev   *cuda.Device
	mod   *cuda.Module
	stats *cuda.Buffer[elem.F64]
}

// NewReference compiles and loads the reference with the nvcc of this machine.
func NewReference(ctx context.Context, dev *cuda.Device) (*Reference, error) {
	tools, err := build.Find(ctx, build.Options{NoInstall: true})
	if err != nil {
		return nil, err
	}
	arch := dev.Info().Arch()
	res, err := tools.Compile(ctx, build.Source{Name: "reference", Code: referenceSource, Archs: []string{arch}})
	if err != nil {
		return nil, err
	}
	bin, ok := res.Binary(arch)
	if !ok {
		return nil, fmt.Errorf("reference: no binary for %s", arch)
	}
	mod, err := dev.LoadData(bin.Cubin)
	if err != nil {
		return nil, err
	}
	stats, err := cuda.Alloc[elem.F64](dev, 3)
	return &Reference{dev: dev, mod: mod, stats: stats}, err
}

// name is the suffix of the reference's functions for an element type.
func name[E elem.Any]() string { return elem.KindOf[E]().String() }

// FillRandom sets a buffer to numbers in [-1, 1) that depend on the seed and the index.
func FillRandom[E elem.Any](r *Reference, b *cuda.Buffer[E], seed int) error {
	f, err := r.mod.Function("fill_" + name[E]())
	if err != nil {
		return err
	}
	args := f.Args()
	defer args.Release()
	args.I64(int64(b.Len())).I32(int32(seed)).Ptr(b.Ptr())
	return f.Launch(cuda.LaunchConfig{Grid: cuda.D1(1024), Block: cuda.D1(256)}, args)
}

// Difference is how far a result is from its reference.
type Difference struct {
	Relative  float64 // ‖out−ref‖ / ‖ref‖ over all finite elements
	NotFinite int     // elements that are NaN or infinite: never written, or wrong
}

// Compare measures C against alpha*A*B + beta*C0 for K-major A (M,K) and B (N,K), row-major C.
func Compare[E elem.Any](r *Reference, m, n, k int, a, b *cuda.Buffer[E], c0, c *cuda.Buffer[elem.F32], alpha, beta float64) (Difference, error) {
	f, err := r.mod.Function("compare_" + name[E]())
	if err != nil {
		return Difference{}, err
	}
	if err := r.stats.Zero(); err != nil {
		return Difference{}, err
	}
	args := f.Args()
	defer args.Release()
	args.I32(int32(m)).I32(int32(n)).I32(int32(k)).Ptr(a.Ptr()).Ptr(b.Ptr()).Ptr(c0.Ptr()).Ptr(c.Ptr())
	args.F64(alpha).F64(beta).Ptr(r.stats.Ptr())
	cfg := cuda.LaunchConfig{Grid: cuda.D2((m+31)/32, (n+31)/32), Block: cuda.D1(256)}
	if err := f.Launch(cfg, args); err != nil {
		return Difference{}, err
	}
	s, err := r.stats.Host()
	if err != nil {
		return Difference{}, err
	}
	d := Difference{NotFinite: int(s[2])}
	if s[1] > 0 {
		d.Relative = math.Sqrt(float64(s[0]) / float64(s[1]))
	}
	return d, nil
}
