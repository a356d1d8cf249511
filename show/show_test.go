package show_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/show"
)

const hmma = "SM80_16x8x16_F32F16F16F32_TN"

// tiled makes a tiled MMA of the usual atom.
func tiled(t *testing.T, warps string, perm ...any) *ir.TiledMMA {
	t.Helper()
	row, ok := atoms.FindMMA(hmma)
	require.True(t, ok)
	p := [3]any{algebra.Underscore, algebra.Underscore, algebra.Underscore}
	copy(p[:], perm)
	m, err := ir.NewTiledMMA(row, algebra.MustParse(warps), p)
	require.NoError(t, err)
	return m
}

// follow makes a copy that follows an MMA's operand.
func follow(t *testing.T, atom string, m *ir.TiledMMA, o ir.Operand) *ir.TiledCopy {
	t.Helper()
	row, ok := atoms.FindCopy(atom)
	require.True(t, ok)
	c, err := ir.NewTiledCopyMMA(row, elem.KF16, m, o)
	require.NoError(t, err)
	return c
}

// TestFarOffsets draws a layout that reaches from one end of 64 bits to the other: the span of its offsets has 64 bits itself.
func TestFarOffsets(t *testing.T) {
	p, err := show.Layout(algebra.MustParse("(2,2):(-9223372036854775807,9223372036854775807)"))
	require.NoError(t, err)
	var got []string
	for _, m := range regexp.MustCompile(`class="(r\d+)">\s*<title>[^<]*-&gt; (\S+)</title>`).FindAllStringSubmatch(string(p.SVG()), -1) {
		got = append(got, m[2]+" "+m[1])
	}
	require.Equal(t, []string{"0 r7", "-9223372036854775807 r0", "9223372036854775807 r15", "0 r7"}, got)
}

func TestLayoutCells(t *testing.T) {
	for _, text := range []string{
		"(4,8):(8,1)", "((4,8),(2,2)):((32,1),(16,8))", "8:2", "(8):(2)", "((2,3),4):((4,8),1)", "(3,5):(0,2)", "(4,4):(-1,4)",
		"Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<2,0,3> o 5 o (8,8):(8,1)", "(1,1):(0,0)", "1:0", "(128,256):(256,1)",
	} {
		l := algebra.MustParse(text)
		p, err := show.Layout(l)
		require.NoError(t, err)
		g := parse(t, p.SVG())["layout"]
		n, _ := l.IntSize()
		require.Len(t, g, int(n), text)
		rows := int64(1)
		if l.Rank() == 2 {
			rows, _ = l.Mode(0).IntSize()
		}
		for i := range n {
			require.Equal(t, []string{fmt.Sprint(l.AtInt(i))}, g[at{i % rows, i / rows}].lines, "%s at %d", text, i)
		}
	}
}

func TestLayoutOfExpressions(t *testing.T) {
	p, err := show.Layout(algebra.MustParse("(2,3):(1@0,1@1)"))
	require.NoError(t, err)
	g := parse(t, p.SVG())["layout"]
	require.Equal(t, []string{"(1,2)"}, g[at{1, 2}].lines)
	p, err = show.Layout(algebra.MustParse("(2,3):(lda,1)"))
	require.NoError(t, err)
	g = parse(t, p.SVG())["layout"]
	require.Equal(t, []string{"lda+2"}, []string{strings.ReplaceAll(g[at{1, 2}].lines[0], " ", "")})
}

// sameTV compares a grid with what the layout says: each (T,V) is in the tip of its cell and nowhere else, and the
// lines name the first.
func sameTV(t *testing.T, g map[at]svgCell, tv algebra.Layout, rows int64, across bool, lane func(int64) int64) {
	t.Helper()
	nt, _ := tv.Mode(0).IntSize()
	n, _ := tv.IntSize()
	want := map[at]map[string]bool{}
	for i := range n {
		v := tv.AtInt(i)
		c := at{v % rows, v / rows}
		if across {
			c = at{c.col, c.row}
		}
		if want[c] == nil {
			want[c] = map[string]bool{}
		}
		want[c][fmt.Sprintf("T%d/V%d", lane(i%nt), i/nt)] = true
	}
	for c, cell := range g {
		_, owners, _ := strings.Cut(cell.tip, ": ")
		if len(want[c]) == 0 {
			require.Equal(t, "nobody", owners)
			continue
		}
		if strings.HasPrefix(owners, "all ") {
			value := owners[strings.LastIndex(owners, "V"):]
			require.Equal(t, []string{"all", value}, cell.lines)
			require.Equal(t, fmt.Sprintf("all %d threads as %s", nt, value), owners)
			require.Len(t, want[c], int(nt))
			for o := range want[c] {
				require.True(t, strings.HasSuffix(o, "/"+value), o)
			}
			continue
		}
		got := strings.Fields(owners)
		for _, o := range got {
			require.True(t, want[c][o], "%s is not at %v", o, c)
		}
		require.Len(t, got, len(want[c]), "%v", c)
		first, value, _ := strings.Cut(got[0], "/")
		require.Equal(t, first, strings.Split(cell.lines[0], "/")[0])
		require.Contains(t, strings.Join(cell.lines, "/"), value)
		if len(got) == 1 {
			require.Equal(t, []string{first, value}, cell.lines)
		}
	}
	for c := range want {
		_, drawn := g[c]
		require.True(t, drawn, "no cell at %v", c)
	}
}

