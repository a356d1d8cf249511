package algebra

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

type goldenRow struct {
	ID          string          `json:"id"`
	Op          string          `json:"op"`
	Args        []string        `json:"args"`
	Result      string          `json:"result"`
	Note        string          `json:"note"`
	Cute        string          `json:"cute"`
	Truth       string          `json:"truth"`
	Bad         *int64          `json:"first_bad_coord"`
	Kind        string          `json:"kind"`
	Expressible json.RawMessage `json:"expressible"`
}

func goldenRows(t testing.TB, name string) []goldenRow {
	t.Helper()
	dir := os.Getenv("GOCUTE_GOLDEN")
	if dir == "" {
		dir = filepath.Join("testdata", "golden")
	}
	f, err := os.Open(filepath.Join(dir, name))
	require.NoError(t, err)
	defer f.Close()
	var rows []goldenRow
	sc := bufio.NewScanner(f)
	sc.Buffer(make([]byte, 1<<20), 1<<20)
	for sc.Scan() {
		var r goldenRow
		require.NoError(t, json.Unmarshal(sc.Bytes(), &r))
		rows = append(rows, r)
	}
	require.NoError(t, sc.Err())
	return rows
}

// call runs an operation on arguments in text form and prints the result in text form.
func call(op string, args []string) (string, error) {
	f, ok := goldenOps[op]
	if !ok {
		return "", fmt.Errorf("the test does not know %s", op)
	}
	return f(args)
}

func text[T fmt.Stringer](x T, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return x.String(), nil
}

func layoutArg(s string) Layout {
	l, err := Parse(s)
	if err != nil {
		return Layout{err: err}
	}
	return l
}

func shapeArg(s string) Shape     { x, _ := ParseShape(s); return x }
func tilerArg(s string) Tiler     { x, _ := ParseTiler(s); return x }
func intArg(s string) int         { n, _ := strconv.Atoi(s); return n }
func isSwizzle(s string) bool     { _, err := ParseSwizzle(s); return err == nil }
func isLayout(s string) bool      { _, err := Parse(s); return err == nil }
func swizzleArg(s string) Swizzle { w, _ := ParseSwizzle(s); return w }

func oneLayout(f func(Layout) (Layout, error)) func([]string) (string, error) {
	return func(a []string) (string, error) { return text(f(layoutArg(a[0]))) }
}

func withTiler(f func(Layout, Tiler) (Layout, error)) func([]string) (string, error) {
	return func(a []string) (string, error) { return text(f(layoutArg(a[0]), tilerArg(a[1]))) }
}

func twoLayouts(f func(a, b Layout) (Layout, error)) func([]string) (string, error) {
	return func(a []string) (string, error) { return text(f(layoutArg(a[0]), layoutArg(a[1]))) }
}

func twoShapes(f func(a, b Shape) (Shape, error)) func([]string) (string, error) {
	return func(a []string) (string, error) { return text(f(shapeArg(a[0]), shapeArg(a[1]))) }
}

func relation(f func(a, b Shape) bool) func([]string) (string, error) {
	return func(a []string) (string, error) { return fmt.Sprint(f(shapeArg(a[0]), shapeArg(a[1]))), nil }
}

func maybeBy(one func(Layout) (Layout, error), by func(Layout, Shape) (Layout, error)) func([]string) (string, error) {
	return func(a []string) (string, error) {
		if len(a) == 1 {
			return text(one(layoutArg(a[0])))
		}
		return text(by(layoutArg(a[0]), shapeArg(a[1])))
	}
}

func ints(a []string) []int {
	out := make([]int, len(a))
	for i := range a {
		out[i] = intArg(a[i])
	}
	return out
}

var goldenOps map[string]func([]string) (string, error)

