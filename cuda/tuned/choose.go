package tuned

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gocute/gocute/cuda"
)

// Choice is a candidate for a launch.
type Choice struct {
	Config       string
	Kernel       string           // the emitted function
	Microseconds float64          // measured, or estimated from another shape
	Exact        bool             // these very dims were measured
	From         map[string]int64 // the dims that were
	Device       string           // the GPU that it was measured on
}

// ErrNothing is returned where a table has no result to choose by.
var ErrNothing = errors.New("nothing was measured that could decide")

// Choose picks the candidate for dims: the fastest one where these were measured, else by the estimate of Rank.
func (t *Table) Choose(dev cuda.Info, dims map[string]int64) (Choice, error) {
	all, err := t.Rank(dev, dims)
	if err != nil {
		return Choice{}, err
	}
	return all[0], nil
}

// Rank lists the candidates, the best one first, for a caller some of whose kernels may refuse the dims.
//
// It goes by the GPU of the same name, else by the one of the same architecture with the nearest number of
// multiprocessors; by the same dims, else by the nearest ones, that is with the least sum of |log2| of the ratios and of one
// for each dim that is a multiple of 16 in one of them only: rows of 16-bit elements that do not begin at sectors cost
// other copies. There it scales each candidate's time with the number of waves: blocks are the product of the dims over
// the candidate's tiles, rounded up, and a wave is as many blocks as the GPU runs at a time.
func (t *Table) Rank(dev cuda.Info, dims map[string]int64) ([]Choice, error) {
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("tuned: %w", err)
	}
	for name, n := range dims {
		if n > maxNumber {
			return nil, fmt.Errorf("tuned: %s: expected dims of at most %d, but got %s = %d", t.Family, int64(maxNumber), name, n)
		}
	}
	d, err := t.nearestDevice(dev)
	if err != nil {
		return nil, err
	}
	s, err := d.nearestShape(t.Family, dims)
	if err != nil {
		return nil, err
	}
	exact := maps.Equal(s.Dims, dims)
	sms := cmp.Or(dev.SMs, d.SMs)
	var out []Choice
	for _, r := range s.Results {
		c := d.Candidate(r.Config)
		if !r.Usable() || c == nil {
			continue
		}
		us := r.Microseconds
		if !exact {
			us *= c.waves(dims, sms) / c.waves(s.Dims, d.SMs)
		}
		out = append(out, Choice{Config: c.Config, Kernel: c.Kernel, Microseconds: us, Exact: exact, From: s.Dims, Device: d.Name})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("tuned: %s: %w: the table does not say what its candidates are", t.Family, ErrNothing)
	}
	slices.SortFunc(out, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(a.Microseconds, b.Microseconds), cmp.Compare(a.Config, b.Config))
	})
	return out, nil
}

// Winners are the configs that are the fastest for some measured dims on some GPU, sorted.
func (t *Table) Winners() []string {
	var out []string
	if t == nil {
		return nil
	}
	for _, d := range t.Devices {
		for _, s := range d.Shapes {
			if best := slices.MinFunc(append([]*Result{{}}, s.Results...), compareResults); best.Usable() {
				out = append(out, best.Config)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Only is the table without the candidates of other kernels than these: those that a program has launchers of.
func (t *Table) Only(kernels ...string) *Table {
	if t == nil {
		return nil
	}
	out := New(t.Family)
	out.Merge(t)
	for _, d := range out.Devices {
		d.Candidates = slices.DeleteFunc(d.Candidates, func(c *Candidate) bool { return !slices.Contains(kernels, c.Kernel) })
		for _, s := range d.Shapes {
			s.Results = slices.DeleteFunc(s.Results, func(r *Result) bool { return d.Candidate(r.Config) == nil })
		}
	}
	return out
}

// waves is how many times the GPU fills with the candidate's blocks.
func (c *Candidate) waves(dims map[string]int64, sms int) float64 {
	blocks := 1.0
	for name, tile := range c.Tile {
		if tile > 0 {
			blocks *= math.Ceil(float64(dims[name]) / float64(tile))
		}
	}
	return max(math.Ceil(blocks/float64(max(sms*c.BlocksPerSM, 1))), 1)
}

func (t *Table) nearestDevice(dev cuda.Info) (*Device, error) {
	var best *Device
	far := func(d *Device) int { return max(d.SMs-dev.SMs, dev.SMs-d.SMs) }
	var names []string
	for _, d := range t.Devices {
		names = append(names, fmt.Sprintf("%s (%s)", d.Name, d.Arch))
		switch {
		case d.Name == dev.Name:
			return d, nil
		case d.Arch == dev.Arch() && (best == nil || far(d) < far(best)):
			best = d
		}
	}
	if best == nil {
		return nil, fmt.Errorf("tuned: %s: %w: expected %s or another %s in the table, but it has only [%s]",
			t.Family, ErrNothing, dev.Name, dev.Arch(), strings.Join(names, ", "))
	}
	return best, nil
}

func (d *Device) nearestShape(family string, dims map[string]int64) (*Shape, error) {
	var best *Shape
	least := math.Inf(1)
	for _, s := range d.Shapes {
		if !slices.ContainsFunc(s.Results, (*Result).Usable) {
			continue
		}
		far := 0.0
		for name, have := range s.Dims {
			want, ok := dims[name]
			if !ok || want < 1 {
				return nil, fmt.Errorf("tuned: %s: expected a positive dim %s, but got %v", family, name, dims)
			}
			far += math.Abs(math.Log2(float64(want) / float64(max(have, 1))))
			if (want%16 == 0) != (have%16 == 0) {
				far++
			}
		}
		if far < least || far == least && compareDims(s.Dims, best.Dims) < 0 {
			best, least = s, far
		}
	}
	if best == nil {
		return nil, fmt.Errorf("tuned: %s: %w on %s", family, ErrNothing, d.Name)
	}
	return best, nil
}
