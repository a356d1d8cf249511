package tests

import (
	"fmt"
	"slices"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

func bytesOf(k elem.Kind) sym.Expr { return sym.Int(k.Bits() / 8) }

// atomOperand is the TV layout of an operand of the row's MMA instruction.
func atomOperand(s *seedCase, o byte) algebra.Layout { return ok(s.mmaRow().Operand(o)) }

// seedMMAs are MMA instructions and tiled MMAs.
var seedMMAs = map[string]seedFunc{
	"instruction operand registers": func(s *seedCase) any {
		r := s.mmaRow()
		return map[string]atoms.Regs{"A": r.RA, "B": r.RB, "C": r.RD, "D": r.RD}[s.Operand]
	},
	"size<1>(LayoutA_TV)":     func(s *seedCase) any { return size(atomOperand(s, 'A').Mode(1)) },
	"size<1>(LayoutB_TV)":     func(s *seedCase) any { return size(atomOperand(s, 'B').Mode(1)) },
	"size<1>(LayoutC_TV)":     func(s *seedCase) any { return size(atomOperand(s, 'C').Mode(1)) },
	"LayoutB_TV":              func(s *seedCase) any { return atomOperand(s, 'B') },
	"Shape_MNK":               func(s *seedCase) any { return algebra.S(s.mmaRow().M, s.mmaRow().N, s.mmaRow().K) },
	"ThrID":                   func(s *seedCase) any { return layoutText(s.mmaRow().ThrID) },
	"partition_fragment_A":    func(s *seedCase) any { return s.fragment(ir.A) },
	"partition_fragment_B":    func(s *seedCase) any { return s.fragment(ir.B) },
	"tile_shape":              func(s *seedCase) any { m := s.mma(); return algebra.S(m.Tile[0], m.Tile[1], m.Tile[2]) },
	"size(tiled_mma)":         func(s *seedCase) any { return s.mma().NumThr },
	"thr_layout_vmnk":         func(s *seedCase) any { return s.mma().ThrVMNK },
	"size(get_layoutA_TV)":    func(s *seedCase) any { return size(s.mma().TV[ir.A]) },
	"size<0>(get_layoutA_TV)": func(s *seedCase) any { return size(s.mma().TV[ir.A].Mode(0)) },
	"eval get_layoutA_TV":     func(s *seedCase) any { return at(s.mma().TV[ir.A], s.coord()) },
	"partition_A of the identity tensor": func(s *seedCase) any {
		return spaced(s.mmaCoords(ir.A, shapeText(s.Shape), s.Thread))
	},
	"partition_B of the identity tensor": func(s *seedCase) any {
		return spaced(s.mmaCoords(ir.B, shapeText(s.Shape), s.Thread))
	},
	"partition_B of the identity tensor (32,32), values (v,n=0,k)": func(s *seedCase) any {
		all, l := s.mmaCoords(ir.B, s.tensor().Shape(), s.Thread), s.fragment(ir.B)
		v, n := size(l.Mode(0)), size(l.Mode(1))
		var out []string
		for k := range size(l.Mode(2)) {
			out = append(out, all[v*n*k:v*n*k+v]...)
		}
		return spaced(out)
	},
	"size<0>(thrfrg_A((32,16):(1,32)))": func(s *seedCase) any { return size(thrfrgA(s).Mode(0)) },
	"size(thrfrg_A((32,16):(1,32)))":    func(s *seedCase) any { return size(thrfrgA(s)) },
	"number of distinct outputs of get_layoutA_TV": func(s *seedCase) any {
		return distinct(ints(s.mma().TV[ir.A]))
	},
	"layout ((ThrM,ThrN)) used by atile": func(s *seedCase) any { return warpRow(s.mma()) },
	"get_layoutA_TV, size-1 modes dropped and flattened": func(s *seedCase) any {
		return dropOnes(s.mma().TV[ir.A])
	},
	"thread index to thread coordinate map, as a function": func(s *seedCase) any {
		return ok(algebra.Coalesce(ok(algebra.RightInverse(s.mma().ThrVMNK))))
	},
	"right_inverse(get_layoutA_TV)": func(s *seedCase) any { return inverseA(s) },
	"size":                          func(s *seedCase) any { return size(inverseA(s)) },
	"count of q in 0..511 with F(G(q))==q": func(s *seedCase) any {
		f, g, n := s.mma().TV[ir.A], inverseA(s), 0
		for q := range size(g) {
			if f.AtInt(g.AtInt(q)) == q {
				n++
			}
		}
		return n
	},
	"right_inverse(F).with_shape((32,16))": func(s *seedCase) any { return inverseMK(s) },
	"largest output of H":                  func(s *seedCase) any { return slices.Max(ints(inverseMK(s))) },
	"selected TV indices with value index v": func(s *seedCase) any {
		var chosen []int64
		for _, tv := range ints(inverseMK(s)) {
			if tv/s.mma().NumThr == s.V {
				chosen = append(chosen, tv)
			}
		}
		return fmt.Sprintf("%d..%d n=%d", slices.Min(chosen), slices.Max(chosen), len(chosen))
	},
	"Tiler_MN of make_tiled_copy_A": func(s *seedCase) any { return copyAx2(s).Tiler },
	"size<0>(tCrA)":                 func(s *seedCase) any { return size(tileFragment(s, ir.A).Mode(0)) },
	"retile_D value mode for make_tiled_copy_A with ldmatrix x2": func(s *seedCase) any {
		return ok(copyAx2(s).Retile(tileFragment(s, ir.A))).Shape().Mode(0)
	},
	"value index v of lane 0 with partition_A coordinate (8,0)": func(s *seedCase) any { return slot(s, "(8,0)") },
	"value index v of lane 0 with partition_A coordinate (0,9)": func(s *seedCase) any { return slot(s, "(0,9)") },
}

// tileA is the extent of the MMA's A tile.
func tileA(m *ir.TiledMMA) algebra.Shape { return algebra.S(m.Tile[0], m.Tile[2]) }

func thrfrgA(s *seedCase) algebra.Layout {
	m := s.mma()
	return ok(m.Divided(algebra.Compact(tileA(m)), ir.A, false))
}

func inverseA(s *seedCase) algebra.Layout { return ok(algebra.RightInverse(s.mma().TV[ir.A])) }

func inverseMK(s *seedCase) algebra.Layout { return ok(algebra.WithShape(inverseA(s), tileA(s.mma()))) }

// warpRow maps the warp's coordinate (M,N) to the rows of A that it needs, counted in warps, as the MMA's layout of A
// has them.
func warpRow(m *ir.TiledMMA) algebra.Layout {
	first := func(i, j int) int64 {
		thread, _ := ok(m.ThrVMNK.At(algebra.C(0, i, j, 0))).IsConst()
		element, _ := ok(m.TV[ir.A].At(algebra.C(thread, 0))).IsConst()
		return element / int64(m.Row.M)
	}
	return algebra.MustLayout(algebra.S(m.ThrVMNK.Mode(1).Size(), m.ThrVMNK.Mode(2).Size()), algebra.D(first(1, 0), first(0, 1)))
}

func copyAx2(s *seedCase) *ir.TiledCopy {
	return ok(ir.NewTiledCopyMMA(find(atoms.FindCopy, "SM75_U32x2_LDSM_N"), elem.KF16, s.mma(), ir.A))
}

// tileFragment is the fragment of an operand for exactly one tile.
func tileFragment(s *seedCase, o ir.Operand) algebra.Layout {
	return ok(ir.OperandLayout(ok(mmaView(s.mma(), o, probe(algebra.CompactRight(tileA(s.mma())), false), 0)).t.Layout, o))
}

// slot is the value of lane 0 that holds an element of A.
func slot(s *seedCase, at string) int {
	return slices.Index(s.mmaCoords(ir.A, tileA(s.mma()), 0), at)
}

// seedRetile are the steps of retile and its results.
var seedRetile = map[string]seedFunc{
	"retile_D": func(s *seedCase) any {
		if s.Fragment != "" {
			sameAs(s.fragment(s.operand()), s.Fragment)
		}
		return retile(s)
	},
	"size<0>(tCrB)": func(s *seedCase) any { return valuesOf(s) },
	"right_inverse(TV).with_shape(tiler) evaluated": func(s *seedCase) any { return at(inverse(s), s.coord()) },
	"right_inverse(TV).with_shape((8,16))":          func(s *seedCase) any { return inverse(s) },
	"right_inverse(TV).with_shape((8,32))":          func(s *seedCase) any { return inverse(s) },
	"upcast<128>(inverse)":                          func(s *seedCase) any { return fragments(s) },
	"product_each(shape(upcast<256>(inverse)))":     func(s *seedCase) any { return algebra.ProductEach(fragments(s).Shape()) },
	"product_each(shape(upcast<128>(inverse)))":     func(s *seedCase) any { return algebra.ProductEach(fragments(s).Shape()) },
	"product_each(shape(frg_layout_nk))":            func(s *seedCase) any { return algebra.ProductEach(fragments(s).Shape()) },
	"right_inverse(upcast<256>(inverse))":           func(s *seedCase) any { return ok(algebra.RightInverse(fragments(s))) },
	"right_inverse(upcast<128>(inverse))":           func(s *seedCase) any { return ok(algebra.RightInverse(fragments(s))) },
	"right_inverse(frg_layout_nk)":                  func(s *seedCase) any { return ok(algebra.RightInverse(fragments(s))) },
	"zipped_divide(logical_product,8:1)":            func(s *seedCase) any { return atomGroups(s) },
	"zipped_divide(logical_product(make_layout(V),right_inverse(frg)),make_layout(AtomNumVal))": func(s *seedCase) any {
		return atomGroups(s)
	},
	"zipped_divide of (4,4,2):(1,8,4) by (4,1,2)": func(s *seedCase) any { return gathered(s) },
	"t_tensor.compose(frg_layout_v,_)": func(s *seedCase) any {
		return ok(algebra.ComposeTiler(gathered(s), algebra.T(atomGroups(s), algebra.Underscore)))
	},
	"partition_fragment_B, each top mode coalesced": func(s *seedCase) any { return eachMode(s.fragment(ir.B)) },
	"total destination values over 32 lanes (retile_D of tCrB)": func(s *seedCase) any {
		return s.copy().NumThr * size(retile(s))
	},
	"slots of retile_D value group n=0": func(s *seedCase) any { return spaced(ints(retile(s).Mode(0))) },
	"slots of zipped_divide(tCrB,8:1) group 0": func(s *seedCase) any {
		direct := ok(algebra.ZippedDivide(s.fragment(ir.B), algebra.TileBy(s.copy().AtomNumVal)))
		return spaced(ints(direct.Mode(0)))
	},
	"fragment slots bound to 32-bit output i of copy group g": func(s *seedCase) any {
		per, g := int64(32/s.copy().Elem.Bits()), retile(s)
		first := s.Group*s.copy().NumVal(ir.Destination) + s.Out*per
		return spaced(ints(g)[first : first+per])
	},
	"fragment slots over 128 threads": func(s *seedCase) any { return s.copy().NumThr * size(retile(s)) },
	"32-bit outputs over 128 threads": func(s *seedCase) any {
		return s.copy().NumThr * size(retile(s)) * int64(s.copy().Elem.Bits()) / 32
	},
}

// sameAs is a layout that must print as the text.
func sameAs(l algebra.Layout, text string) algebra.Layout {
	if l.String() != text {
		panic(fmt.Errorf("got %s, want %s", l, text))
	}
	return l
}

func retile(s *seedCase) algebra.Layout { return ok(s.copy().Retile(s.fragment(s.operand()))) }

// valuesOf is the number of values of one MMA in the fragment that the row's copy fills.
func valuesOf(s *seedCase) int64 { return size(s.fragment(s.operand()).Mode(0)) }

// inverse maps the tile's coordinates to thread and value of the copy's reference.
func inverse(s *seedCase) algebra.Layout { return ok(inverseOver(s.copy().TV, s.copy().TileShape)) }

// fragments counts the inverse's results in fragments of all threads.
func fragments(s *seedCase) algebra.Layout {
	return ok(algebra.UpcastCeil(inverse(s), s.copy().NumThr*valuesOf(s))).Layout
}

// atomGroups numbers the values that one instruction fills, and the instructions.
func atomGroups(s *seedCase) algebra.Layout {
	all := ok(algebra.LogicalProduct(algebra.Compact(algebra.Extent(valuesOf(s))), algebra.TileBy(ok(algebra.RightInverse(fragments(s))))))
	return ok(algebra.ZippedDivide(all, algebra.TileBy(s.copy().AtomNumVal)))
}

// gathered divides the fragment into what the instructions fill together, and the rest.
func gathered(s *seedCase) algebra.Layout {
	tile := []any{valuesOf(s)}
	each := algebra.ProductEach(fragments(s).Shape())
	for i := range each.Rank() {
		tile = append(tile, each.Mode(i).Leaf())
	}
	frag := s.fragment(s.operand())
	if each.Mode(1).String() != "1" { // the document flattens each mode of the larger example
		frag = eachMode(frag)
	}
	return ok(algebra.ZippedDivide(frag, algebra.T(tile...)))
}

// example is the setup of the documents' own running example, for rows that do not repeat it.
func example(s *seedCase, c copySpec, tensor string) *seedCase {
	return &seedCase{seedSetup{Copy: &c, Tensor: tensor}, s.t}
}

var (
	oneWarp  = &mmaSpec{Atom: "SM80_16x8x16_F32F16F16F32_TN", Warps: "(1,1,1):(0,0,0)"}
	twoByTwo = &mmaSpec{Atom: "SM80_16x8x16_F16F16F16F16_TN", Warps: "(2,2,1):(1,2,0)"}
	retileA  = copySpec{Make: "make_tiled_copy_A", Op: "SM75_U32x1_LDSM_N", Elem: "f16", MMA: oneWarp}
	rows4x32 = copySpec{Make: "make_tiled_copy", Op: "UniversalCopy<u128>", Elem: "f32", Thr: "(4,8):(8,1)", Val: "(1,4):(4,1)"}
)

// layoutMN is the first article's table of (M,N) to thread and value.
func layoutMN() algebra.Layout {
	return ok(algebra.RakedProduct(layoutText(rows4x32.Thr), layoutText(rows4x32.Val)))
}

// broadcastMMA makes a row about the 2x2 warps, which its setup may leave out.
func broadcastMMA(s *seedCase) *seedCase {
	out := *s
	out.MMA = twoByTwo
	return &out
}

// seedByID computes the rows whose operation alone does not say what to do.
var seedByID = map[string]seedFunc{
	"make_tiled_copy/thr_layout": func(*seedCase) any { return ok(algebra.NewLayout(algebra.S(4, 8), algebra.D(8, 1))) },
	"make_tiled_copy/val_layout": func(*seedCase) any { return ok(algebra.NewLayout(algebra.S(1, 4), algebra.D(4, 1))) },
	"make_tiled_copy/filtered":   func(*seedCase) any { return dropOnes(layoutMN()) },
	"make_tiled_copy/preprod_shape": func(*seedCase) any { // the last number is the whole's size
		merged := ok(algebra.Coalesce(layoutMN())).Shape()
		return algebra.Compact(algebra.S(merged.Mode(0).Leaf(), merged.Mode(1).Leaf(), 2)).Stride()
	},
	"make_tiled_copy/layout_tv": func(*seedCase) any {
		return ok(algebra.WithShape(ok(algebra.RightInverse(layoutMN())), algebra.S(32, 4)))
	},
	"retile_D/A/rank": func(s *seedCase) any { return example(s, retileA, "(16,16):(16,1)").fragment(ir.A).Rank() },
	"retile_D/A/t_tensor_shape": func(s *seedCase) any {
		return gathered(example(s, retileA, "(16,16):(16,1)")).Shape()
	},
	"retile_D/A/v_tensor_shape": func(s *seedCase) any {
		e := example(s, retileA, "(16,16):(16,1)")
		return ok(algebra.ComposeTiler(gathered(e), algebra.T(atomGroups(e), algebra.Underscore))).Shape()
	},
	"atile_upcast/G(256)":                func(s *seedCase) any { return inverseA(s).AtInt(256) },
	"atile_upcast/F(512)":                func(s *seedCase) any { return s.mma().TV[ir.A].AtInt(512) },
	"atile_upcast/G(F(576))":             func(s *seedCase) any { return inverseA(s).AtInt(s.mma().TV[ir.A].AtInt(576)) },
	"atile_upcast/H(0,0)":                func(s *seedCase) any { return at(inverseMK(s), s.coord()) },
	"atile_upcast/H(0,8)":                func(s *seedCase) any { return at(inverseMK(s), s.coord()) },
	"atile_upcast/H(0,9)":                func(s *seedCase) any { return at(inverseMK(s), s.coord()) },
	"atile_upcast/upcast<1024>(H)/shape": func(s *seedCase) any { return fragmentExtents(s, 8) },
	"atile_upcast/upcast<512>(H)/shape":  func(s *seedCase) any { return fragmentExtents(s, 4) },
	"atile_upcast/2:512":                 func(*seedCase) any { return spaced(ints(layoutText("2:512"))) },
	"atile_upcast/TV_weights": func(s *seedCase) any {
		return algebra.Compact(dropOnes(broadcastMMA(s).mma().TV[ir.A]).Shape()).Stride()
	},
	"tiled_copy_api/layout_tv_ctor": func(s *seedCase) any {
		row := find(atoms.FindCopy, "SM80_CP_ASYNC_CACHEALWAYS<u128>")
		return ok(ir.NewTiledCopyTV(row, elem.KF16, layoutText("(128,8):(8,1)"), algebra.S(128, 8))).TV
	},
}

// fragmentExtents are the extents of the 2x2 warps' A tile, counted in fragments of so many values.
func fragmentExtents(s *seedCase, values int64) algebra.Shape {
	e := broadcastMMA(s)
	return algebra.ProductEach(ok(algebra.UpcastCeil(inverseMK(e), e.mma().NumThr*values)).Layout.Shape())
}
