package atoms

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/elem"
)

func parsed(t *testing.T, text string) algebra.Layout {
	t.Helper()
	l, err := algebra.Parse(text)
	require.NoError(t, err)
	return l
}

func size(l algebra.Layout) int64 { n, _ := l.IntSize(); return n }

// hits counts how often a layout reaches each of n places; a place outside fails the test.
func hits(t *testing.T, l algebra.Layout, n int64) []int {
	t.Helper()
	out := make([]int, n)
	for i := range size(l) {
		at := l.AtInt(i)
		require.True(t, at >= 0 && at < n, "%s reaches %d of %d", l, at, n)
		out[at]++
	}
	return out
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range AllMMA() {
		require.False(t, seen[r.Name], r.Name)
		seen[r.Name] = true
	}
	for _, r := range AllCopy() {
		require.False(t, seen[r.Name], r.Name)
		seen[r.Name] = true
	}
	_, ok := FindMMA("SM80_0x0x0")
	require.False(t, ok)
	_, ok = FindCopy("SM80_0x0x0")
	require.False(t, ok)
}

// TestMMAOperands: each operand's layout fills its tile, every element once, with as many bits in each thread as the
// thread's registers have.
func TestMMAOperands(t *testing.T) {
	for _, r := range AllMMA() {
		threads := size(parsed(t, r.ThrID))
		for _, o := range []struct {
			which byte
			tile  int
			kind  elem.Kind
			regs  Regs
		}{{'A', r.M * r.K, r.EA, r.RA}, {'B', r.N * r.K, r.EB, r.RB}, {'C', r.M * r.N, r.D, r.RD}} {
			l, err := r.Operand(o.which)
			require.NoError(t, err)
			require.Equal(t, 2, l.Rank())
			require.Equal(t, threads, size(l.Mode(0)), "%s %c", r.Name, o.which)
			for at, n := range hits(t, l, int64(o.tile)) {
				require.Equal(t, 1, n, "%s %c: element %d", r.Name, o.which, at)
			}
			require.EqualValues(t, o.regs.Bits(), size(l.Mode(1))*int64(o.kind.Bits()), "%s %c", r.Name, o.which)
		}
		_, err := r.Operand('D')
		require.Error(t, err)
	}
}

// TestMMAText: an instruction's name, tile and types are those of its PTX.
func TestMMAText(t *testing.T) {
	name := regexp.MustCompile(`^SM(\d+)_(\d+)x(\d+)x(\d+)_([A-Z0-9]+?)_TN$`)
	for _, r := range AllMMA() {
		m := name.FindStringSubmatch(r.Name)
		require.NotNil(t, m, r.Name)
		require.Equal(t, []string{fmt.Sprint(r.Arch), fmt.Sprint(r.M), fmt.Sprint(r.N), fmt.Sprint(r.K)}, m[1:5], r.Name)
		kinds := []string{r.D.String(), r.EA.String(), r.EB.String(), r.D.String()}
		require.Equal(t, strings.ToUpper(strings.Join(kinds, "")), m[5], r.Name)
		want := fmt.Sprintf("mma.sync.aligned.m%dn%dk%d.row.col.%s", r.M, r.N, r.K, strings.Join(kinds, "."))
		require.Equal(t, want, r.PTX)
	}
}

// TestCopySides: both sides of a copy and its reference number the same bits, each at least once, and all of the
// threads that a side has.
func TestCopySides(t *testing.T) {
	for _, r := range AllCopy() {
		threads := size(parsed(t, r.ThrID))
		ref := parsed(t, r.RefBits)
		bits, err := ref.Cosize()
		require.NoError(t, err)
		n, _ := bits.IsConst()
		require.Equal(t, n, size(ref), "%s: the reference is a bijection", r.Name)
		for _, text := range []string{r.SrcBits, r.DstBits, r.RefBits} {
			l := parsed(t, text)
			require.Equal(t, threads, size(l.Mode(0)), r.Name)
			count := hits(t, l, n)
			require.GreaterOrEqual(t, slices.Min(count), 1, "%s: %s misses a bit", r.Name, text)
			require.Equal(t, slices.Min(count), slices.Max(count), "%s: %s repeats some bits only", r.Name, text)
		}
		require.Contains(t, []string{r.SrcBits, r.DstBits}, r.RefBits, "%s: the reference is one of the sides", r.Name)
	}
}

