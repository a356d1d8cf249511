package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// goldenMMA is a row of mma_atoms.jsonl.
type goldenMMA struct {
	Name     string            `json:"name"`
	Shape    string            `json:"shape_mnk"`
	ThrID    string            `json:"thr_id"`
	A        string            `json:"layout_a"`
	Intended string            `json:"layout_a_intended"`
	B        string            `json:"layout_b"`
	C        string            `json:"layout_c"`
	Types    map[string]string `json:"types"`
	Regs     map[string][]any  `json:"regs"`
	PTX      *string           `json:"ptx"`
	Uses     []any             `json:"ptx_uses"`
	Arch     string            `json:"arch"`
	MajorA   atoms.Major       `json:"major_a"`
	MajorB   atoms.Major       `json:"major_b"`
}

// row is the golden row in our form.
func (g *goldenMMA) row(t testing.TB) *atoms.MMARow {
	kind := func(which string) elem.Kind { k, _ := elem.ParseKind(g.Types[which]); return k }
	regs := func(which string) atoms.Regs {
		r := g.Regs[which]
		if r == nil {
			r = g.Regs["c"]
		}
		if len(r) != 2 {
			return atoms.Regs{}
		}
		n, _ := r[1].(float64)
		return atoms.Regs{Type: fmt.Sprint(r[0]), Count: int(n)}
	}
	out := &atoms.MMARow{Name: g.Name, ThrID: g.ThrID, A: g.A, B: g.B, C: g.C, D: kind("d"), EA: kind("a"), EB: kind("b"),
		RD: regs("d"), RA: regs("a"), RB: regs("b"), MajorA: g.MajorA, MajorB: g.MajorB}
	if g.Intended != "" {
		out.A = g.Intended
	}
	if g.PTX != nil {
		out.PTX = *g.PTX
	}
	if len(g.Uses) == 2 {
		times, _ := g.Uses[1].(float64)
		out.PTX, out.Times = fmt.Sprint(g.Uses[0]), int(times)
	}
	s, err := algebra.ParseShape(g.Shape)
	require.NoError(t, err)
	for i, to := range []*int{&out.M, &out.N, &out.K} {
		n, _ := s.Mode(i).IntSize()
		*to = int(n)
	}
	_, err = fmt.Sscanf(g.Arch, "sm_%d", &out.Arch)
	if g.Arch != "" && g.Arch != "any" {
		require.NoError(t, err, "%s %s", g.Name, g.Arch)
	}
	return out
}

// goldenSmem is a row of gmma_smem.jsonl.
type goldenSmem struct {
	Name   atoms.SmemSwizzle `json:"name"`
	Major  atoms.Major       `json:"major"`
	Elem   string            `json:"elem"`
	Layout string            `json:"layout"`
}

// TestGMMASmem: the canonical layouts of wgmma's operands in shared memory are CuTe's.
func TestGMMASmem(t *testing.T) {
	rows := golden[goldenSmem](t, "gmma_smem.jsonl")
	for _, g := range rows {
		k, err := elem.ParseKind(strings.Replace(g.Elem, "bit", "b1", 1))
		require.NoError(t, err)
		got, err := atoms.GMMASmemText(g.Name, g.Major, k)
		require.NoError(t, err)
		require.Equal(t, g.Layout, got, "%s %s %s", g.Name, g.Major, g.Elem)
	}
	t.Logf("%d layouts", len(rows))
}

// goldenCopy is a row of copy_atoms.jsonl.
type goldenCopy struct {
	Name     string  `json:"name"`
	Arch     string  `json:"arch"`
	PTX      *string `json:"ptx"`
	Src      string  `json:"src_space"`
	Dst      string  `json:"dst_space"`
	ThrID    string  `json:"thr_id"`
	SrcBits  string  `json:"src_bits"`
	DstBits  string  `json:"dst_bits"`
	RefBits  string  `json:"ref_bits"`
	SrcRegs  []any   `json:"src_regs"`
	DstRegs  []any   `json:"dst_regs"`
	NumBits  int     `json:"num_bits"`
	ZeroFill bool    `json:"predicate_zfill"`
	Elems    map[string]struct {
		Src, Dst, Ref string
		NumValSrc     int64 `json:"num_val_src"`
		NumValDst     int64 `json:"num_val_dst"`
	} `json:"elems"`
	Illegal []string `json:"illegal_elems"`
	Wider   []string `json:"elem_wider_than_op"`
}

// ours is the row of package atoms that the golden row describes.
func (g *goldenMMA) ours() (*atoms.MMARow, bool) {
	row, ok := atoms.FindMMA(g.Name)
	if !ok || !row.IsGMMA() {
		return row, ok
	}
	row, err := atoms.GMMA(atoms.GMMASpec{N: row.N, D: row.D, A: row.EA, B: row.EB, Registers: row.RA.Type != "u64",
		MajorA: g.MajorA, MajorB: g.MajorB, Saturate: strings.HasSuffix(row.PTX, "satfinite")})
	return row, err == nil
}

