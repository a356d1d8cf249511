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
	"github.com/gocute/gocute/dsl/ir"
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

func checkLocalTile(t *testing.T, g *goldenPartition, _ *tables) (differ, error) {
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

// checkLocalPartition deals the elements out to threads, one each, tile after tile.
func checkLocalPartition(t *testing.T, g *goldenPartition, _ *tables) (differ, error) {
	thr := parse(g.Setup.Thr)
	shape, err := algebra.ParseShape(kept(algebra.ProductEach(thr.Shape()).String(), g.Setup.Proj))
	require.NoError(t, err)
	cover, err := algebra.ZippedDivideCeil(parse(g.Setup.Tensor.Layout), algebra.TileBy(shape))
	if err != nil {
		return nil, err
	}
	var d differ
	var v view
	var hash fnv
	got := make([][]int64, len(g.Result.Offsets))
	for thread := range got {
		c, err := algebra.ParseCoord(kept(place(t, thr, int64(thread)), g.Setup.Proj))
		require.NoError(t, err)
		l, off, err := algebra.Slice(cover.Layout, algebra.C(c, algebra.Underscore))
		if err != nil {
			return nil, err
		}
		if l.Rank() == 1 { // the rests are one mode of the slice
			l = l.Mode(0)
		}
		v = view{t: &ir.Tensor{Layout: l, Offset: off.Get()}}
		if got[thread], err = v.offsets(0); err != nil {
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

// place is the text of a thread's coordinate, one index for each mode of the thread layout.
func place(t *testing.T, thr algebra.Layout, thread int64) string {
	t.Helper()
	at, err := algebra.IdxToCrdIn(thread, thr)
	require.NoError(t, err)
	if thr.Shape().IsLeaf() {
		return at.String()
	}
	flat := make([]any, thr.Rank())
	for i := range flat {
		flat[i], err = algebra.CrdToIndex(at.Mode(i), thr.Shape().Mode(i))
		require.NoError(t, err)
	}
	return algebra.C(flat...).String()
}
