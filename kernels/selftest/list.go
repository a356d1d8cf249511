package selftest

import (
	"fmt"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/elem"
)

// maker makes one test.
type maker func() (Test, error)

func of[D, A, B, C elem.Any](atom atoms.MMAAtom[D, A, B, C]) maker {
	return func() (Test, error) { return mma(atom) }
}

// mmas lists the typed MMA atoms.
func mmas() []maker {
	return []maker{
		of(atoms.UniversalFMA[elem.F64]()), of(atoms.UniversalFMA[elem.F32]()), of(atoms.UniversalFMA[elem.F16]()),
		of(atoms.SM61_DP4A),
		of(atoms.SM61_DP2A),
		of(atoms.SM70_8x8x4_F16F16F16F16_TN),
		of(atoms.SM70_8x8x4_F16F16F16F16_NT),
		of(atoms.SM70_8x8x4_F16F16F16F16_NN),
		of(atoms.SM70_8x8x4_F16F16F16F16_TT),
		of(atoms.SM70_8x8x4_F32F16F16F32_TN),
		of(atoms.SM70_8x8x4_F32F16F16F32_NT),
		of(atoms.SM70_8x8x4_F32F16F16F32_NN),
		of(atoms.SM70_8x8x4_F32F16F16F32_TT),
		of(atoms.SM75_16x8x8_F32F16F16F32_TN),
		of(atoms.SM75_16x8x8_F16F16F16F16_TN),
		of(atoms.SM75_8x8x16_S32S8S8S32_TN),
		of(atoms.SM80_16x8x8_F16F16F16F16_TN),
		of(atoms.SM80_16x8x16_F16F16F16F16_TN),
		of(atoms.SM80_16x8x8_F32F16F16F32_TN),
		of(atoms.SM80_16x8x16_F32F16F16F32_TN),
		of(atoms.SM80_16x8x8_F32BF16BF16F32_TN),
		of(atoms.SM80_16x8x16_F32BF16BF16F32_TN),
		of(atoms.SM80_16x8x4_F32TF32TF32F32_TN),
		of(atoms.SM80_16x8x8_F32TF32TF32F32_TN),
		of(atoms.SM80_8x8x4_F64F64F64F64_TN),
		of(atoms.SM80_8x8x4_C64C64C64C64_TN),
		of(atoms.SM80_8x8x4_GC64C64C64GC64_TN),
		of(atoms.SM80_8x8x16_S32S8S8S32_TN),
		of(atoms.SM80_8x8x16_S32S8S8S32_TN_SATURATE),
		of(atoms.SM80_16x8x16_S32S8S8S32_TN),
		of(atoms.SM80_16x8x16_S32S8S8S32_TN_SATURATE),
		of(atoms.SM80_16x8x32_S32S8S8S32_TN),
		of(atoms.SM80_16x8x32_S32S8S8S32_TN_SATURATE),
		of(atoms.SM80_8x8x16_S32S8U8S32_TN),
		of(atoms.SM80_8x8x16_S32S8U8S32_TN_SATURATE),
		of(atoms.SM80_16x8x16_S32S8U8S32_TN),
		of(atoms.SM80_16x8x16_S32S8U8S32_TN_SATURATE),
		of(atoms.SM80_16x8x32_S32S8U8S32_TN),
		of(atoms.SM80_16x8x32_S32S8U8S32_TN_SATURATE),
		of(atoms.SM80_8x8x16_S32U8S8S32_TN),
		of(atoms.SM80_8x8x16_S32U8S8S32_TN_SATURATE),
		of(atoms.SM80_16x8x16_S32U8S8S32_TN),
		of(atoms.SM80_16x8x16_S32U8S8S32_TN_SATURATE),
		of(atoms.SM80_16x8x32_S32U8S8S32_TN),
		of(atoms.SM80_16x8x32_S32U8S8S32_TN_SATURATE),
		of(atoms.SM80_8x8x16_S32U8U8S32_TN),
		of(atoms.SM80_8x8x16_S32U8U8S32_TN_SATURATE),
		of(atoms.SM80_16x8x16_S32U8U8S32_TN),
		of(atoms.SM80_16x8x16_S32U8U8S32_TN_SATURATE),
		of(atoms.SM80_16x8x32_S32U8U8S32_TN),
		of(atoms.SM80_16x8x32_S32U8U8S32_TN_SATURATE),
		of(atoms.SM80_8x8x32_S32S4S4S32_TN),
		of(atoms.SM80_8x8x32_S32S4S4S32_TN_SATURATE),
		of(atoms.SM80_16x8x32_S32S4S4S32_TN),
		of(atoms.SM80_16x8x32_S32S4S4S32_TN_SATURATE),
		of(atoms.SM80_16x8x64_S32S4S4S32_TN),
		of(atoms.SM80_16x8x64_S32S4S4S32_TN_SATURATE),
		of(atoms.SM80_8x8x32_S32S4U4S32_TN),
		of(atoms.SM80_8x8x32_S32S4U4S32_TN_SATURATE),
		of(atoms.SM80_16x8x32_S32S4U4S32_TN),
		of(atoms.SM80_16x8x32_S32S4U4S32_TN_SATURATE),
		of(atoms.SM80_16x8x64_S32S4U4S32_TN),
		of(atoms.SM80_16x8x64_S32S4U4S32_TN_SATURATE),
		of(atoms.SM80_8x8x32_S32U4S4S32_TN),
		of(atoms.SM80_8x8x32_S32U4S4S32_TN_SATURATE),
		of(atoms.SM80_16x8x32_S32U4S4S32_TN),
		of(atoms.SM80_16x8x32_S32U4S4S32_TN_SATURATE),
		of(atoms.SM80_16x8x64_S32U4S4S32_TN),
		of(atoms.SM80_16x8x64_S32U4S4S32_TN_SATURATE),
		of(atoms.SM80_8x8x32_S32U4U4S32_TN),
		of(atoms.SM80_8x8x32_S32U4U4S32_TN_SATURATE),
		of(atoms.SM80_16x8x32_S32U4U4S32_TN),
		of(atoms.SM80_16x8x32_S32U4U4S32_TN_SATURATE),
		of(atoms.SM80_16x8x64_S32U4U4S32_TN),
		of(atoms.SM80_16x8x64_S32U4U4S32_TN_SATURATE),
		of(atoms.SM80_8x8x128_S32U1U1S32_TN_ANDPOPC),
		of(atoms.SM80_16x8x128_S32U1U1S32_TN_ANDPOPC),
		of(atoms.SM80_16x8x256_S32U1U1S32_TN_ANDPOPC),
		of(atoms.SM80_8x8x128_S32U1U1S32_TN_XORPOPC),
		of(atoms.SM80_16x8x128_S32U1U1S32_TN_XORPOPC),
		of(atoms.SM80_16x8x256_S32U1U1S32_TN_XORPOPC),
		of(atoms.SM89_16x8x32_F32E4M3E4M3F32_TN),
		of(atoms.SM89_16x8x32_F32E4M3E5M2F32_TN),
		of(atoms.SM89_16x8x32_F32E5M2E5M2F32_TN),
		of(atoms.SM89_16x8x32_F32E5M2E4M3F32_TN),
		of(atoms.SM89_16x8x32_F16E4M3E4M3F16_TN),
		of(atoms.SM89_16x8x32_F16E4M3E5M2F16_TN),
		of(atoms.SM89_16x8x32_F16E5M2E4M3F16_TN),
		of(atoms.SM89_16x8x32_F16E5M2E5M2F16_TN),
		of(atoms.SM90_16x8x4_F64F64F64F64_TN),
		of(atoms.SM90_16x8x8_F64F64F64F64_TN),
		of(atoms.SM90_16x8x16_F64F64F64F64_TN),
		of(atoms.SM90_16x8x4_C64C64C64C64_TN),
		of(atoms.SM90_16x8x8_C64C64C64C64_TN),
		of(atoms.SM90_16x8x16_C64C64C64C64_TN),
	}
}

// MMAs are the tests of all MMA instructions but wgmma.
func MMAs() ([]Test, error) { return all(mmas()) }

// Copies are the tests of the copy instructions that move something between lanes or in the background.
func Copies() ([]Test, error) { return all(copies()) }

// Everything is all tests.
func Everything() ([]Test, error) { return all(append(mmas(), copies()...)) }

func all(makers []maker) ([]Test, error) {
	var out []Test
	for i, m := range makers {
		t, err := m()
		if err != nil {
			return nil, fmt.Errorf("selftest: test %d: %w", i, err)
		}
		out = append(out, t)
	}
	return out, nil
}