// TestMMARows: every golden row is a row of package atoms, field by field, and every row but wgmma's has a golden one.
func TestMMARows(t *testing.T) {
	seen := map[string]bool{}
	rows := golden[goldenMMA](t, "mma_atoms.jsonl")
	for _, g := range rows {
		got, ok := g.ours()
		require.True(t, ok, "package atoms has no %s", g.Name)
		require.Equal(t, g.row(t), got, g.Name)
		require.Equal(t, g.Arch, got.ArchName(), g.Name)
		for _, k := range []elem.Kind{got.D, got.EA, got.EB} {
			require.NotEqual(t, elem.Invalid, k, g.Name)
		}
		seen[g.Name] = true
	}
	for _, row := range atoms.AllMMA() {
		require.True(t, seen[row.Name], "no golden row checks %s", row.Name)
	}
	t.Logf("%d rows", len(rows))
}

// TestCopyRows: every golden row is a row of package atoms, and its layouts of elements are CuTe's.
func TestCopyRows(t *testing.T) {
	forms, seen := 0, map[string]bool{}
	rows := golden[goldenCopy](t, "copy_atoms.jsonl")
	for _, g := range rows {
		row, ok := atoms.FindCopy(g.Name)
		require.True(t, ok, "package atoms has no %s", g.Name)
		seen[g.Name] = true
		checkCopyRow(t, g, row)
		for code, e := range g.Elems {
			k, err := elem.ParseKind(code)
			require.NoError(t, err)
			forms++
			c, err := ir.NewTiledCopyTV(row, k, wholeAtom(t, e.Ref), atomTile(t, e.Ref))
			if !noError(t, err, "%s of %s", g.Name, code) {
				continue
			}
			const form = "%v %v %v %d %d"
			got := fmt.Sprintf(form, c.Src, c.Dst, c.Ref, c.NumVal(ir.Source), c.NumVal(ir.Destination))
			if want := fmt.Sprintf(form, e.Src, e.Dst, e.Ref, e.NumValSrc, e.NumValDst); got != want {
				t.Errorf("%s of %s: %s, want %v", g.Name, code, got, want)
			}
		}
		for _, code := range append(g.Illegal, g.Wider...) {
			k, err := elem.ParseKind(code)
			require.NoError(t, err)
			_, err = ir.NewTiledCopyTV(row, k, parse("(1,1):(0,0)"), algebra.S(1, 1))
			require.ErrorContains(t, err, g.Name)
			require.ErrorContains(t, err, "of type "+code)
		}
	}
	for _, row := range atoms.AllCopy() {
		require.True(t, seen[row.Name], "no golden row checks %s", row.Name)
	}
	t.Logf("%d rows, %d element forms", len(rows), forms)
}

func noError(t *testing.T, err error, format string, args ...any) bool {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", fmt.Sprintf(format, args...), err)
	}
	return err == nil
}

// checkCopyRow compares what the golden row states of an instruction.
func checkCopyRow(t *testing.T, g goldenCopy, row *atoms.CopyRow) {
	t.Helper()
	want := []string{g.Src, g.Dst, g.ThrID, g.SrcBits, g.DstBits, g.RefBits}
	require.Equal(t, want, []string{row.Src, row.Dst, row.ThrID, row.SrcBits, row.DstBits, row.RefBits}, g.Name)
	for _, x := range []struct {
		golden []any
		regs   atoms.Regs
	}{{g.SrcRegs, row.Side(row.SrcRegs)}, {g.DstRegs, row.Side(row.DstRegs)}} {
		if x.golden == nil {
			require.Zero(t, x.regs, g.Name)
			continue
		}
		require.Equal(t, []any{x.regs.Type, float64(x.regs.Count)}, x.golden, g.Name)
	}
	require.Equal(t, g.NumBits, row.Bulk, g.Name)
	require.Equal(t, g.ZeroFill, row.ZeroFill, g.Name)
	require.Equal(t, g.Arch, map[bool]string{true: "any", false: fmt.Sprintf("sm_%d", row.Arch)}[row.Arch == 0], g.Name)
	if g.PTX != nil { // of cp.async the golden row has the first words only, of a reduction none
		require.True(t, strings.HasPrefix(row.PTX, *g.PTX), "%s: %s, want %s", g.Name, row.PTX, *g.PTX)
		require.True(t, row.PTX == *g.PTX || row.Asynchronous, "%s: %s, want %s", g.Name, row.PTX, *g.PTX)
	} else if !strings.Contains(g.Name, "REDUCE") {
		require.Empty(t, row.PTX, g.Name)
	}
}

// wholeAtom is the TV layout of a copy that is one atom: the reference itself.
func wholeAtom(t *testing.T, ref string) algebra.Layout {
	t.Helper()
	l, err := algebra.Parse(ref)
	require.NoError(t, err)
	return l
}

// atomTile is the tile that a reference layout covers.
func atomTile(t *testing.T, ref string) algebra.Shape {
	t.Helper()
	n, err := wholeAtom(t, ref).Cosize()
	require.NoError(t, err)
	return algebra.S(n)
}