// TestCopyText: what a row says beside its layouts follows from them.
func TestCopyText(t *testing.T) {
	form := regexp.MustCompile(`\.x(\d)\.`)
	for _, r := range AllCopy() {
		memory := r.SrcBits
		if r.Src == "register" {
			memory = r.DstBits
		}
		require.EqualValues(t, r.VectorBits, size(parsed(t, memory).Mode(1)), r.Name)
		switch {
		case strings.HasPrefix(r.PTX, "ldmatrix"):
			require.Equal(t, form.FindStringSubmatch(r.PTX)[1], strconv.Itoa(r.DstRegs.Count), r.Name)
			require.EqualValues(t, r.DstRegs.Bits(), size(parsed(t, r.DstBits).Mode(1)), r.Name)
			require.Equal(t, strings.Contains(r.PTX, ".trans"), r.ElemBits == 16, r.Name)
			require.Equal(t, []string{"shared", "register"}, []string{r.Src, r.Dst}, r.Name)
		case strings.HasPrefix(r.PTX, "cp.async."):
			require.True(t, r.Asynchronous, r.Name)
			require.True(t, strings.HasPrefix(r.PTX, "cp.async."+r.CacheOperator+"."), r.Name)
			require.True(t, r.CacheOperator != "cg" || r.VectorBits == 128, "%s: .cg moves 16 bytes only", r.Name)
			require.Contains(t, []int{32, 64, 128}, r.VectorBits, r.Name)
			require.Equal(t, []string{"global", "shared"}, []string{r.Src, r.Dst}, r.Name)
		default:
			require.Empty(t, r.PTX, r.Name)
			require.Zero(t, r.Arch, r.Name)
		}
	}
}

// TestTypedAtoms reads the variables of the package: each has a row of its name, whose elements or spaces are the
// variable's types, and each row that is an instruction has a variable.
func TestTypedAtoms(t *testing.T) {
	typed := map[string]bool{}
	for _, file := range []string{"mma.go", "copy.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				if call, ok := v.Values[0].(*ast.CallExpr); ok {
					checkTyped(t, v.Names[0].Name, call, typed)
				}
			}
			return true
		})
	}
	for _, r := range AllMMA() {
		require.True(t, typed[r.Name], "%s has no variable", r.Name)
	}
	for _, r := range AllCopy() {
		require.True(t, typed[r.Name] || r.PTX == "", "%s has no variable", r.Name)
	}
}

func checkTyped(t *testing.T, variable string, call *ast.CallExpr, typed map[string]bool) {
	t.Helper()
	index, ok := call.Fun.(*ast.IndexListExpr)
	if !ok || len(call.Args) != 1 {
		return
	}
	name, err := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
	require.NoError(t, err)
	require.Equal(t, variable, strings.NewReplacer("<u", "_U", ">", "").Replace(name))
	var args []string
	for _, a := range index.Indices {
		if s, ok := a.(*ast.SelectorExpr); ok {
			args = append(args, s.Sel.Name)
		} else {
			args = append(args, a.(*ast.Ident).Name)
		}
	}
	typed[name] = true
	if row, ok := FindMMA(name); ok {
		want := []string{row.D.String(), row.EA.String(), row.EB.String(), row.D.String()}
		require.Equal(t, strings.ToUpper(strings.Join(want, " ")), strings.Join(args, " "), name)
		return
	}
	row, ok := FindCopy(name)
	require.True(t, ok, "%s has no row", name)
	space := map[string]string{"global": "Gmem", "shared": "Smem", "register": "Rmem"}
	require.Equal(t, []string{space[row.Src], space[row.Dst]}, args, name)
}

// TestMissingAtoms: what is in no table makes the zero atom.
func TestMissingAtoms(t *testing.T) {
	require.Nil(t, UniversalCopy[Gmem, Rmem](24).Row())
	require.Equal(t, "UniversalCopy<u64>", UniversalCopy[Gmem, Rmem](64).Row().Name)
	require.Equal(t, "SM80_16x8x16_F32BF16BF16F32_TN", MMA16816[elem.BF16]().Row().Name)
	require.Equal(t, "SM80_16x8x16_F32F16F16F32_TN", MMA16816[elem.F16]().Row().Name)
	require.Equal(t, "u32[4]", SM80_16x8x16_F32F16F16F32_TN.Row().RA.String())
}
