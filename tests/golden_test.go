package tests

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// findRow finds an instruction.
func findRow[R any](find func(string) (*R, bool), name string) (*R, error) {
	row, ok := find(name)
	if !ok {
		return nil, fmt.Errorf("package atoms has no %s", name)
	}
	return row, nil
}

func (s *mmaSpec) build() (*ir.TiledMMA, error) {
	row, err := findRow(atoms.FindMMA, s.Atom)
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

func (s *copySpec) build() (*ir.TiledCopy, error) {
	row, err := findRow(atoms.FindCopy, s.Op)
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
		m, err := s.MMA.build()
		if err != nil {
			return nil, err
		}
		if s.Make == "make_tiled_copy_C_atom" {
			return ir.NewTiledCopyAtomC(row, e, m)
		}
		return ir.NewTiledCopyMMA(row, e, m, ir.Operand(last))
	case base == "make_tiled_copy_" && s.Of != nil:
		of, err := s.Of.build()
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

// tally counts rows by their kind.
type tally map[string]int

func (c tally) log(t *testing.T) {
	t.Helper()
	total := 0
	for _, k := range slices.Sorted(maps.Keys(c)) {
		t.Logf("passed %4d %s", c[k], k)
		total += c[k]
	}
	t.Logf("passed %d in all", total)
}
