package selftest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/elem"
)

// wrongly makes a test that expects what a mistaken row says.
func wrongly[D, A, B, C elem.Any](t *testing.T, atom atoms.MMAAtom[D, A, B, C], mistake func(*atoms.MMARow)) Test {
	t.Helper()
	row := *atom.Row()
	mistake(&row)
	require.NoError(t, row.Check(), "a mistake that Check does not see")
	x, err := mmaAs(atom, &row)
	require.NoError(t, err)
	return x
}

// TestFindsWrongRows: rows that are consistent in themselves and wrong do not pass.
func TestFindsWrongRows(t *testing.T) {
	for i, x := range []Test{
		wrongly(t, atoms.SM80_16x8x16_F32F16F16F32_TN, func(r *atoms.MMARow) { r.A = "((4,8),(2,2,2)):((32,1),(16,128,8))" }),
		wrongly(t, atoms.SM80_16x8x16_F32F16F16F32_TN, func(r *atoms.MMARow) { r.B = "((4,8),(2,2)):((16,1),(64,8))" }),
		wrongly(t, atoms.SM80_16x8x16_F32F16F16F32_TN, func(r *atoms.MMARow) { r.C = "((4,8),(2,2)):((32,1),(8,16))" }),
		wrongly(t, atoms.SM80_16x8x8_F32TF32TF32F32_TN, func(r *atoms.MMARow) { r.A = "((4,8),(2,2)):((16,1),(64,8))" }),
		wrongly(t, atoms.SM70_8x8x4_F32F16F16F32_TN, func(r *atoms.MMARow) { r.C = "((2,2,2),(2,2,2)):((1,4,16),(8,2,32))" }),
		wrongly(t, atoms.SM70_8x8x4_F32F16F16F32_TN, func(r *atoms.MMARow) { r.ThrID = "(4,2):(1,4)" }),
		wrongly(t, atoms.SM80_16x8x128_S32U1U1S32_TN_XORPOPC, func(r *atoms.MMARow) { r.A = "((4,8),(32,2)):((16,1),(64,8))" }),
		wrongly(t, atoms.SM80_16x8x64_S32S4S4S32_TN, func(r *atoms.MMARow) { r.A = "((4,8),(8,2,2)):((128,1),(16,512,8))" }),
		wrongly(t, atoms.SM80_8x8x4_C64C64C64C64_TN, func(r *atoms.MMARow) { r.A = "((8,4),1):((1,8),0)" }),
		wrongly(t, atoms.SM80_16x8x32_S32S8S8S32_TN_SATURATE, func(r *atoms.MMARow) { r.PTX = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" }),
	} {
		res, err := check.Run(t.Context(), x.Kernel, check.Args{Tensors: x.Inputs}, check.Options{On: check.CPU})
		require.NoError(t, err)
		require.Error(t, res.Err(), "mistake %d of %s", i, x.Atom)
	}
}
