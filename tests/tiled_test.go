package tests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/dsl/ir"
)

// goldenTiled is a row of tiled.jsonl.
type goldenTiled struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Setup  json.RawMessage `json:"setup"`
	Result struct {
		VMNK  string            `json:"thr_layout_vmnk"`
		Tile  string            `json:"tile_mnk"`
		ATV   string            `json:"layoutA_TV"`
		BTV   string            `json:"layoutB_TV"`
		CTV   string            `json:"layoutC_TV"`
		AMK   string            `json:"layoutA_MK"`
		BNK   string            `json:"layoutB_NK"`
		CMN   string            `json:"layoutC_MN"`
		Tiler string            `json:"tiler"`
		TV    string            `json:"tiled_layout_TV"`
		STV   string            `json:"layoutS_TV"`
		DTV   string            `json:"layoutD_TV"`
		SMN   string            `json:"layoutS_MN"`
		DMN   string            `json:"layoutD_MN"`
		Thr   string            `json:"num_thr"`
		Val   string            `json:"num_val_ref"`
		Cover map[string]string `json:"cover"`
	} `json:"result"`
}

// TestTiled: tiled MMAs and copies have CuTe's layouts, in CuTe's form. Where CuTe's layout of C runs past its tile
// ours must cover the tile instead, each element equally often.
func TestTiled(t *testing.T) {
	c := tally{}
	for _, g := range golden[goldenTiled](t, "tiled.jsonl") {
		var err error
		var bad []string
		if g.Kind == "tiled_mma" {
			bad, err = checkTiledMMA(t, &g)
		} else {
			bad, err = checkTiledCopy(t, &g)
		}
		if err != nil {
			t.Errorf("%s: %v", g.ID, err)
			continue
		}
		if len(bad) > 0 {
			t.Errorf("%s %s\n  %s", g.ID, g.Setup, strings.Join(bad, "\n  "))
			continue
		}
		c[g.Kind]++
	}
	c.log(t)
}

// differ compares texts by name.
type differ []string

func (d *differ) text(name, want string, got fmt.Stringer, err error) {
	switch {
	case want == "":
	case err != nil:
		*d = append(*d, fmt.Sprintf("%s: %v, want %s", name, err, want))
	case got.String() != want:
		*d = append(*d, fmt.Sprintf("%s: got %s, want %s", name, got, want))
	}
}

func (d *differ) value(name, want string, got any) {
	if fmt.Sprint(got) != want {
		*d = append(*d, fmt.Sprintf("%s: got %v, want %s", name, got, want))
	}
}

func checkTiledMMA(t *testing.T, g *goldenTiled) (differ, error) {
	var spec mmaSpec
	require.NoError(t, json.Unmarshal(g.Setup, &spec))
	m, err := spec.build()
	if err != nil {
		return nil, err
	}
	var d differ
	r := &g.Result
	d.text("thr_layout_vmnk", r.VMNK, m.ThrVMNK, nil)
	d.value("tile", r.Tile, algebra.S(m.Tile[0], m.Tile[1], m.Tile[2]))
	for _, x := range []struct {
		o       ir.Operand
		tv, mn  string
		rows, k int64
	}{{ir.A, r.ATV, r.AMK, m.Tile[0], m.Tile[2]}, {ir.B, r.BTV, r.BNK, m.Tile[1], m.Tile[2]}, {ir.C, r.CTV, r.CMN, m.Tile[0], m.Tile[1]}} {
		name := string(rune(x.o))
		if cover := r.Cover[name]; strings.HasPrefix(cover, "overrun") {
			d.value(name+" covers", "true", evenly(m.TV[x.o], x.rows*x.k))
			continue
		}
		d.text(name+"_TV", x.tv, m.TV[x.o], nil)
		mn, err := inverseOver(m.TV[x.o], algebra.S(x.rows, x.k))
		d.text(name+" inverse", x.mn, mn, err)
	}
	return d, nil
}

func checkTiledCopy(t *testing.T, g *goldenTiled) (differ, error) {
	var spec copySpec
	require.NoError(t, json.Unmarshal(g.Setup, &spec))
	c, err := spec.build()
	if err != nil {
		return nil, err
	}
	var d differ
	r := &g.Result
	d.value("tiler", r.Tiler, c.Tiler)
	d.text("TV", r.TV, c.TV, nil)
	d.value("threads", r.Thr, c.NumThr)
	d.value("values", r.Val, size(c.TV.Mode(1)))
	for _, x := range []struct {
		side   ir.Side
		tv, mn string
	}{{ir.Source, r.STV, r.SMN}, {ir.Destination, r.DTV, r.DMN}} {
		tv, err := c.SideTV(x.side)
		d.text(x.side.String()+" TV", x.tv, tv, err)
		if err != nil {
			continue
		}
		mn, err := inverseOver(tv, algebra.ProductEach(c.TileShape))
		d.text(x.side.String()+" inverse", x.mn, mn, err)
	}
	return d, nil
}

// inverseOver maps coordinates of the tile to thread and value.
func inverseOver(tv algebra.Layout, tile algebra.Shape) (algebra.Layout, error) {
	inv, err := algebra.RightInverse(tv)
	if err != nil {
		return inv, err
	}
	return algebra.WithShape(inv, tile)
}

// evenly reports whether a layout reaches 0 to n-1, each equally often, and nothing else.
func evenly(l algebra.Layout, n int64) bool {
	hits := make([]int64, n)
	for i := range size(l) {
		at := l.AtInt(i)
		if at < 0 || at >= n {
			return false
		}
		hits[at]++
	}
	for _, h := range hits {
		if h != size(l)/n {
			return false
		}
	}
	return true
}
