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
	Arch     string            `json:"arch"`
}

// row is the golden row in our form; element types that are not ours become elem.Invalid.
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
		RD: regs("d"), RA: regs("a"), RB: regs("b")}
	if g.Intended != "" {
		out.A = g.Intended
	}
	if g.PTX != nil {
		out.PTX = *g.PTX
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

// goldenCopy is a row of copy_atoms.jsonl.
type goldenCopy struct {
	Name    string  `json:"name"`
	Arch    string  `json:"arch"`
	PTX     *string `json:"ptx"`
	Src     string  `json:"src_space"`
	Dst     string  `json:"dst_space"`
	ThrID   string  `json:"thr_id"`
	SrcBits string  `json:"src_bits"`
	DstBits string  `json:"dst_bits"`
	RefBits string  `json:"ref_bits"`
	DstRegs []any   `json:"dst_regs"`
	Elems   map[string]struct {
		Src, Dst, Ref string
		NumValSrc     int64 `json:"num_val_src"`
		NumValDst     int64 `json:"num_val_dst"`
	} `json:"elems"`
	Illegal []string `json:"illegal_elems"`
	Wider   []string `json:"elem_wider_than_op"`
}

// row is the golden row in our form.
func (g *goldenCopy) row() *atoms.CopyRow {
	src, dst := size(parse(g.SrcBits).Mode(1)), size(parse(g.DstBits).Mode(1))
	return &atoms.CopyRow{Name: g.Name, Src: g.Src, Dst: g.Dst, ThrID: g.ThrID,
		SrcBits: g.SrcBits, DstBits: g.DstBits, RefBits: g.RefBits, VectorBits: int(max(src, dst))}
}

// TestMMARows: every row of package atoms is the golden row of that name.
func TestMMARows(t *testing.T) {
	tab, seen := newTables(t), 0
	for _, g := range golden[goldenMMA](t, "mma_atoms.jsonl") {
		if tab.alien[g.Name] {
			continue
		}
		seen++
		want := g.row(t)
		require.Equal(t, want, tab.mma[g.Name], g.Name)
	}
	require.Equal(t, len(atoms.AllMMA()), seen, "rows of package atoms that no golden row checks")
	t.Logf("%d of %d rows are in package atoms", seen, len(tab.mma))
}

// TestCopyRows: every row of package atoms has the golden row's bits, and its layouts of elements are CuTe's.
func TestCopyRows(t *testing.T) {
	tab, seen, forms := newTables(t), 0, 0
	for _, g := range golden[goldenCopy](t, "copy_atoms.jsonl") {
		row := tab.copy[g.Name]
		if !tab.alien[g.Name] {
			seen++
			checkCopyRow(t, g, row)
		} else if picksWidth(g.Name) {
			continue
		}
		for code, e := range g.Elems {
			if k, err := elem.ParseKind(code); err == nil {
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
		}
		for _, code := range append(g.Illegal, g.Wider...) {
			k, err := elem.ParseKind(code)
			require.NoError(t, err)
			_, err = ir.NewTiledCopyTV(row, k, parse("(1,1):(0,0)"), algebra.S(1, 1))
			require.Error(t, err, "%s of %s", g.Name, code)
			if !tab.alien[g.Name] { // our own say what is wrong
				require.ErrorContains(t, err, g.Name)
				require.ErrorContains(t, err, "of type "+code)
			}
		}
	}
	require.Equal(t, len(atoms.AllCopy()), seen, "rows of package atoms that no golden row checks")
	t.Logf("%d of %d rows are in package atoms; %d element forms", seen, len(tab.copy), forms)
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
	if g.PTX == nil {
		require.Empty(t, row.PTX, g.Name)
		return
	}
	require.True(t, strings.HasPrefix(row.PTX, *g.PTX), "%s: %s, want %s", g.Name, row.PTX, *g.PTX)
	require.Equal(t, g.Arch, fmt.Sprintf("sm_%d", row.Arch), g.Name)
	if row.DstRegs.Count > 0 {
		require.Equal(t, []any{row.DstRegs.Type, float64(row.DstRegs.Count)}, g.DstRegs, g.Name)
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
