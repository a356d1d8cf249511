package show_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/show"
)

// TestBanks compares every cell with the bank of its element's address.
func TestBanks(t *testing.T) {
	for _, c := range []struct {
		layout      string
		bits        int
		down, right int64 // elements of a cell
	}{
		{"Sw<3,3,3> o 0 o (8,64):(64,1)", 16, 1, 2}, {"(8,64):(72,1)", 16, 1, 2}, {"(64,8):(1,64)", 16, 2, 1},
		{"(8,32):(32,1)", 32, 1, 1}, {"(8,16):(16,1)", 64, 1, 1}, {"(4,8):(8,1)", 128, 1, 1}, {"(8,64):(64,1)", 8, 1, 4},
		{"(8,63):(63,1)", 16, 1, 1}, {"(4,64):(64,1)", 4, 1, 8}, {"(8,8):(9,1)", 16, 1, 1}, {"Sw<3,0,3> o 0 o (8,8):(8,1)", 16, 1, 2}, {"64:1", 16, 1, 2},
	} {
		l := algebra.MustParse(c.layout)
		p, err := show.Smem(l, c.bits, nil)
		require.NoError(t, err)
		g := parse(t, p.SVG())["smem"]
		n, _ := l.IntSize()
		require.Len(t, g, int(n/c.down/c.right), c.layout)
		rows := int64(1)
		if l.Rank() == 2 {
			rows, _ = l.Mode(0).IntSize()
		}
		for i := range n {
			first := l.AtInt(i) * int64(c.bits) / 32
			last := (l.AtInt(i)*int64(c.bits) + int64(c.bits) - 1) / 32
			want := fmt.Sprint(first % 32)
			if last > first {
				want += fmt.Sprintf("-%d", last%32)
			}
			require.Equal(t, []string{want}, g[at{i % rows / c.down, i / rows / c.right}].lines, "%s element %d", c.layout, i)
		}
	}
}

// framed lists the cells with a frame, by what stands in them.
func framed(g map[at]svgCell) map[at]string {
	out := map[at]string{}
	for p, c := range g {
		if strings.HasSuffix(c.class, " m") {
			out[p] = c.lines[len(c.lines)-1]
		}
	}
	return out
}

func TestAccess(t *testing.T) {
	m := tiled(t, "(2,1,1):(1,0,0)")
	x4 := follow(t, "SM75_U32x4_LDSM_N", m, ir.A)
	draw := func(layout string, a *show.Access) string {
		p, err := show.Smem(algebra.MustParse(layout), 16, a)
		require.NoError(t, err)
		return string(p.SVG())
	}
	swizzled := draw("Sw<3,3,3> o 0 o (32,64):(64,1)", &show.Access{Copy: x4, Warp: 1, Phase: 2})
	require.Contains(t, swizzled, "phase 2, lanes 16 to 23: 32 words in 32 banks, no conflict")
	got := framed(parse(t, []byte(swizzled))["smem"])
	require.Len(t, got, 32)
	for lane := range int64(8) { // the third matrix: rows 16 to 23, the second 16 bytes
		for w := range int64(4) {
			require.Equal(t, fmt.Sprintf("T%d", 32+16+lane), got[at{16 + lane, 4 + w}])
		}
	}
	require.Contains(t, draw("(32,64):(64,1)", &show.Access{Copy: x4}), "phase 0, lanes 0 to 7: 32 words in 4 banks, 8-way conflict")
	require.Contains(t, draw("(32,64):(72,1)", &show.Access{Copy: x4}), "no conflict")
	x2 := draw("(32,64):(64,1)", &show.Access{Copy: follow(t, "SM75_U32x2_LDSM_N", m, ir.A), Step: 1, Phase: 1})
	require.NotContains(t, x2, "phase 2")
	require.Equal(t, "T8", framed(parse(t, []byte(x2))["smem"])[at{8, 4}])
}

// TestStores is a copy whose shared side is its destination, and one of narrow vectors, of which a warp needs one turn.
func TestStores(t *testing.T) {
	thr := algebra.MustParse("(4,8):(8,1)")
	for _, c := range []struct {
		atom, val string
		e         elem.Kind
		want      string
	}{
		{"SM80_CP_ASYNC_CACHEGLOBAL<u128>", "(1,8):(8,1)", elem.KF16, "phase 3, lanes 24 to 31: 32 words in 32 banks, no conflict"},
		{"UniversalCopy<u64>", "(1,4):(4,1)", elem.KF16, "phase 1, lanes 16 to 31: 32 words in 16 banks, 2-way conflict"},
		{"UniversalCopy<u16>", "(1,1):(1,1)", elem.KF16, "phase 0, lanes 0 to 31: 16 words in 4 banks, 4-way conflict"},
	} {
		row, ok := atoms.FindCopy(c.atom)
		require.True(t, ok)
		tc, err := ir.NewTiledCopy(row, c.e, thr, algebra.MustParse(c.val))
		require.NoError(t, err)
		p, err := show.Smem(algebra.MustParse("(4,64):(64,1)"), 16, &show.Access{Copy: tc, Side: ir.Destination})
		require.NoError(t, err)
		require.Contains(t, string(p.SVG()), c.want)
		parse(t, p.SVG())
	}
}

func TestAccessRefusals(t *testing.T) {
	c := follow(t, "SM75_U32x4_LDSM_N", tiled(t, "(1,1,1):(0,0,0)"), ir.A)
	for _, x := range []struct {
		layout string
		bits   int
		a      show.Access
		want   string
	}{
		{"(16,64):(64,1)", 16, show.Access{Phase: 4}, "has phases 0 to 3, but phase 4 is asked for"},
		{"(16,64):(64,1)", 16, show.Access{Phase: -1}, "has phases 0 to 3"},
		{"(16,64):(64,1)", 16, show.Access{Warp: 1}, "the copy has 1 warp, but warp 1 is asked for"},
		{"(16,64):(64,1)", 16, show.Access{Step: 1}, "takes 1 step over its tile, but step 1 is asked for"},
		{"(16,64):(64,1)", 16, show.Access{Side: ir.Destination}, "the destination side of SM75_U32x4_LDSM_N is in register memory, not in shared"},
		{"(8,64):(64,1)", 16, show.Access{}, "the copy's tile (16,16) is larger than the layout (8,64):(64,1)"},
		{"(16,64):(65,1)", 16, show.Access{}, "expects vectors to start at multiples of 8 elements, but lane 1's starts at 65 in (16,64):(65,1)"},
		{"(16,64):(60,1)", 16, show.Access{}, "lane 1's starts at 60"},
		{"(16,64):(1,16)", 16, show.Access{}, "expects vectors of 8 contiguous elements, but lane 0's element 1 is at 16, and its first at 0"},
		{"(16,64):(0,0)", 16, show.Access{}, "lane 0's element 1 is at 0"},
		{"Sw<1,1,5> o 0 o (16,64):(64,1)", 16, show.Access{}, "vectors"},
		{"(16,64):(64,1)", 32, show.Access{}, "moves elements of 16 bits, but the layout is of elements of 32"},
	} {
		x.a.Copy = c
		_, err := show.Smem(algebra.MustParse(x.layout), x.bits, &x.a)
		require.ErrorContains(t, err, x.want)
	}
}
