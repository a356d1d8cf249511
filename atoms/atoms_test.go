package atoms

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
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

// everyMMA are all rows, those of wgmma for some N.
func everyMMA() []*MMARow { return append(AllMMA(), AllGMMA(8, 64, 96, 128, 256)...) }

// TestRowsCheck: each operand's layout fills its tile, every element once (or in every thread, of what a descriptor
// points at), with as many bits in each thread as its registers have, and the mnemonic takes as many.
func TestRowsCheck(t *testing.T) {
	for _, r := range everyMMA() {
		require.NoError(t, r.Check())
		_, err := r.Operand('D')
		require.Error(t, err)
	}
	for _, r := range AllCopy() {
		require.NoError(t, r.Check())
	}
	for _, kind := range BulkKinds() {
		r, err := Bulk(kind, 4096)
		require.NoError(t, err)
		require.NoError(t, r.Check())
	}
}

// TestWrongRows: what Check must find, in copies of right rows.
func TestWrongRows(t *testing.T) {
	for _, c := range []struct {
		change func(*MMARow)
		want   string
	}{
		{func(r *MMARow) { r.A = a16x8 }, "SM80_16x8x16_F32F16F16F32_TN: operand A: expects a layout of the 16x16 tile: ((4,8),(2,2)):((32,1),(16,8)) reaches element 128 0 times instead of 1"},
		{func(r *MMARow) { r.B = "((4,8),(2,2)):((16,1),(8,65))" }, "operand B: expects a layout of the 8x16 tile: ((4,8),(2,2)):((16,1),(8,65)) reaches element 128 of 128"},
		{func(r *MMARow) { r.C = "((4,8),(2,2)):((32,1),(16,0))" }, "operand C: expects a layout of the 16x8 tile: ((4,8),(2,2)):((32,1),(16,0)) reaches element 0 2 times instead of 1"},
		{func(r *MMARow) { r.A = "((4,4),(2,2,2)):((32,1),(16,8,128))" }, "operand A: expects a layout of 32 threads, but ((4,4),(2,2,2)):((32,1),(16,8,128)) has 16"},
		{func(r *MMARow) { r.C = "(128):(1)" }, "operand C: expects a layout of rank 2, (T,V), but got (128):(1)"},
		{func(r *MMARow) { r.B = "((4,8)" }, "operand B: "},
		{func(r *MMARow) { r.ThrID = "(4,8):(1,2)" }, "ThrID: (4,8):(1,2) names 18 lanes for 32 threads"},
		{func(r *MMARow) { r.RA = u32(2) }, "operand A: expects registers of 128 bits, those of a thread's 8 values of f16, but u32[2] has 64"},
		{func(r *MMARow) { r.RD = f64(2) }, "operand C: SM80's"},
		{func(r *MMARow) { r.PTX = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32" }, "the row is of shape 16x8x16, but mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 is of 16x8x8"},
		{func(r *MMARow) { r.PTX = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" }, "the row multiplies f16 by f16 into f32, but not mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"},
	} {
		r, ok := FindMMA("SM80_16x8x16_F32F16F16F32_TN")
		require.True(t, ok)
		c.change(r)
		if c.want == "operand C: SM80's" {
			c.want = "operand C: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 takes 4 registers of a thread, but the row has f64[2]"
		}
		require.ErrorContains(t, r.Check(), c.want)
	}
	for _, c := range []struct {
		change func(*CopyRow)
		want   string
	}{
		{func(r *CopyRow) { r.SrcBits = rows8 }, "SM75_U32x2_LDSM_N: the source: ((8,4),128):((128,0),1) reaches element 0 4 times instead of 2"},
		{func(r *CopyRow) { r.DstBits = frag4 }, "the destination: (32,(32,4)):(32,(1,1024)) reaches element 2048 of 2048"},
		{func(r *CopyRow) { r.RefBits = rows16 }, "the reference expects every bit once"},
		{func(r *CopyRow) { r.ThrID = one }, "the source expects 1 threads, but ((16,2),128):((128,0),1) has 32"},
		{func(r *CopyRow) { r.DstRegs = u32(4) }, "the destination expects registers of 64 bits, those of its layout (32,(32,2)):(32,(1,1024)), but u32[4] has 128"},
		{func(r *CopyRow) { r.PTX = "ldmatrix.sync.aligned.x4.m8n8.shared.b16" }, "ldmatrix.sync.aligned.x4.m8n8.shared.b16 takes 4 registers of a thread, but the row has 2"},
	} {
		r, ok := FindCopy("SM75_U32x2_LDSM_N")
		require.True(t, ok)
		c.change(r)
		require.ErrorContains(t, r.Check(), c.want)
	}
}

// TestMMAText: an instruction's name, tile and types are those of its PTX.
func TestMMAText(t *testing.T) {
	name := regexp.MustCompile(`^SM(\d+)_(\d+)x(\d+)x(\d+)_([A-Z0-9]+?)_(TN|NT|NN|TT|SS|RS)`)
	orders := map[string]string{"TN": "row.col", "NT": "col.row", "NN": "col.col", "TT": "row.row"}
	for _, r := range everyMMA() {
		if r.ThrID == single {
			continue
		}
		m := name.FindStringSubmatch(r.Name)
		require.NotNil(t, m, r.Name)
		require.Equal(t, []string{fmt.Sprint(r.Arch), fmt.Sprint(r.M), fmt.Sprint(r.N), fmt.Sprint(r.K)}, m[1:5], r.Name)
		if r.Times > 0 {
			require.Contains(t, r.PTX, "row.col.f64.f64.f64.f64", r.Name)
			continue
		}
		require.Equal(t, strings.Contains(r.Name, "SATURATE"), strings.Contains(r.PTX, ".satfinite"), r.Name)
		kinds := []string{r.D.String(), r.EA.String(), r.EB.String(), r.D.String()}
		code := strings.ReplaceAll(strings.ToUpper(strings.Join(kinds, "")), "B1", "U1")
		if r.IsGMMA() {
			require.True(t, strings.HasPrefix(code, m[5]), r.Name)
			require.Contains(t, r.PTX, fmt.Sprintf("wgmma.mma_async.sync.aligned.m%dn%dk%d.%s", r.M, r.N, r.K, strings.Join(kinds[:3], ".")))
			continue
		}
		require.Equal(t, code, m[5], r.Name)
		want := fmt.Sprintf("mma.sync.aligned.m%dn%dk%d.%s.%s", r.M, r.N, r.K, orders[m[6]], strings.Join(kinds, "."))
		require.True(t, strings.HasPrefix(r.PTX, want), "%s: %s", r.Name, r.PTX)
	}
}

// TestGMMARefuses: combinations that wgmma does not have.
func TestGMMARefuses(t *testing.T) {
	for _, c := range []struct {
		spec GMMASpec
		want string
	}{
		{GMMASpec{N: 12, D: elem.KF32, A: elem.KF16, B: elem.KF16}, "expects an N that is a multiple of 8"},
		{GMMASpec{N: 264, D: elem.KF32, A: elem.KF16, B: elem.KF16}, "but got 264"},
		{GMMASpec{N: 40, D: elem.KS32, A: elem.KS8, B: elem.KU8}, "of integers 8, 24 or a multiple of 16"},
		{GMMASpec{N: 64, D: elem.KF32, A: elem.KTF32, B: elem.KTF32, MajorB: MajorMN}, "takes tf32 and tf32 K-major only"},
		{GMMASpec{N: 64, D: elem.KF32, A: elem.KF16, B: elem.KF16, Registers: true, MajorA: MajorMN}, "with A in registers has no major of A but K"},
		{GMMASpec{N: 64, D: elem.KF32, A: elem.KF16, B: elem.KBF16}, "there is no wgmma of f16 by bf16 into f32"},
	} {
		_, err := GMMA(c.spec)
		require.ErrorContains(t, err, c.want)
	}
	_, err := Bulk("SM90_TMA_LOAD", 100)
	require.ErrorContains(t, err, "expects a multiple of 128 bits, but got 100")
	_, err = Bulk("SM90_TMA", 128)
	require.ErrorContains(t, err, "there is no bulk copy SM90_TMA")
	_, ok := FindMMA("SM90_64x12x16_F32F16F16_SS")
	require.False(t, ok)
}

// TestCopyText: what a row says beside its layouts follows from them.
func TestCopyText(t *testing.T) {
	form := regexp.MustCompile(`\.x(\d)\.`)
	for _, r := range AllCopy() {
		memory := r.SrcBits
		if r.Src == "register" {
			memory = r.DstBits
		}
		if r.Chooses {
			require.Empty(t, r.PTX)
			continue
		}
		require.EqualValues(t, r.VectorBits, size(parsed(t, memory).Mode(1)), r.Name)
		switch {
		case strings.HasPrefix(r.PTX, "stmatrix"):
			require.Equal(t, form.FindStringSubmatch(r.PTX)[1], strconv.Itoa(r.SrcRegs.Count), r.Name)
			require.Equal(t, strings.Contains(r.PTX, ".trans"), r.ElemBits == 16, r.Name)
			require.Equal(t, []string{"register", "shared"}, []string{r.Src, r.Dst}, r.Name)
		case r.Src == "register" && r.Dst == "register":
			require.NotEmpty(t, r.PTX, r.Name)
			require.Equal(t, r.SrcRegs, r.DstRegs, r.Name)
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
	for _, file := range []string{"typed.go", "typed_int.go", "typed_copy.go"} {
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
		require.True(t, typed[r.Name] || r.PTX == "", "%s has no variable", r.Name)
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
	require.Equal(t, "UniversalFMA<f16>", UniversalFMA[elem.F16]().Row().Name)
	require.Equal(t, "u32[4]", SM80_16x8x16_F32F16F16F32_TN.Row().RA.String())
	require.Equal(t, 64, AutoVectorizingCopyUpTo[Gmem, Smem](64).Row().VectorBits)
	require.Equal(t, "cp.async.cg.shared.global.L2::128B", PrefetchL2(SM80_CP_ASYNC_CACHEGLOBAL_U128, 128).Row().PTX)
	require.Nil(t, PrefetchL2(UniversalCopy[Gmem, Smem](128), 128).Row())
	require.Nil(t, PrefetchL2(SM80_CP_ASYNC_CACHEGLOBAL_U128, 12).Row())
	require.Equal(t, "sm_90a", mustGMMA(t).ArchName())
}

func mustGMMA(t *testing.T) *MMARow {
	t.Helper()
	r, err := GMMA(GMMASpec{N: 64, D: elem.KF32, A: elem.KF16, B: elem.KF16, MajorB: MajorMN})
	require.NoError(t, err)
	return r
}
