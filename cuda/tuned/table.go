// Package tuned chooses among the kernels of a family by what `gocute tune` measured: a Table holds the times by device
// and sizes, and Choose picks a candidate for a launch.
//
//	table, err := tuned.Parse(embedded)        // or tuned.Builtin("gemm")
//	choice, err := table.Choose(dev.Info(), map[string]int64{"M": m, "N": n, "K": k})
//	switch choice.Kernel { case gemm_128x128.Name: … }
package tuned

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

const tableFormat = 1

// Table is what was measured of one family. In a file it is JSON, sorted, so that the same numbers give the same bytes.
type Table struct {
	Format  int       `json:"format"`
	Family  string    `json:"family"`
	Devices []*Device `json:"devices"`
}

// Device is what was measured on one kind of GPU.
type Device struct {
	Name       string       `json:"name"` // as the driver says it
	Arch       string       `json:"arch"`
	SMs        int          `json:"sms"`
	Candidates []*Candidate `json:"candidates"`
	Shapes     []*Shape     `json:"shapes"`
}

// Candidate is a member of the family.
type Candidate struct {
	Config      string           `json:"config"`
	Kernel      string           `json:"kernel"` // the emitted function
	Code        string           `json:"code"`   // a digest of what was measured: code and compiler
	Compiler    string           `json:"compiler"`
	Threads     int              `json:"threads"`
	Shared      int              `json:"shared"` // bytes of a block
	Registers   int              `json:"registers"`
	BlocksPerSM int              `json:"blocksPerSM"`
	Tile        map[string]int64 `json:"tile,omitempty"` // the extents of dims that one block covers, of the dims that the grid depends on
}

// Shape is what was measured for one set of dims.
type Shape struct {
	Dims    map[string]int64   `json:"dims"`
	Scalars map[string]float64 `json:"scalars,omitempty"`
	Zeros   bool               `json:"zeros,omitempty"` // inputs were zeros, not random
	Work    float64            `json:"work,omitempty"`  // operations of a launch
	Results []*Result          `json:"results"`
}

// Result is what came of one candidate.
type Result struct {
	Config       string    `json:"config"`
	Microseconds float64   `json:"microseconds,omitempty"` // the median over the rounds; 0 if there is none
	Rounds       int       `json:"rounds,omitempty"`
	Samples      []float64 `json:"samples,omitempty"` // of each round, kept while more are to come
	Checked      string    `json:"checked,omitempty"` // what the results were compared with
	Wrong        string    `json:"wrong,omitempty"`   // why the candidate is out
}

// New makes an empty table.
func New(family string) *Table { return &Table{Format: tableFormat, Family: family} }

// Parse reads a table's JSON.
func Parse(data []byte) (*Table, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	t := &Table{}
	if err := d.Decode(t); err != nil {
		return nil, fmt.Errorf("tuned: expected a table of gocute tune: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("tuned: expected a table of gocute tune, but got more after it")
	}
	if t.Format != tableFormat {
		return nil, fmt.Errorf("tuned: expected a table of format %d, but got %d: it is from another release of gocute", tableFormat, t.Format)
	}
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("tuned: the table of %s: %w", t.Family, err)
	}
	return t, nil
}

// Load reads a table's file; a file that is not there is an empty table.
func Load(path, family string) (*Table, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return New(family), nil
	}
	if err != nil {
		return nil, err
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if t.Family != family {
		return nil, fmt.Errorf("%s: expected the table of the family %s, but got that of %s", path, family, t.Family)
	}
	return t, nil
}

//go:embed tables
var tables embed.FS

// Builtin returns the table of one of the library's families that came with this release.
func Builtin(family string) (*Table, bool) {
	data, err := tables.ReadFile("tables/" + family + ".json")
	if err != nil {
		return nil, false
	}
	t, err := Parse(data) // a test reads them all
	return t, err == nil
}

// Bytes is the table's JSON.
func (t *Table) Bytes() ([]byte, error) {
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("tuned: %w", err)
	}
	t.sort()
	data, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return nil, fmt.Errorf("tuned: table of %s: %w", t.Family, err)
	}
	return append(data, '\n'), nil
}

// Save writes the table's file whole or not at all.
func (t *Table) Save(path string) error {
	data, err := t.Bytes()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".gocute-*")
	if err != nil {
		return fmt.Errorf("tuned: table %s: %w", path, err)
	}
	defer os.Remove(tmp.Name())
	if _, err = tmp.Write(data); err == nil {
		err = tmp.Chmod(0o644)
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("tuned: table %s: %w", path, err)
	}
	return nil
}

// sort puts everything in an order that depends on the numbers alone: results by time, those without one last.
func (t *Table) sort() {
	slices.SortFunc(t.Devices, func(a, b *Device) int { return cmp.Compare(a.Name, b.Name) })
	for _, d := range t.Devices {
		slices.SortFunc(d.Candidates, func(a, b *Candidate) int { return cmp.Compare(a.Config, b.Config) })
		slices.SortFunc(d.Shapes, func(a, b *Shape) int { return compareDims(a.Dims, b.Dims) })
		for _, s := range d.Shapes {
			slices.SortFunc(s.Results, compareResults)
		}
	}
}

func compareResults(a, b *Result) int {
	rank := func(r *Result) int {
		if r.Usable() {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Microseconds, b.Microseconds), cmp.Compare(a.Config, b.Config))
}

// compareDims orders by names, then by values in the order of the names.
func compareDims(a, b map[string]int64) int {
	na, nb := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	if c := slices.Compare(na, nb); c != 0 {
		return c
	}
	for _, n := range na {
		if c := cmp.Compare(a[n], b[n]); c != 0 {
			return c
		}
	}
	return 0
}