func self(i int64) int64 { return i }

func TestTVCells(t *testing.T) {
	for _, c := range []struct{ tv, tile string }{
		{"((8,4),4):((16,1),4)", "(4,32)"}, {"(4,2):(1,4)", "8"}, {"(4,2):(1,4)", "(4,4)"}, {"(4,2):(0,1)", "(1,2)"},
		{"(2,2):(1,1)", "(3,1)"}, {"(4,4):(1,1)", "(7,1)"}, {"(2,3):(1,0)", "(2,1)"},
	} {
		tile, err := algebra.ParseShape(c.tile)
		require.NoError(t, err)
		p, err := show.TV(algebra.MustParse(c.tv), tile)
		require.NoError(t, err)
		rows := int64(1)
		if tile.Rank() == 2 {
			rows, _ = tile.Mode(0).IntSize()
		}
		sameTV(t, parse(t, p.SVG())["tile"], algebra.MustParse(c.tv), rows, false, self)
	}
	tile, _ := algebra.ParseShape("(3,1)")
	p, err := show.TV(algebra.MustParse("(2,2):(1,1)"), tile)
	require.NoError(t, err)
	require.Equal(t, []string{"T0/V1", "T1/V0"}, parse(t, p.SVG())["tile"][at{1, 0}].lines)
}

// TestEveryMMAAtom draws all atoms and reads every operand back.
func TestEveryMMAAtom(t *testing.T) {
	rows := atoms.AllMMA()
	for _, n := range []int{8, 256} {
		row, err := atoms.GMMA(atoms.GMMASpec{N: n, D: elem.KF32, A: elem.KF16, B: elem.KF16, Registers: n > 8})
		require.NoError(t, err)
		rows = append(rows, row)
	}
	for _, row := range rows {
		p, err := show.MMA(row)
		require.NoError(t, err, row.Name)
		grids := parse(t, p.SVG())
		lane := algebra.MustParse(row.ThrID)
		for _, o := range []byte("ABC") {
			tv, err := row.Operand(o)
			require.NoError(t, err)
			rows := map[byte]int{'A': row.M, 'B': row.N, 'C': row.M}[o]
			sameTV(t, grids[string(o)], tv, int64(rows), o == 'B', lane.AtInt)
		}
	}
}

// TestMMAArrangement looks at the places of the grids: B's columns are C's, and A's rows are C's.
func TestMMAArrangement(t *testing.T) {
	p, err := show.TiledMMA(tiled(t, "(2,2,1):(1,2,4)"))
	require.NoError(t, err)
	o := origins(t, p.SVG())
	require.Equal(t, o["B"].col, o["C"].col)
	require.Equal(t, o["A"].row, o["C"].row)
	require.Less(t, o["A"].col, o["C"].col)
	require.Less(t, o["B"].row, o["C"].row)
}

func TestTiledMMACells(t *testing.T) {
	k := algebra.MustParse("(8,2,2):(1,16,8)")
	for _, m := range []*ir.TiledMMA{
		tiled(t, "(1,1,1):(0,0,0)"), tiled(t, "(2,2,1):(1,2,4)"), tiled(t, "(2,2,1):(2,1,0)", int64(32), int64(32), int64(16)),
		tiled(t, "(1,2,1):(0,1,0)", int64(16), k), tiled(t, "(4,1,1):(1,0,0)"), tiled(t, "(2,2,2):(1,2,4)"),
	} {
		p, err := show.TiledMMA(m)
		require.NoError(t, err)
		grids := parse(t, p.SVG())
		for o, rows := range map[ir.Operand]int64{ir.A: m.Tile[0], ir.B: m.Tile[1], ir.C: m.Tile[0]} {
			sameTV(t, grids[string(o)], m.TV[o], rows, o == ir.B, self)
		}
	}
}

