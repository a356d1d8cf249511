package algebra

import (
	"testing"

	"github.com/gocute/gocute/algebra/sym"
)

// bench runs f with its allocations; f must not fail.
func bench(b *testing.B, name string, f func() error) {
	b.Run(name, func(b *testing.B) {
		if err := f(); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			_ = f()
		}
	})
}

func failed[T any](_ T, err error) error { return err }

// BenchmarkClosedForm times the operations on the layouts of a GEMM, where the closed form is proved.
func BenchmarkClosedForm(b *testing.B) {
	tile, tv := MustParse("(128,64):(64,1)"), MustParse("((4,8),(2,2,2)):((32,1),(16,8,128))")
	gmem, by := MustParse("(4096,4096):(4096,1)"), T(128, 64)
	bench(b, "composition", func() error { return failed(Compose(tile, tv)) })
	bench(b, "complement", func() error { return failed(Complement(tv, Extent(8192))) })
	bench(b, "zipped_divide", func() error { return failed(ZippedDivide(gmem, by)) })
	bench(b, "right_inverse", func() error { return failed(RightInverse(tv)) })
	bench(b, "coalesce", func() error { return failed(Coalesce(tv)) })
}

// BenchmarkVerification times checking a 128x64 layout at every coordinate.
func BenchmarkVerification(b *testing.B) {
	a, x := MustParse("(128,64):(64,1)"), MustParse("((4,8,4),(2,2,16)):((2,256,2048),(1,8,16))")
	sw := MustParse("Sw<3,3,3> o 0 o (128,64):(64,1)")
	c := &composer{a: a, exact: true}
	s, d, _ := c.walk(x.shape, x.stride)
	bench(b, "composition", func() error {
		_, e := c.verify(x, plain(s, d))
		return e.in("composition")
	})
	bench(b, "through a swizzle", func() error { return failed(Compose(MustParse("8192:1"), sw)) })
	bench(b, "right_inverse of swizzled", func() error { return failed(RightInverse(sw)) })
}

// BenchmarkOps times other operations that a generator calls, and text in and out.
func BenchmarkOps(b *testing.B) {
	frag := MustParse("((4,8),(2,2,2)):((32,1),(16,8,128))")
	thr, val := MustParse("(4,8):(8,1)"), MustParse("(1,4):(4,1)")
	sym1, sym2 := MustParse("(128,64):(K,1)"), MustParse("(M,K):(K,1)")
	by, crd := T(128, 32), C(5, 3)
	bench(b, "composition with symbols", func() error { return failed(Compose(sym1, frag)) })
	bench(b, "raked_product", func() error { return failed(RakedProduct(thr, val)) })
	bench(b, "divide_ceil with symbols", func() error { return failed(ZippedDivideCeil(sym2, by)) })
	bench(b, "parse", func() error { return failed(Parse("((4,8),(2,2,2)):((32,1),(16,8,128))")) })
	bench(b, "print", func() error { _ = frag.String(); return nil })
	bench(b, "at int", func() error { _ = frag.AtInt(77); return nil })
	bench(b, "at", func() error { return failed[sym.Expr](frag.At(crd)) })
}

// BenchmarkGolden is a round over all golden rows: parse the arguments, run, print.
func BenchmarkGolden(b *testing.B) {
	rows := goldenRows(b, "algebra.jsonl")
	i := 0
	for b.Loop() {
		r := rows[i%len(rows)]
		_, _ = call(r.Op, r.Args)
		i++
	}
}
