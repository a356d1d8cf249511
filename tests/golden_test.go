package tests

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// Golden rows describe tiled copies and MMAs as objects; these types read and build them.
type (
	mmaSpec struct {
		Atom  string   `json:"atom"`
		Warps string   `json:"atom_layout"`
		Perm  []string `json:"perm"`
	}
	copySpec struct {
		Make  string    `json:"make"`
		Op    string    `json:"op"`
		Elem  string    `json:"elem"`
		Thr   string    `json:"thr"`
		Val   string    `json:"val"`
		TV    string    `json:"tv"`
		Tiler string    `json:"tiler"`
		Data  string    `json:"data"`
		MMA   *mmaSpec  `json:"mma"`
		Of    *copySpec `json:"of"`
	}
	tensorSpec struct {
		Layout string `json:"layout"`
		Block  string `json:"swizzle_atom"`
		Shape  string `json:"tile_to_shape"`
	}
)

// errNoRow marks what cannot be built because an instruction is in no table yet.
var errNoRow = errors.New("not in the atoms' table")

// golden reads the rows of a file, of the folder GOCUTE_GOLDEN where that is set.
func golden[T any](t testing.TB, name string) []T {
	t.Helper()
	dir := os.Getenv("GOCUTE_GOLDEN")
	if dir == "" {
		dir = filepath.Join("testdata", "golden")
	}
	f, err := os.Open(filepath.Join(dir, name))
	require.NoError(t, err)
	defer f.Close()
	var rows []T
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var r T
		require.NoError(t, json.Unmarshal(sc.Bytes(), &r))
		rows = append(rows, r)
	}
	require.NoError(t, sc.Err())
	require.NotEmpty(t, rows)
	return rows
}

// tables finds instructions: in package atoms, else in the golden tables, whose rows test the layouts of
// instructions that the generator does not have.
type tables struct {
	mma   map[string]*atoms.MMARow
	copy  map[string]*atoms.CopyRow
	alien map[string]bool // not in package atoms
	used  map[string]bool // aliens that were asked for
}

func newTables(t testing.TB) *tables {
	tab := &tables{mma: map[string]*atoms.MMARow{}, copy: map[string]*atoms.CopyRow{}, alien: map[string]bool{}, used: map[string]bool{}}
	for _, g := range golden[goldenMMA](t, "mma_atoms.jsonl") {
		if row, ok := atoms.FindMMA(g.Name); ok {
			tab.mma[g.Name] = row
			continue
		}
		tab.mma[g.Name], tab.alien[g.Name] = g.row(t), true
	}
	for _, g := range golden[goldenCopy](t, "copy_atoms.jsonl") {
		if row, ok := atoms.FindCopy(g.Name); ok {
			tab.copy[g.Name] = row
			continue
		}
		tab.copy[g.Name], tab.alien[g.Name] = g.row(), true
	}
	return tab
}

func (tab *tables) findMMA(name string) (*atoms.MMARow, error) {
	row := tab.mma[name]
	if row == nil {
		return nil, fmt.Errorf("%s: %w", name, errNoRow)
	}
	tab.used[name] = tab.used[name] || tab.alien[name]
	return row, nil
}

func (tab *tables) findCopy(name string) (*atoms.CopyRow, error) {
	row := tab.copy[name]
	if row == nil || picksWidth(name) {
		return nil, fmt.Errorf("%s: %w", name, errNoRow)
	}
	tab.used[name] = tab.used[name] || tab.alien[name]
	return row, nil
}

// picksWidth reports whether an operation chooses its width where it is used: it is no instruction and has no layout.
func picksWidth(name string) bool {
	return strings.HasPrefix(name, "Auto") || strings.HasSuffix(name, "_AUTO")
}

func (s *mmaSpec) build(tab *tables) (*ir.TiledMMA, error) {
	row, err := tab.findMMA(s.Atom)
	if err != nil {
		return nil, err
	}
	warps, err := algebra.Parse(s.Warps)
	if err != nil {
		return nil, err
	}
	perm := [3]any{algebra.Underscore, algebra.Underscore, algebra.Underscore}
	for i, p := range s.Perm {
		if n, err := strconv.ParseInt(p, 10, 64); err == nil {
			perm[i] = n
		} else if p != "_" {
			if perm[i], err = algebra.Parse(p); err != nil {
				return nil, err
			}
		}
	}
	return ir.NewTiledMMA(row, warps, perm)
}

