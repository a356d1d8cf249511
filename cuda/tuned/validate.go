package tuned

import (
	"errors"
	"fmt"
	"math"
)

// maxNumber bounds what a table counts, so that products of a few of them fit 64 bits or a float64.
const maxNumber = 1 << 40

// validate refuses tables that Choose could not go by: empty or doubled entries, and numbers that nothing measured has.
func (t *Table) validate() error {
	if t == nil {
		return errors.New("expected a table, but got nil")
	}
	seen := map[string]bool{}
	for _, d := range t.Devices {
		switch {
		case d == nil:
			return errors.New("expected entries, but one is null")
		case seen[d.Name]:
			return fmt.Errorf("expected one entry for a device, but got %q twice", d.Name)
		case d.SMs < 0 || d.SMs > maxNumber:
			return fmt.Errorf("expected 0 or more multiprocessors, but got %d of %q", d.SMs, d.Name)
		}
		seen[d.Name] = true
		if err := d.validate(); err != nil {
			return fmt.Errorf("%q: %w", d.Name, err)
		}
	}
	return nil
}

func (d *Device) validate() error {
	seen := map[string]bool{}
	for _, c := range d.Candidates {
		switch {
		case c == nil:
			return errors.New("expected entries, but one is null")
		case seen[c.Config]:
			return fmt.Errorf("expected candidates of different configs, but got %q twice", c.Config)
		case min(c.Threads, c.Shared, c.Registers, c.BlocksPerSM) < 0 || max(c.Threads, c.Shared, c.Registers, c.BlocksPerSM) > maxNumber>>20:
			return fmt.Errorf("candidate %q: expected numbers of 0 to %d, but got %d threads, %d bytes of shared memory, %d registers and %d blocks",
				c.Config, maxNumber>>20, c.Threads, c.Shared, c.Registers, c.BlocksPerSM)
		}
		seen[c.Config] = true
		if err := positive("a tile", c.Tile); err != nil {
			return fmt.Errorf("candidate %q: %w", c.Config, err)
		}
	}
	var shapes []*Shape
	for _, s := range d.Shapes {
		if s == nil {
			return errors.New("expected entries, but one is null")
		}
		if err := s.validate(); err != nil {
			return err
		}
		for _, other := range shapes {
			if compareDims(s.Dims, other.Dims) == 0 {
				return fmt.Errorf("expected shapes of different dims, but got %v twice", s.Dims)
			}
		}
		shapes = append(shapes, s)
	}
	return nil
}

func (s *Shape) validate() error {
	if err := positive("dims", s.Dims); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, r := range s.Results {
		switch {
		case r == nil:
			return errors.New("expected results, but one is null")
		case seen[r.Config]:
			return fmt.Errorf("expected one result for a config, but got %q twice for %v", r.Config, s.Dims)
		case !(r.Microseconds >= 0 && r.Microseconds <= maxNumber) || r.Rounds < 0:
			return fmt.Errorf("%q for %v: expected a time of 0 to %d microseconds and 0 or more rounds, but got %v and %d", r.Config, s.Dims, int64(maxNumber), r.Microseconds, r.Rounds)
		}
		for _, x := range r.Samples {
			if !(math.Abs(x) <= maxNumber) {
				return fmt.Errorf("%q for %v: expected samples of at most %d microseconds, but got %v", r.Config, s.Dims, int64(maxNumber), x)
			}
		}
		seen[r.Config] = true
	}
	return nil
}

func positive(what string, numbers map[string]int64) error {
	for name, n := range numbers {
		if n < 1 || n > maxNumber {
			return fmt.Errorf("expected %s of 1 to %d, but got %s = %d", what, int64(maxNumber), name, n)
		}
	}
	return nil
}
