package algebra_test

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
)

// The examples are the tutorial docs/layouts.md, step by step.

func Example_layout() {
	row := algebra.CompactRight(algebra.S(8, 16))
	fmt.Println(row)
	fmt.Println(row.At(algebra.C(2, 3)))
	fmt.Println(algebra.Compact(algebra.S(8, 16)))
	// Output:
	// (8,16):(16,1)
	// 35 <nil>
	// (8,16):(1,8)
}

func Example_index() {
	row := algebra.MustParse("(8,16):(16,1)")
	fmt.Println(row.Size())
	fmt.Println(row.AtInt(0), row.AtInt(1), row.AtInt(8))
	fmt.Println(algebra.IdxToCrd(algebra.CoordOf(26), row.Shape()))
	// Output:
	// 128
	// 0 16 1
	// (2,3) <nil>
}

func Example_nested() {
	l := algebra.MustParse("(4,(2,4)):(2,(1,8))")
	fmt.Println(l.Rank(), l.Depth(), l.Size())
	fmt.Println(l.At(algebra.C(1, algebra.C(1, 2))))
	grid, _ := algebra.Grid(l)
	fmt.Print(grid)
	// Output:
	// 2 2 32
	// 19 <nil>
	// (4,(2,4)):(2,(1,8))
	//     0  1  2  3  4  5  6  7
	// 0|  0  1  8  9 16 17 24 25
	// 1|  2  3 10 11 18 19 26 27
	// 2|  4  5 12 13 20 21 28 29
	// 3|  6  7 14 15 22 23 30 31
}

func Example_coalesce() {
	fmt.Println(algebra.Coalesce(algebra.MustParse("(2,(1,6)):(1,(6,2))")))
	fmt.Println(algebra.Coalesce(algebra.MustParse("(8,16):(16,1)")))
	// Output:
	// 12:1 <nil>
	// (8,16):(16,1) <nil>
}

func Example_compose() {
	a := algebra.MustParse("(4,8):(8,1)")
	b := algebra.MustParse("(2,4):(2,4)")
	fmt.Println(algebra.Compose(a, b))
	// Output:
	// (2,4):(16,1) <nil>
}

func Example_refused() {
	_, err := algebra.Compose(algebra.MustParse("(6,2):(1,100)"), algebra.MustParse("(2,3):(3,2)"))
	fmt.Println(err)
	// Output:
	// algebra: composition((6,2):(1,100), (2,3):(3,2)): no layout expresses A∘B: coordinate 5 gives 7 where A(B(5)) is 101; first at coordinate 5: got 7, want 101 (1:3 for 2:3, or 2:2 for 3:2, would do)
}

func Example_complement() {
	fmt.Println(algebra.Complement(algebra.MustParse("4:2"), algebra.Extent(24)))
	// Output:
	// (2,3):(1,8) <nil>
}

func Example_divide() {
	matrix := algebra.MustParse("(8,16):(16,1)")
	tiles, err := algebra.ZippedDivide(matrix, algebra.T(4, 8))
	fmt.Println(tiles, err)
	fmt.Println(tiles.Mode(0))
	fmt.Println(tiles.At(algebra.C(0, algebra.C(1, 1))))
	// Output:
	// ((4,8),(2,2)):((16,1),(64,8)) <nil>
	// (4,8):(16,1)
	// 72 <nil>
}

func Example_ceil() {
	matrix := algebra.MustParse("(10,16):(16,1)")
	_, err := algebra.ZippedDivide(matrix, algebra.T(4, 8))
	fmt.Println(err)
	cover, err := algebra.ZippedDivideCeil(matrix, algebra.T(4, 8))
	fmt.Println(cover.Layout, cover.Extent, err)
	// Output:
	// algebra: zipped_divide((10,16):(16,1), (4,8)): mode 0: the tile 4:1 has 4 elements, which do not divide the 10 of the layout (2 and 5 divide; the Ceil form rounds up)
	// ((4,8),(3,2)):((16,1),(64,8)) (10,16) <nil>
}

func Example_symbols() {
	matrix := algebra.MustParse("(M,K):(K,1)")
	cover, err := algebra.ZippedDivideCeil(matrix, algebra.T(128, 32))
	fmt.Println(cover.Layout, err)
	_, err = algebra.ZippedDivide(matrix, algebra.T(128, 32))
	fmt.Println(err)
	// Output:
	// ((128,32),(ceil_div(M,128),ceil_div(K,32))):((K,1),(128*K,32)) <nil>
	// algebra: zipped_divide((M,K):(K,1), (128,32)): mode 0: the tile 128:1 must divide the extent M (state the fact M % 128 == 0, or use the Ceil form)
}

