// Package algebra is CuTe's layout algebra over integers that may be symbolic: right, or refused.
//
// A Layout maps a coordinate of its Shape to an offset (or, with basis strides, to a coordinate). Every
// operation is defined by what it means, not by what an implementation happens to return. A result is CuTe's
// closed form where that is proved or verified by evaluation to be right, else a layout fitted to the values
// that the definition asks for, else an *Error with the numbers and the first coordinate that breaks. The fit
// tries every factorization, so where it fails no layout exists. Two may be refused although one exists:
// LeftInverse of a layout that repeats offsets or has offsets above 2^16, whose error says that not all were
// tried, and products of blocks with padding that no copy fills. Results over more than EvalLimit coordinates
// need a closed form that is proved, and are refused otherwise.
//
// Text form is CuTe's without underscores: ((1,4),(4,8)):((128,8),(32,1)), Sw<3,3,3> o 0 o (8,64):(64,1),
// (M,K):(K,1), (8,4):(1@0,1@1). (8) is a rank-1 tuple and 8 an integer.
//
// Symbolic layouts: strides may be any expressions; extents may be where facts (ranges and multiples of the
// symbols) prove the closed form, and the error names the fact that is missing otherwise.
//
// # Tuples
//
// Arguments are ints, int64s, sym.Exprs, *sym.Symbols and nested values of the same type. S, D, C and T
// always make a tuple: S(8) prints (8). A wrong argument makes a value whose Err is not nil, and every
// operation that meets it returns that error.
//
//	S(modes...) Shape        Extent(x) Shape       one leaf: prints 8
//	D(modes...) Stride       StrideOf(x) Stride    Step{Coef, Basis}, E(i...) Step (1@i), Step.Times(expr)
//	C(modes...) Coord        CoordOf(x) Coord      Underscore
//	T(entries...) Tiler      TileBy(x) Tiler       entries: Layout, int, Expr, Shape (as nested ints), Tiler, Underscore
//	x.IsLeaf() Rank() Depth() Mode(i) Flatten() Leaves() String() Equal(y) Err()
//	Shape: Leaf() Size() sym.Expr, IntSize() (int64, bool), IsStatic()   beyond 63 bits Size is TooLarge, and IntSize false
//	ParseShape ParseStride ParseCoord ParseTiler ParseSwizzle(string) (…, error)
//
// # Layouts
//
//	NewLayout(Shape, Stride) (Layout, error)   MustLayout(Shape, Stride)   Identity(Shape) Layout  strides 1@0,1@1,…
//	Compact(Shape) CompactRight(Shape) Layout  Ordered(Shape, order Shape) (Layout, error)
//	Make(layouts...) Layout                    concatenates: make_layout(layout...)
//	Parse(string) (Layout, error)  MustParse   ParseWith(string, Symbols)   ParseSlice(LAYOUT + OFFSET)   l.String()
//	l.Shape() l.Stride() l.Rank() l.Depth() l.Mode(path...) l.Size() l.IntSize() l.Cosize() (sym.Expr, error)
//	l.IsStatic() l.HasBasis() l.IsSwizzled() l.Swizzle() l.Offset() l.Plain() l.WithSwizzle(Swizzle, offset) l.Equal(m)
//	l.At(Coord) (sym.Expr, error)   l.AtIndex(sym.Expr) (sym.Expr, error)    1-D index, or C(i, j) per mode
//	l.AtArith(Coord) (Arith, error)   l.AtInt(int64) int64 (static)          Arith: Offset() Get(basis...) Add String
//
// # Operations, all returning (Layout, error) unless noted
//
//	Compose(a, b)  ComposeTiler(a, Tiler)  WithShape(l, Shape)
//	ComposeSwizzle(Swizzle, Swizzle) (Swizzle, error)  ComposeLayoutSwizzle(l, Swizzle)
//	Coalesce(l)  CoalesceBy(l, Shape)  Filter(l) FilterBy  FilterZeros(l) FilterZerosBy(l, Shape)  Flatten(l)  Unflatten(l, Shape)
//	Complement(l, cotarget Shape)  ComplementSelf(l)  RightInverse(l)  LeftInverse(l)  Nullspace(l)
//	LogicalDivide ZippedDivide TiledDivide FlatDivide (l, Tiler)
//	LogicalDivideCeil ZippedDivideCeil TiledDivideCeil FlatDivideCeil (l, Tiler) (Cover, error)   Cover{Layout; Extent Shape}
//	LogicalProduct ZippedProduct TiledProduct FlatProduct (l, Tiler)  BlockedProduct(a, b)  RakedProduct(a, b)
//	TileToShape(block, Shape)  TileToShapeOrder(block, Shape, order Shape)
//	Upcast(l, n) Downcast(l, n) Recast(l, oldBits, newBits)   UpcastCeil RecastCeil (…) (Cover, error)
//	MaxCommonVector(a, b) (int64, error)  MaxCommonLayout(a, b)
//	Group(l, b, e)  Append(l, x) AppendTo(l, n, x)  Prepend PrependTo  Replace(l, i, x)  Select(l, i...)  Take(l, b, e)  Get(l, path...)
//	Zip(l)  ZipPair(a, b)
//	Slice(l, Coord) (Layout, Arith, error)      the part that is kept, and the offset of the fixed coordinates
//
// Pictures in text: Grid(l) (string, error), GridTV(tv, tile Shape) (string, error).
//
// On shapes: ProductEach(s) ShapeDiv(a, b) CeilDiv(a, b) Congruent WeaklyCongruent Compatible EvenlyDivides,
// and, refusing what symbols leave open, CheckCompatible(a, b) CheckEvenlyDivides(a, b).
// On coordinates: CrdToIdx(c, layout) CrdToIndex(c, shape) IdxToCrd(c, shape) IdxToCrdIn(idx, layout)
// CrdToCrd(c, from, to).
package algebra
