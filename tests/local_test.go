package tests

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// entries splits a tuple's text at its outer commas.
func entries(text string) []string {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
	var out []string
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out, from = append(out, text[from:i]), i+1
			}
		}
	}
	return append(out, text[from:])
}

// kept leaves out the entries that a projection marks with X.
func kept(text, proj string) string {
	if proj == "" {
		return text
	}
	var out []string
	marks := entries(proj)
	for i, e := range entries(text) {
		if marks[i] != "X" {
			out = append(out, e)
		}
	}
	return "(" + strings.Join(out, ",") + ")"
}

func checkLocalTile(t *testing.T, g *goldenPartition) (differ, error) {
	s := &g.Setup
	tile, err := algebra.ParseTiler(kept(s.Tiler, s.Proj))
	require.NoError(t, err)
	l := parse(s.Tensor.Layout)
	text := kept(s.Coord, s.Proj)
	if !strings.HasPrefix(text, "(") { // one index for all tiles
		shape, ok := tile.Shape()
		require.True(t, ok)
		tiles, err := algebra.CeilDiv(l.Shape(), shape)
		require.NoError(t, err)
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		c, err := algebra.IdxToCrd(algebra.CoordOf(n), tiles)
		require.NoError(t, err)
		text = c.String()
	}
	var coord []any
	for _, c := range entries(text) {
		if n, err := strconv.Atoi(c); err == nil {
			coord = append(coord, sym.Int(n))
		} else {
			coord = append(coord, algebra.Underscore)
		}
	}
	out, err := probe(l, true).LocalTile("gX", tile, tile.Rank(), coord)
	if err != nil {
		return nil, err
	}
	var d differ
	sameView(&d, g.Result.Layout, out.Layout)
	d.value("offset", strconv.FormatInt(g.Result.Offset, 10), out.Offset)
	return d, nil
}

// sameView compares layouts, those of rank 1 without the nesting that CuTe leaves around their mode.
func sameView(d *differ, want string, got algebra.Layout) {
	if w := parse(want); w.Rank() == 1 {
		flat, err := algebra.Flatten(w)
		have, err2 := algebra.Flatten(got)
		d.text("layout", flat.String(), have, errors.Join(err, err2))
		return
	}
	d.text("layout", want, got, nil)
}

// projection reads which modes a projection keeps.
func projection(proj string) []bool {
	if proj == "" {
		return nil
	}
	var out []bool
	for _, e := range entries(proj) {
		out = append(out, e != "X")
	}
	return out
}

// checkLocalPartition deals the elements out to threads, one each, tile after tile.
func checkLocalPartition(t *testing.T, g *goldenPartition) (differ, error) {
	thr := parse(g.Setup.Thr)
	v := view{thread: &sym.Symbol{Name: "t", Class: sym.Thread, Hi: int64(len(g.Result.Offsets) - 1)}}
	var err error
	if v.t, err = probe(parse(g.Setup.Tensor.Layout), true).LocalPartition("tX", thr, projection(g.Setup.Proj), sym.New(v.thread)); err != nil {
		return nil, err
	}
	var d differ
	var hash fnv
	got := make([][]int64, len(g.Result.Offsets))
	for thread := range got {
		if got[thread], err = v.offsets(int64(thread)); err != nil {
			return nil, err
		}
		d.value(fmt.Sprintf("first offset of thread %d", thread), fmt.Sprint(g.Result.Offsets[thread]), got[thread][0])
		hash.add(got[thread])
	}
	d.value("hash of all offsets", g.Result.FNV, hash)
	sameView(&d, g.Result.Shape+":"+g.Result.Stride, v.t.Layout)
	for _, key := range slices.Sorted(maps.Keys(g.Result.Elems)) {
		thread, err := strconv.Atoi(key)
		require.NoError(t, err)
		want := g.Result.Elems[key]
		d.value("offsets of thread "+key, fmt.Sprint(want), got[thread][:len(want)])
	}
	return d, nil
}
