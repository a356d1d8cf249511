package atoms

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/elem"
)

// gmmaFamily is what wgmma instructions have in common that differ in N, in where A is and in the majors.
type gmmaFamily struct {
	d, a, b  elem.Kind
	k        int
	suffix   string // of the name: TN where there is no choice of majors
	majors   bool   // operands may be contiguous along M and N: 16-bit elements only
	saturate bool
}

// gmmaFamilies lists all of them.
func gmmaFamilies() []gmmaFamily {
	out := []gmmaFamily{
		{d: elem.KF16, a: elem.KF16, b: elem.KF16, k: 16, majors: true},
		{d: elem.KF32, a: elem.KF16, b: elem.KF16, k: 16, majors: true},
		{d: elem.KF32, a: elem.KBF16, b: elem.KBF16, k: 16, majors: true},
		{d: elem.KF32, a: elem.KTF32, b: elem.KTF32, k: 8, suffix: "_TN"},
	}
	for _, a := range []elem.Kind{elem.KS8, elem.KU8} {
		for _, b := range []elem.Kind{elem.KS8, elem.KU8} {
			out = append(out, gmmaFamily{d: elem.KS32, a: a, b: b, k: 32, suffix: "_TN"},
				gmmaFamily{d: elem.KS32, a: a, b: b, k: 32, suffix: "_TN_SATURATE", saturate: true})
		}
	}
	for _, d := range []elem.Kind{elem.KF16, elem.KF32} {
		for _, a := range []elem.Kind{elem.KE4M3, elem.KE5M2} {
			for _, b := range []elem.Kind{elem.KE4M3, elem.KE5M2} {
				out = append(out, gmmaFamily{d: d, a: a, b: b, k: 32, suffix: "_TN"})
			}
		}
	}
	return out
}

// fragmentsA are the layouts of A in registers by the width of its elements, (T128,V) -> (M64,K).
var fragmentsA = map[int]string{
	8:  "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))",
	16: "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))",
	32: "((4,8,4),(2,2)):((64,1,16),(8,256))",
}

// GMMASpec says which wgmma instruction is meant.
type GMMASpec struct {
	N              int // 8 to 256
	D, A, B        elem.Kind
	Registers      bool  // A is in registers (RS) and not in shared memory (SS)
	MajorA, MajorB Major // empty: K
	Saturate       bool
}

// GMMA is the row of a wgmma instruction, whose D is 64 x N: (T128,V) -> (M64,N). Operands in shared memory are
// seen whole by every thread.
func GMMA(s GMMASpec) (*MMARow, error) {
	if s.MajorA == "" {
		s.MajorA = MajorK
	}
	if s.MajorB == "" {
		s.MajorB = MajorK
	}
	for _, m := range []Major{s.MajorA, s.MajorB} {
		if m != MajorK && m != MajorMN {
			return nil, fmt.Errorf("atoms: wgmma expects operands that are %s-major or %s-major, but got %q", MajorK, MajorMN, m)
		}
	}
	for _, f := range gmmaFamilies() {
		if f.d == s.D && f.a == s.A && f.b == s.B && f.saturate == s.Saturate {
			return f.row(s)
		}
	}
	return nil, fmt.Errorf("atoms: there is no wgmma of %s by %s into %s%s", s.A, s.B, s.D, map[bool]string{true: " with saturation"}[s.Saturate])
}

// GMMAOf is GMMA with the element types of D, A and B as Go types.
func GMMAOf[D, A, B elem.Any](s GMMASpec) (MMAAtom[D, A, B, D], error) {
	s.D, s.A, s.B = elem.KindOf[D](), elem.KindOf[A](), elem.KindOf[B]()
	row, err := GMMA(s)
	return MMAAtom[D, A, B, D]{row}, err
}

// takes reports whether the family has an N: multiples of 8, and of 16 above 32 for integers.
func (f gmmaFamily) takes(n int) bool {
	return n >= 8 && n <= 256 && n%8 == 0 && (f.d != elem.KS32 || n == 8 || n == 24 || n%16 == 0)
}

func (f gmmaFamily) row(s GMMASpec) (*MMARow, error) {
	switch {
	case !f.takes(s.N):
		return nil, fmt.Errorf("atoms: wgmma of %s by %s expects an N that is a multiple of 8 up to 256 (of integers 8, 24 or a multiple of 16), but got %d", s.A, s.B, s.N)
	case !f.majors && (s.MajorA != MajorK || s.MajorB != MajorK):
		return nil, fmt.Errorf("atoms: wgmma takes %s and %s K-major only, but got %s and %s", s.A, s.B, s.MajorA, s.MajorB)
	case s.Registers && s.MajorA != MajorK:
		return nil, fmt.Errorf("atoms: wgmma with A in registers has no major of A but K, but got %s", s.MajorA)
	}
	whole := func(rows int) string { return fmt.Sprintf("(128,(%d,%d)):(0,(1,%d))", rows, f.k, rows) }
	row := &MMARow{Name: fmt.Sprintf("SM90_64x%dx%d_%s_SS%s", s.N, f.k, codes(f.d, f.a, f.b), f.suffix), M: 64, N: s.N, K: f.k,
		ThrID: "128:1", A: whole(64), B: whole(s.N), C: fmt.Sprintf("((4,8,4),(2,2,%d)):((128,1,16),(64,8,512))", s.N/8),
		D: f.d, EA: f.a, EB: f.b, RD: f.accumulator(s.N), RA: Regs{"u64", 1}, RB: Regs{"u64", 1},
		PTX:  fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s", s.N, f.k, f.d, f.a, f.b),
		Arch: 90, MajorA: s.MajorA, MajorB: s.MajorB}
	if f.saturate {
		row.PTX += ".satfinite"
	}
	if s.Registers {
		row.Name = strings.Replace(row.Name, "_SS", "_RS", 1)
		row.A, row.RA = fragmentsA[f.a.Bits()], u32(4)
	}
	return row, nil
}

// accumulator is the registers of D for an N.
func (f gmmaFamily) accumulator(n int) Regs {
	switch f.d {
	case elem.KF16:
		return u32(n / 4)
	case elem.KF32:
		return f32(n / 2)
	}
	return u32(n / 2)
}

// AllGMMA returns the rows of all wgmma instructions with the given extents N: every type, source and major.
func AllGMMA(extents ...int) []*MMARow {
	var out []*MMARow
	for _, f := range gmmaFamilies() {
		for _, n := range extents {
			for _, registers := range []bool{false, true} {
				for _, a := range []Major{MajorK, MajorMN} {
					for _, b := range []Major{MajorK, MajorMN} {
						s := GMMASpec{N: n, D: f.d, A: f.a, B: f.b, Registers: registers, MajorA: a, MajorB: b, Saturate: f.saturate}
						if row, err := f.row(s); err == nil {
							out = append(out, row)
						}
					}
				}
			}
		}
	}
	return out
}

// findGMMA reads a name back.
func findGMMA(name string) (*MMARow, bool) {
	var n, k int
	var rest string
	if _, err := fmt.Sscanf(name, "SM90_64x%dx%d_%s", &n, &k, &rest); err != nil {
		return nil, false
	}
	for _, row := range AllGMMA(n) {
		if row.Name == name && row.MajorA == MajorK && row.MajorB == MajorK {
			return row, true
		}
	}
	return nil, false
}