func init() {
	goldenOps = map[string]func([]string) (string, error){
		"composition":    goldenCompose,
		"right_inverse":  oneLayout(RightInverse),
		"left_inverse":   oneLayout(LeftInverse),
		"nullspace":      oneLayout(Nullspace),
		"logical_divide": withTiler(LogicalDivide), "zipped_divide": withTiler(ZippedDivide),
		"tiled_divide": withTiler(TiledDivide), "flat_divide": withTiler(FlatDivide),
		"logical_product": withTiler(LogicalProduct), "zipped_product": withTiler(ZippedProduct),
		"tiled_product": withTiler(TiledProduct), "flat_product": withTiler(FlatProduct),
		"blocked_product": twoLayouts(BlockedProduct), "raked_product": twoLayouts(RakedProduct),
		"coalesce": maybeBy(Coalesce, CoalesceBy), "filter": maybeBy(Filter, FilterBy),
		"filter_zeros": maybeBy(FilterZeros, FilterZerosBy),
		"shape_div":    twoShapes(ShapeDiv), "ceil_div": twoShapes(CeilDiv),
		"congruent": relation(Congruent), "weakly_congruent": relation(WeaklyCongruent),
		"compatible": relation(Compatible), "evenly_divides": relation(EvenlyDivides),
		"max_common_layout": twoLayouts(MaxCommonLayout),
		"complement": func(a []string) (string, error) {
			if len(a) == 1 {
				return text(ComplementSelf(layoutArg(a[0])))
			}
			return text(Complement(layoutArg(a[0]), shapeArg(a[1])))
		},
		"tile_to_shape": func(a []string) (string, error) {
			if len(a) == 2 {
				return text(TileToShape(layoutArg(a[0]), shapeArg(a[1])))
			}
			return text(TileToShapeOrder(layoutArg(a[0]), shapeArg(a[1]), shapeArg(a[2])))
		},
		"flatten": func(a []string) (string, error) {
			if isLayout(a[0]) {
				return text(Flatten(layoutArg(a[0])))
			}
			return shapeArg(a[0]).Flatten().String(), nil
		},
		"size":   measure(func(l Layout) (any, error) { return l.Size(), nil }, func(s Shape) any { return s.Size() }),
		"rank":   measure(func(l Layout) (any, error) { return l.Rank(), nil }, func(s Shape) any { return s.Rank() }),
		"depth":  measure(func(l Layout) (any, error) { return l.Depth(), nil }, func(s Shape) any { return s.Depth() }),
		"cosize": measure(func(l Layout) (any, error) { return l.Cosize() }, nil),
	}
	maps.Copy(goldenOps, moreGoldenOps())
}

func moreGoldenOps() map[string]func([]string) (string, error) {
	return map[string]func([]string) (string, error){
		"make_layout":         goldenMake,
		"make_ordered_layout": func(a []string) (string, error) { return text(Ordered(shapeArg(a[0]), shapeArg(a[1]))) },
		"compact_order": func(a []string) (string, error) {
			l, err := Ordered(shapeArg(a[0]), shapeArg(a[1]))
			return l.Stride().String(), err
		},
		"crd2idx": goldenCrd2Idx, "idx2crd": goldenIdx2Crd,
		"with_shape": func(a []string) (string, error) { return text(WithShape(layoutArg(a[0]), shapeArg(a[1]))) },
		"upcast":     func(a []string) (string, error) { return text(Upcast(layoutArg(a[0]), int64(intArg(a[1])))) },
		"downcast":   func(a []string) (string, error) { return text(Downcast(layoutArg(a[0]), int64(intArg(a[1])))) },
		"recast_layout": func(a []string) (string, error) {
			return text(Recast(layoutArg(a[0]), int64(intArg(a[1])), int64(intArg(a[2]))))
		},
		"max_common_vector": func(a []string) (string, error) {
			n, err := MaxCommonVector(layoutArg(a[0]), layoutArg(a[1]))
			return fmt.Sprint(n), err
		},
		"group":     func(a []string) (string, error) { return text(Group(layoutArg(a[0]), intArg(a[1]), intArg(a[2]))) },
		"take":      func(a []string) (string, error) { return text(Take(layoutArg(a[0]), intArg(a[1]), intArg(a[2]))) },
		"select":    func(a []string) (string, error) { return text(Select(layoutArg(a[0]), ints(a[1:])...)) },
		"get":       func(a []string) (string, error) { return text(Get(layoutArg(a[0]), ints(a[1:])...)) },
		"replace":   func(a []string) (string, error) { return text(Replace(layoutArg(a[0]), intArg(a[2]), layoutArg(a[1]))) },
		"unflatten": func(a []string) (string, error) { return text(Unflatten(layoutArg(a[0]), shapeArg(a[1]))) },
		"append":    growBy(Append, AppendTo),
		"prepend":   growBy(Prepend, PrependTo),
		"zip": func(a []string) (string, error) {
			if len(a) == 1 {
				return text(Zip(layoutArg(a[0])))
			}
			return text(ZipPair(layoutArg(a[0]), layoutArg(a[1])))
		},
		"product_each": func(a []string) (string, error) { return ProductEach(shapeArg(a[0])).String(), nil },
		"slice_and_offset": func(a []string) (string, error) {
			c, err := ParseCoord(a[0])
			if err != nil {
				return "", err
			}
			l, off, err := Slice(layoutArg(a[1]), c)
			return l.String() + " + " + off.String(), err
		},
		"swizzle_apply": func(a []string) (string, error) {
			return fmt.Sprint(swizzleArg(a[0]).Apply(int64(intArg(a[1])))), nil
		},
	}
}