func (s *copySpec) build(tab *tables) (*ir.TiledCopy, error) {
	row, err := tab.findCopy(s.Op)
	if err != nil {
		return nil, err
	}
	e, err := elem.ParseKind(s.Elem)
	if err != nil {
		return nil, err
	}
	l := func(text string) algebra.Layout { return parse(text) }
	switch base, last := s.Make[:len(s.Make)-1], s.Make[len(s.Make)-1]; {
	case s.Make == "make_tiled_copy":
		return ir.NewTiledCopy(row, e, l(s.Thr), l(s.Val))
	case s.Make == "make_tiled_copy_impl":
		tile, err := algebra.ParseShape(s.Tiler)
		if err != nil {
			return nil, err
		}
		return ir.NewTiledCopyTV(row, e, l(s.TV), tile)
	case s.Make == "make_cotiled_copy":
		return ir.NewCotiledCopy(row, e, l(s.TV), l(s.Data))
	case s.MMA != nil:
		m, err := s.MMA.build(tab)
		if err != nil {
			return nil, err
		}
		if s.Make == "make_tiled_copy_C_atom" {
			return ir.NewTiledCopyAtomC(row, e, m)
		}
		return ir.NewTiledCopyMMA(row, e, m, ir.Operand(last))
	case base == "make_tiled_copy_" && s.Of != nil:
		of, err := s.Of.build(tab)
		if err != nil {
			return nil, err
		}
		return ir.NewTiledCopyOf(row, e, of, map[byte]ir.Side{'S': ir.Source, 'D': ir.Destination}[last])
	}
	return nil, fmt.Errorf("unknown constructor %s", s.Make)
}

// build is the tensor's layout; the row repeats it as want.
func (s tensorSpec) build(t testing.TB, want string) algebra.Layout {
	t.Helper()
	l := parse(s.Layout)
	if s.Block != "" {
		shape, err := algebra.ParseShape(s.Shape)
		require.NoError(t, err)
		l, err = algebra.TileToShape(parse(s.Block), shape)
		require.NoError(t, err)
	}
	require.NoError(t, l.Err())
	require.Equal(t, want, l.String())
	return l
}

// parse reads a layout; a wrong one carries its error to whatever uses it.
func parse(text string) algebra.Layout {
	l, err := algebra.Parse(text)
	if err != nil {
		l, _ = algebra.NewLayout(algebra.S(), algebra.D(1))
	}
	return l
}

func size(l algebra.Layout) int64 { n, _ := l.IntSize(); return n }

// tally counts rows by what became of them.
type tally struct {
	passed  map[string]int
	skipped map[string]int
}

func newTally() *tally { return &tally{passed: map[string]int{}, skipped: map[string]int{}} }

// skip counts a row whose instruction is in no table; other errors are the row's failure.
func (c *tally) skip(t *testing.T, id string, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	if errors.Is(err, errNoRow) {
		c.skipped[err.Error()]++
		return true
	}
	t.Errorf("%s: %v", id, err)
	return true
}

func (c *tally) log(t *testing.T, tab *tables) {
	t.Helper()
	total := 0
	for _, k := range slices.Sorted(maps.Keys(c.passed)) {
		t.Logf("passed %4d %s", c.passed[k], k)
		total += c.passed[k]
	}
	for _, k := range slices.Sorted(maps.Keys(c.skipped)) {
		t.Logf("skipped %3d %s", c.skipped[k], k)
	}
	t.Logf("passed %d in all", total)
	if used := slices.Sorted(maps.Keys(tab.used)); len(used) > 0 {
		used = slices.DeleteFunc(used, func(n string) bool { return !tab.used[n] })
		t.Logf("instructions tested by their golden row, not in package atoms yet: %s", strings.Join(used, " "))
	}
}