func Example_product() {
	threads := algebra.MustParse("(4,8):(8,1)")
	values := algebra.MustParse("(2,2):(2,1)")
	fmt.Println(algebra.RakedProduct(threads, values))
	// Output:
	// ((2,4),(2,8)):((64,8),(32,1)) <nil>
}

func Example_tv() {
	raked, _ := algebra.RakedProduct(algebra.MustParse("(4,8):(8,1)"), algebra.MustParse("(2,2):(2,1)"))
	inverse, _ := algebra.RightInverse(raked)
	tv, err := algebra.WithShape(inverse, algebra.S(32, 4))
	fmt.Println(tv, err)
	grid, _ := algebra.GridTV(tv, algebra.S(8, 16))
	fmt.Print(grid)
	// Output:
	// ((8,4),(2,2)):((16,2),(8,1)) <nil>
	//         0      1      2      3      4      5      6      7      8      9     10     11     12     13     14     15
	// 0|  T0/V0  T0/V1  T1/V0  T1/V1  T2/V0  T2/V1  T3/V0  T3/V1  T4/V0  T4/V1  T5/V0  T5/V1  T6/V0  T6/V1  T7/V0  T7/V1
	// 1|  T0/V2  T0/V3  T1/V2  T1/V3  T2/V2  T2/V3  T3/V2  T3/V3  T4/V2  T4/V3  T5/V2  T5/V3  T6/V2  T6/V3  T7/V2  T7/V3
	// 2|  T8/V0  T8/V1  T9/V0  T9/V1 T10/V0 T10/V1 T11/V0 T11/V1 T12/V0 T12/V1 T13/V0 T13/V1 T14/V0 T14/V1 T15/V0 T15/V1
	// 3|  T8/V2  T8/V3  T9/V2  T9/V3 T10/V2 T10/V3 T11/V2 T11/V3 T12/V2 T12/V3 T13/V2 T13/V3 T14/V2 T14/V3 T15/V2 T15/V3
	// 4| T16/V0 T16/V1 T17/V0 T17/V1 T18/V0 T18/V1 T19/V0 T19/V1 T20/V0 T20/V1 T21/V0 T21/V1 T22/V0 T22/V1 T23/V0 T23/V1
	// 5| T16/V2 T16/V3 T17/V2 T17/V3 T18/V2 T18/V3 T19/V2 T19/V3 T20/V2 T20/V3 T21/V2 T21/V3 T22/V2 T22/V3 T23/V2 T23/V3
	// 6| T24/V0 T24/V1 T25/V0 T25/V1 T26/V0 T26/V1 T27/V0 T27/V1 T28/V0 T28/V1 T29/V0 T29/V1 T30/V0 T30/V1 T31/V0 T31/V1
	// 7| T24/V2 T24/V3 T25/V2 T25/V3 T26/V2 T26/V3 T27/V2 T27/V3 T28/V2 T28/V3 T29/V2 T29/V3 T30/V2 T30/V3 T31/V2 T31/V3
}

func Example_partition() {
	tile := algebra.MustParse("(8,16):(16,1)")
	tv := algebra.MustParse("((8,4),(2,2)):((16,2),(8,1))")
	mine, err := algebra.Compose(tile, tv)
	fmt.Println(mine, err)
	values, offset, err := algebra.Slice(mine, algebra.C(5, algebra.Underscore))
	fmt.Println(values, "+", offset, err)
	// Output:
	// ((8,4),(2,2)):((2,32),(1,16)) <nil>
	// ((2,2)):((1,16)) + 10 <nil>
}

func Example_swizzle() {
	smem := algebra.MustParse("Sw<3,3,3> o 0 o (8,64):(64,1)")
	fmt.Println(smem.At(algebra.C(0, 0)))
	fmt.Println(smem.At(algebra.C(1, 0)))
	fmt.Println(algebra.ZippedDivide(smem, algebra.T(4, 8)))
	// Output:
	// 0 <nil>
	// 72 <nil>
	// Sw<3,3,3> o 0 o ((4,8),(2,8)):((64,1),(256,8)) <nil>
}