func goldenCompose(a []string) (string, error) {
	switch {
	case isSwizzle(a[0]) && isSwizzle(a[1]):
		return text(ComposeSwizzle(swizzleArg(a[0]), swizzleArg(a[1])))
	case isSwizzle(a[0]):
		return layoutArg(a[1]).WithSwizzle(swizzleArg(a[0]), sym.Expr{}).String(), nil
	case isSwizzle(a[1]):
		return text(ComposeLayoutSwizzle(layoutArg(a[0]), swizzleArg(a[1])))
	}
	return text(ComposeTiler(layoutArg(a[0]), tilerArg(a[1])))
}

func measure(l func(Layout) (any, error), s func(Shape) any) func([]string) (string, error) {
	return func(a []string) (string, error) {
		if isLayout(a[0]) {
			x, err := l(layoutArg(a[0]))
			return fmt.Sprint(x), err
		}
		return fmt.Sprint(s(shapeArg(a[0]))), nil
	}
}

func goldenMake(a []string) (string, error) {
	if isLayout(a[0]) {
		ls := make([]Layout, len(a))
		for i := range a {
			ls[i] = layoutArg(a[i])
		}
		l := Make(ls...)
		return l.String(), l.Err()
	}
	if len(a) > 1 && (a[1] == "LayoutRight" || a[1] == "GenRowMajor") {
		return CompactRight(shapeArg(a[0])).String(), nil
	}
	return Compact(shapeArg(a[0])).String(), nil
}

func goldenCrd2Idx(a []string) (string, error) {
	c, err := ParseCoord(a[0])
	if err != nil {
		return "", err
	}
	switch {
	case len(a) == 3:
		return text(CrdToIdx(c, layoutArg(a[1]+":"+a[2])))
	case isLayout(a[1]):
		return text(CrdToIdx(c, layoutArg(a[1])))
	}
	return text(CrdToIndex(c, shapeArg(a[1])))
}

func goldenIdx2Crd(a []string) (string, error) {
	if len(a) == 3 {
		return text(IdxToCrdIn(int64(intArg(a[0])), layoutArg(a[1]+":"+a[2])))
	}
	c, err := ParseCoord(a[0])
	if err != nil {
		return "", err
	}
	return text(IdxToCrd(c, shapeArg(a[1])))
}

func growBy(one func(l, x Layout) (Layout, error), to func(Layout, int, Layout) (Layout, error)) func([]string) (string, error) {
	return func(a []string) (string, error) {
		l := layoutArg(a[0])
		switch {
		case len(a) == 3:
			return text(to(l, intArg(a[2]), layoutArg(a[1])))
		case isLayout(a[1]):
			return text(one(l, layoutArg(a[1])))
		}
		return text(to(l, intArg(a[1]), unit))
	}
}

func exprOf(n int64) sym.Expr { return sym.Int(n) }
