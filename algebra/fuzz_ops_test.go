package algebra

import (
	"testing"

	"github.com/gocute/gocute/algebra/sym"
)

// bytesLayout reads a nested layout out of bytes: a byte tells how a tuple goes on, and two are a mode.
type bytesLayout struct{ data []byte }

func (b *bytesLayout) next() byte {
	if len(b.data) == 0 {
		return 0
	}
	x := b.data[0]
	b.data = b.data[1:]
	return x
}

func (b *bytesLayout) layout(depth int) Layout {
	k := b.next()
	if depth == 0 || k%3 == 0 {
		s, d := int64(b.next())%17+1, int64(int8(b.next()))
		if d < 0 && k%2 == 0 {
			d = -d * 8
		}
		return plain(leafOf(sym.Int(s)), leafOf(Step{Coef: sym.Int(d)}))
	}
	sub := make([]Layout, 1+k/3%3)
	for i := range sub {
		sub[i] = b.layout(depth - 1)
	}
	return joinModes(sub)
}

// fuzzPair calls f with two layouts of at most 2^12 coordinates.
func fuzzPair(f *testing.F, check func(t *testing.T, a, b Layout)) {
	for _, s := range []string{"\x01\x00\x05\x02\x00\x01\x06\x00\x03\x01\x00\x02\x03", "\x04\x00\x07\x01\x00\x07\x08\x00\x07\x40\x00\x03\x01",
		"\x07\x01\x00\x01\x01\x00\x01\x02\x00\x03\x04\x00\x0f\x08", "\x00\x05\x00\x00\x03\x02"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := bytesLayout{data}
		x, y := b.layout(3), b.layout(3)
		if m, n := mustSize(x), mustSize(y); m > 1<<12 || n > 1<<12 || m < 1 || n < 1 {
			return
		}
		check(t, x, y)
	})
}

// checkComposition compares a result with the definition, and a refusal with a search by brute force.
func checkComposition(a, b Layout) error {
	r, err := Compose(a, b)
	fa, _ := layoutFun(a)
	fb, _ := layoutFun(b)
	want := func(i int64) int64 { return fa.at(fb.at(i)) }
	if err != nil {
		if fb.n <= 256 && expressible(b, want) {
			return failf("%s∘%s is expressible: %s", a, b, err).in("law")
		}
		return nil
	}
	if !Compatible(b.Shape(), r.Shape()) {
		return failf("%s∘%s = %s has another shape", a, b, r).in("law")
	}
	fr, e := layoutFun(r)
	if e != nil {
		return e
	}
	if e := compareFuns(fr, fun{fb.n, want}); e != nil {
		return failf("%s∘%s = %s: %s", a, b, r, e).in("law")
	}
	return nil
}

// FuzzCompose: R(c) = A(B(c)), or no layout is that.
func FuzzCompose(f *testing.F) {
	fuzzPair(f, func(t *testing.T, a, b Layout) {
		if err := checkComposition(a, b); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzDivide: R = A∘(B,B*) in all four forms; the forms agree on what they refuse; the Ceil form covers what divides.
func FuzzDivide(f *testing.F) {
	forms := map[string]func(Layout, Tiler) (Layout, error){"logical_divide": LogicalDivide, "zipped_divide": ZippedDivide,
		"tiled_divide": TiledDivide, "flat_divide": FlatDivide}
	fuzzPair(f, func(t *testing.T, a, b Layout) {
		for _, by := range []Tiler{TileBy(b), T(b), T(b.Mode(0), b)} {
			given, names := 0, ""
			for op, f := range forms {
				r, err := f(a, by)
				if err != nil {
					continue
				}
				given++
				names += op + " "
				if e := satisfies(op, []string{a.String(), by.String()}, r.String()); e != nil {
					t.Fatalf("%s(%s, %s) = %s: %v", op, a, by, r, e)
				}
			}
			if given != 0 && given != len(forms) {
				t.Fatalf("%s by %s: only %s", a, by, names)
			}
		}
	})
}