func TestTiledCopyCells(t *testing.T) {
	u128, _ := atoms.FindCopy("UniversalCopy<u128>")
	plain, err := ir.NewTiledCopy(u128, elem.KF32, algebra.MustParse("(4,8):(8,1)"), algebra.MustParse("(1,4):(4,1)"))
	require.NoError(t, err)
	one := tiled(t, "(1,1,1):(0,0,0)")
	for _, c := range []*ir.TiledCopy{
		plain,
		follow(t, "SM75_U32x1_LDSM_N", one, ir.A), follow(t, "SM75_U32x2_LDSM_N", one, ir.A), follow(t, "SM75_U32x4_LDSM_N", one, ir.A),
		follow(t, "SM75_U16x4_LDSM_T", one, ir.B),
		follow(t, "SM75_U32x2_LDSM_N", tiled(t, "(2,2,1):(1,2,4)"), ir.A),
		follow(t, "SM75_U32x4_LDSM_N", tiled(t, "(1,1,1):(0,0,0)", int64(16), int64(8), int64(32)), ir.B),
	} {
		p, err := show.TiledCopy(c)
		require.NoError(t, err)
		grids := parse(t, p.SVG())
		rows, _ := c.TileShape.Mode(0).IntSize()
		for _, side := range []ir.Side{ir.Source, ir.Destination} {
			tv, err := c.SideTV(side)
			require.NoError(t, err)
			sameTV(t, grids[side.String()], tv, rows, false, self)
		}
	}
}

// TestAddressAndValue is the route of one element through ldmatrix.x2: lane 8 gives the address of A(8,0), and lane 0
// receives it as its value 2.
func TestAddressAndValue(t *testing.T) {
	p, err := show.TiledCopy(follow(t, "SM75_U32x2_LDSM_N", tiled(t, "(1,1,1):(0,0,0)"), ir.A))
	require.NoError(t, err)
	grids := parse(t, p.SVG())
	require.Equal(t, []string{"T8", "T24", "V0"}, grids["source"][at{8, 0}].lines)
	require.Equal(t, []string{"T0", "V2"}, grids["destination"][at{8, 0}].lines)
}

func TestRefusals(t *testing.T) {
	shape := func(s string) algebra.Shape {
		out, err := algebra.ParseShape(s)
		require.NoError(t, err)
		return out
	}
	layout := func(l string) error { _, err := show.Layout(algebra.MustParse(l)); return err }
	tv := func(l, s string) error { _, err := show.TV(algebra.MustParse(l), shape(s)); return err }
	smem := func(l string, bits int) error { _, err := show.Smem(algebra.MustParse(l), bits, nil); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{layout("(257,8):(8,1)"), "257 x 8 cells are too many to draw; the limit is 256 a side and 32768 in all"},
		{layout("(256,129):(129,1)"), "256 x 129 cells are too many to draw"},
		{layout("(8,257):(257,1)"), "8 x 257 cells are too many"},
		{layout("(2,3,4):(1,2,6)"), "has two modes, down and to the right, but this has 3; group them, as in ((4,2),8)"},
		{layout("(M,8):(8,1)"), "a picture needs constant extents"},
		{tv("8:1", "8"), "has two modes, threads and values, but 8:1 is not"},
		{tv("(4,2):(1,4)", "(2,2)"), "puts thread 0, value 1 at 4, outside the 4 elements of the tile (2,2)"},
		{tv("(4,2):(1,-1)", "(2,2)"), "puts thread 0, value 1 at -1"},
		{tv("(2097152,2):(0,1)", "2"), "4194304 threads and values are too many to draw"},
		{tv("(M,2):(1,4)", "8"), "is static and has two modes"},
		{smem("(8,8):(8,1)", 24), "expects elements of 1, 2, 4, … 128 bits, but got 24"},
		{smem("(8,8):(M,1)", 16), "banks need constant strides"},
		{smem("(8,8):(-8,1)", 16), "which lies outside of shared memory"},
	} {
		require.ErrorContains(t, c.err, c.want)
	}
	for _, f := range []func() (*show.Picture, error){
		func() (*show.Picture, error) { return show.MMA(nil) },
		func() (*show.Picture, error) { return show.TiledMMA(nil) },
		func() (*show.Picture, error) { return show.TiledCopy(nil) },
		func() (*show.Picture, error) {
			return show.Smem(algebra.MustParse("(8,8):(8,1)"), 16, &show.Access{})
		},
		func() (*show.Picture, error) { return show.TiledMMA(tiled(t, "(32,1,1):(1,0,0)")) },
	} {
		_, err := f()
		require.Error(t, err)
	}
}

func TestDeterminism(t *testing.T) {
	draw := func() (*show.Picture, []byte) {
		p, err := show.TiledMMA(tiled(t, "(2,2,1):(1,2,4)"))
		require.NoError(t, err)
		return p, p.SVG()
	}
	p, first := draw()
	for range 3 {
		q, again := draw()
		require.Equal(t, first, again)
		require.Equal(t, show.Page("x", p, q), show.Page("x", q, p))
	}
}
