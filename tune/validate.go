package tune

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gocute/gocute/check"
)

// The most threads of a block and bytes of its shared memory that any GPU has room for.
const (
	maxThreads = 1024
	maxShared  = 1 << 20
)

// validate refuses manifests that Measure could not work on: they are read from disk.
func (m *Manifest) validate() error {
	seen := map[string]bool{}
	for _, c := range m.Candidates {
		switch {
		case c == nil:
			return errors.New("expected entries, but one is null")
		case seen[c.Config]:
			return fmt.Errorf("expected candidates of different configs, but got %q twice", c.Config)
		case c.Image != "" && (!filepath.IsLocal(c.Image) || filepath.Base(c.Image) != c.Image || c.Image == "." || c.Image == manifestName):
			return fmt.Errorf("%s: expected images in the same folder, but got %q", c.Config, c.Image)
		case c.Image != "" && (c.Threads < 1 || c.Threads > maxThreads || c.Shared < 0 || c.Shared > maxShared):
			return fmt.Errorf("%s: expected 1 to %d threads and 0 to %d bytes of shared memory, but got %d and %d", c.Config, maxThreads, maxShared, c.Threads, c.Shared)
		}
		seen[c.Config] = true
	}
	for _, s := range m.Shapes {
		if s == nil {
			return errors.New("expected entries, but one is null")
		}
		if err := s.validate(m); err != nil {
			return fmt.Errorf("%s: %w", DimsText(s.Dims), err)
		}
	}
	return nil
}

func (s *Shape) validate(m *Manifest) error {
	sizes := map[string]int64{} // bytes, by tensor
	for i := range s.Tensors {
		t := &s.Tensors[i]
		if _, twice := sizes[t.Name]; twice || t.Name == "" {
			return fmt.Errorf("expected tensors with names of their own, but got %q", t.Name)
		}
		n, err := t.Size()
		if err != nil {
			return err
		}
		sizes[t.Name] = n
	}
	for _, l := range s.Launches {
		if l == nil {
			return errors.New("expected entries, but one is null")
		}
		if err := l.validate(m, s); err != nil {
			return fmt.Errorf("%s: %w", l.Config, err)
		}
	}
	for _, e := range s.Expected {
		if s.Tensor(e.Output) == nil || len(e.Offsets) != len(e.Want) || slices.ContainsFunc(e.Offsets, func(o int64) bool { return o < 0 || o >= max(sizes[e.Output], 1) }) {
			return fmt.Errorf("expected values of a tensor, one for each offset within it, but got %d for %d of %q", len(e.Want), len(e.Offsets), e.Output)
		}
	}
	return nil
}

func (l *Launch) validate(m *Manifest, s *Shape) error {
	if m.Candidate(l.Config) == nil {
		return errors.New("it is launched, but is no candidate")
	}
	if l.Refused != "" {
		return nil
	}
	if g := l.Grid; min(g.X, g.Y, g.Z) < 0 {
		return fmt.Errorf("expected a grid of 0 or more blocks, but got (%d,%d,%d)", g.X, g.Y, g.Z)
	}
	for i, a := range l.Args {
		if err := validateArg(&a, s); err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
	}
	return nil
}

func validateArg(a *check.ProblemArg, s *Shape) error {
	switch {
	case (a.Tensor != "" || a.Map != nil) && s.Tensor(a.Tensor) == nil:
		return fmt.Errorf("it takes a tensor %s, which is not there", a.Tensor)
	case a.Tensor == "" && !slices.Contains([]int{1, 2, 4, 8}, a.Bytes):
		return fmt.Errorf("expected a value of 1, 2, 4 or 8 bytes, but got %d", a.Bytes)
	case a.Tensor == "" && a.Bytes < 8 && a.Bits>>(8*a.Bytes) != 0:
		return fmt.Errorf("expected a value of %d bytes, but got %#x", a.Bytes, a.Bits)
	}
	return nil
}
