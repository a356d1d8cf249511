package tests

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// seedByOp computes rows by their operation.
var seedByOp = merge(seedAlgebra, seedCopies, seedRetile, seedMMAs, seedInstructions)

func merge(tables ...map[string]seedFunc) map[string]seedFunc {
	out := map[string]seedFunc{}
	for _, t := range tables {
		for k, f := range t {
			if out[k] != nil {
				panic("two entries compute " + k)
			}
			out[k] = f
		}
	}
	return out
}

// seedAlgebra are the operations on layouts alone.
var seedAlgebra = map[string]seedFunc{
	"eval":            func(s *seedCase) any { return at(s.layout(), s.coord()) },
	"raked_product":   func(s *seedCase) any { return ok(algebra.RakedProduct(s.a(), s.b())) },
	"logical_product": func(s *seedCase) any { return ok(algebra.LogicalProduct(s.a(), algebra.TileBy(s.b()))) },
	"zip": func(s *seedCase) any {
		if s.Layout != "" {
			return ok(algebra.Zip(s.layout()))
		}
		return ok(algebra.ZipPair(s.a(), s.b()))
	},
	"columns of row 0 owned by a thread": func(s *seedCase) any { return ownedColumns(s) },
	"right_inverse":                      func(s *seedCase) any { return ok(algebra.RightInverse(s.layout())) },
	"flatten":                            func(s *seedCase) any { return ok(algebra.Flatten(s.layout())) },
	"coalesce": func(s *seedCase) any {
		if s.Profile != "" {
			return ok(algebra.CoalesceBy(s.layout(), shapeText(s.Profile)))
		}
		return ok(algebra.Coalesce(s.layout()))
	},
	"idx2crd":                   func(s *seedCase) any { return ok(algebra.IdxToCrd(algebra.CoordOf(s.Index), shapeText(s.Shape))) },
	"make_layout":               func(s *seedCase) any { return algebra.Compact(shapeText(s.Shape)) },
	"product_each":              func(s *seedCase) any { return algebra.ProductEach(shapeText(s.Shape)) },
	"zipped_divide":             func(s *seedCase) any { return ok(algebra.ZippedDivide(s.layout(), ok(algebra.ParseTiler(s.Tiler)))) },
	"logical_divide":            func(s *seedCase) any { return ok(algebra.LogicalDivide(s.layout(), ok(algebra.ParseTiler(s.Tiler)))) },
	"shape<0>":                  func(s *seedCase) any { return s.layout().Shape().Mode(0) },
	"size<0>":                   func(s *seedCase) any { return size(s.layout().Mode(0)) },
	"upcast":                    func(s *seedCase) any { return ok(algebra.UpcastCeil(s.layout(), s.N)).Layout },
	"recast_layout f16 -> u128": func(s *seedCase) any { return recast(s, elem.KF16, elem.KU128) },
	"recast_layout f16 -> u32":  func(s *seedCase) any { return recast(s, elem.KF16, elem.KU32) },
	"2*(16*m+k)": func(s *seedCase) any {
		return ok(layoutText("(32,16):(16,1)").At(s.coord())).Mul(bytesOf(elem.KF16)) // the document's A tile
	},
}

func recast(s *seedCase, from, to elem.Kind) algebra.Layout {
	return ok(algebra.Recast(s.layout(), int64(from.Bits()), int64(to.Bits())))
}

// ownedColumns are the coordinates in mode 1 of the thread's values in row 0.
func ownedColumns(s *seedCase) any {
	product := map[string]func(a, b algebra.Layout) (algebra.Layout, error){
		"raked_product": algebra.RakedProduct, "blocked_product": algebra.BlockedProduct}[s.Product]
	l := ok(product(s.a(), s.b()))
	var out []any
	for n := range size(l.Mode(1)) {
		owner, _ := ok(l.At(algebra.C(0, n))).IsConst()
		if owner%size(s.a()) == s.Thread {
			out = append(out, n)
		}
	}
	return algebra.C(out...)
}

// seedCopies are tiled copies and their partitions.
var seedCopies = map[string]seedFunc{
	"TiledLayout_TV": func(s *seedCase) any { return s.copy().TV },
	"AtomNumThr":     func(s *seedCase) any { return s.copy().AtomNumThr },
	"AtomNumVal":     func(s *seedCase) any { return s.copy().AtomNumVal },
	"TiledNumThr":    func(s *seedCase) any { return s.copy().NumThr },
	"TiledNumVal":    func(s *seedCase) any { return size(s.copy().TV.Mode(1)) },
	"AtomLayoutSrc":  func(s *seedCase) any { return s.copy().Src },
	"AtomLayoutDst":  func(s *seedCase) any { return s.copy().Dst },
	"AtomLayoutRef":  func(s *seedCase) any { return s.copy().Ref },
	"Tiler_MN":       func(s *seedCase) any { return s.copy().Tiler },
	"right_inverse(AtomLayoutRef).compose(AtomLayoutSrc)": func(s *seedCase) any { return sourceToRef(s.copy()) },
	"zipped_divide(TiledLayout_TV,(1,4)).compose(ref2trg,_)": func(s *seedCase) any {
		c := s.copy()
		byAtom := ok(algebra.ZippedDivide(c.TV, algebra.T(c.AtomNumThr, c.AtomNumVal)))
		return ok(algebra.ComposeTiler(byAtom, algebra.T(sourceToRef(c), algebra.Underscore)))
	},
	"tidfrg_S":                                func(s *seedCase) any { return ok(s.copy().Divided(s.tensor(), ir.Source, false)) },
	"partition_S":                             func(s *seedCase) any { return s.view(ir.Source).t.Layout },
	"partition_D":                             func(s *seedCase) any { return s.view(ir.Destination).t.Layout },
	"partition_S offset":                      func(s *seedCase) any { return ok(s.view(ir.Source).offsets(s.Thread))[0] },
	"size(partition_S)":                       func(s *seedCase) any { return size(s.view(ir.Source).t.Layout) },
	"ValLayoutSrc (as a function)":            func(s *seedCase) any { return eachMode(s.copy().Src) },
	"ValLayoutDst (as a function)":            func(s *seedCase) any { return eachMode(s.copy().Dst) },
	"ValLayoutRef (as a function)":            func(s *seedCase) any { return eachMode(s.copy().Ref) },
	"get_layoutS_TV":                          func(s *seedCase) any { return ok(s.copy().SideTV(ir.Source)) },
	"get_layoutD_TV":                          func(s *seedCase) any { return ok(s.copy().SideTV(ir.Destination)) },
	"eval get_layoutS_TV":                     func(s *seedCase) any { return at(ok(s.copy().SideTV(ir.Source)), s.coord()) },
	"eval get_layoutD_TV":                     func(s *seedCase) any { return at(ok(s.copy().SideTV(ir.Destination)), s.coord()) },
	"partition_S element offsets of thread 0": func(s *seedCase) any { return spaced(ok(s.view(ir.Source).offsets(0))) },
	"partition_S of the identity tensor, all values": func(s *seedCase) any {
		return spaced(s.copyCoords(ir.Source, s.Thread))
	},
	"number of distinct coordinates over all threads and values": func(s *seedCase) any {
		var all []string
		for thread := range s.copy().NumThr {
			all = append(all, s.copyCoords(ir.Source, thread)...)
		}
		return distinct(all)
	},
	"composition(C_S, composition(right_inverse(S), R)) with C_S=(32,4):(4,1), as a function": func(s *seedCase) any {
		c := s.copy()
		toSource := ok(algebra.Compose(ok(algebra.RightInverse(c.Src)), c.Ref))
		return eachMode(ok(algebra.Compose(layoutText("(32,4):(4,1)"), toSource)))
	},
	"partition_S value mode: 16 f16 per thread with a 16-byte cp.async": func(s *seedCase) any {
		return s.view(ir.Source).t.Layout.Shape().Mode(0)
	},
	"coordinate of source lane 0, value 0 of copy group g in partition_S of the identity tensor": func(s *seedCase) any {
		return group(s, ir.Source, 0, s.Group)[0]
	},
	"row of partition_S of the identity tensor": func(s *seedCase) any {
		row := group(s, ir.Source, s.Thread, s.Group)
		return row[0] + ".." + row[len(row)-1]
	},
	"coordinates of value 0 of copy groups 0 and 1 (partition_S of the identity tensor)": func(s *seedCase) any {
		return spaced([]string{group(s, ir.Source, s.Thread, 0)[0], group(s, ir.Source, s.Thread, 1)[0]})
	},
	"partition_S coordinates of thread 0, group 0": func(s *seedCase) any { return spaced(group(s, ir.Source, 0, 0)) },
	"partition_D coordinates of thread 0, group 0": func(s *seedCase) any { return spaced(group(s, ir.Destination, 0, 0)) },
	"number of (t,p,g) with partition_S coordinate == (16*wm+lane%16, 8g+p)": func(s *seedCase) any {
		match, c := 0, s.copy()
		for t := range c.NumThr {
			for i, at := range s.copyCoords(ir.Source, t) { // value p of group g is number p + 8*g
				if at == fmt.Sprintf("(%d,%d)", t/32%2*16+t%16, i) {
					match++
				}
			}
		}
		return match
	},
	"right_inverse(Ref).compose(Src) at (8,0), decoded as (thread,value) in (32,4)": func(s *seedCase) any {
		c := s.copy()
		ref := ok(sourceToRef(c).At(algebra.C(8, 0)))
		return ok(algebra.IdxToCrd(algebra.CoordOf(ref), algebra.S(c.AtomNumThr, c.AtomNumVal)))
	},
	"rows addressed over 128 threads x 2 groups": func(s *seedCase) any {
		return s.copy().NumThr * groups(s, ir.Source)
	},
	"total source references over 32 lanes (partition_S)": func(s *seedCase) any {
		return s.copy().NumThr * size(s.view(ir.Source).t.Layout)
	},
	"values per copy call (source,destination)": func(s *seedCase) any {
		return algebra.C(s.copy().NumVal(ir.Source), s.copy().NumVal(ir.Destination))
	},
	"rank and profile: (Thr,(FrgV,FrgX),(RestM,RestN))": func(s *seedCase) any {
		return ok(s.copy().Divided(s.tensor(), ir.Source, false)).Shape()
	},
	"document says ((FrgV,FrgX),(RestM,RestN,...)); the rest modes are unfolded": func(s *seedCase) any {
		return s.view(ir.Source).t.Layout.Shape()
	},
	"make_tiled_copy as the document calls it (second argument taken as a thread layout)": func(s *seedCase) any {
		// The page means a TV layout and the tile that it should cover.
		_, err := ir.NewTiledCopyTV(s.copyRow(), ok(elem.ParseKind(s.Elem)), layoutText(s.Thr), shapeText(s.Val))
		return refused(err)
	},
}

// refused says so in the words of the golden rows, if the error counts what is covered.
func refused(err error) string {
	if err == nil {
		return "accepted"
	}
	if !strings.Contains(err.Error(), "cover 1024 of the 16384 elements") {
		panic(errors.Join(errors.New("refused without its counts"), err))
	}
	return "not accepted by the headers"
}

// sourceToRef maps the source side's (thread,value) to the reference's.
func sourceToRef(c *ir.TiledCopy) algebra.Layout {
	return ok(algebra.Compose(ok(algebra.RightInverse(c.Ref)), c.Src))
}

// group are the coordinates of the values that one instruction of a thread moves, the g-th of them.
func group(s *seedCase, side ir.Side, thread, g int64) []string {
	n := s.copy().NumVal(side)
	return s.copyCoords(side, thread)[g*n : (g+1)*n]
}

// groups is the number of instructions that move a thread's view of the row's tensor.
func groups(s *seedCase, side ir.Side) int64 {
	return size(s.view(side).t.Layout) / s.copy().NumVal(side)
}

// seedInstructions are single instructions, with and without an element type.
var seedInstructions = map[string]seedFunc{
	"ValLayoutSrc": func(s *seedCase) any { return s.atom().Src },
	"ValLayoutDst": func(s *seedCase) any { return s.atom().Dst },
	"ValLayoutRef": func(s *seedCase) any { return s.atom().Ref },
	"ValLayoutSrc of SM80_CP_ASYNC_CACHEALWAYS<u128> with f16": func(s *seedCase) any { return s.atom().Src },
	"ValLayoutDst sizes of SM75_U32x4_LDSM_N with f16 (threads,values)": func(s *seedCase) any {
		return algebra.ProductEach(s.atom().Dst.Shape())
	},
	"source registers":                        func(s *seedCase) any { return fmt.Sprintf("u%d[1]", s.copyRow().VectorBits) },
	"destination registers":                   func(s *seedCase) any { return s.copyRow().DstRegs },
	"destination registers per lane (32-bit)": func(s *seedCase) any { return s.copyRow().DstRegs.Bits() / 32 },
	"destination f16 values per lane":         func(s *seedCase) any { return s.atom().NumVal(ir.Destination) },
	"source f16 values per lane":              func(s *seedCase) any { return s.atom().NumVal(ir.Source) },
	"number of distinct source rows (lanes 0..n-1 supply them)": func(s *seedCase) any {
		return distinct(ints(s.atom().Src.Mode(0)))
	},
	"dst lane 4*i+j holds X(i,2j),X(i,2j+1): source (lane,value) of dst (lane 1, value 0)": func(s *seedCase) any {
		c := s.atom()
		e, _ := ok(c.Dst.At(algebra.C(1, 0))).IsConst()
		i := int64(slices.Index(ints(c.Src), e)) // the first lane that points at the element
		return algebra.C(i%c.NumThr, i/c.NumThr)
	},
	"dst lanes receiving the row supplied by a lane": func(s *seedCase) any {
		c := s.atom()
		var lanes []int64
		for i, e := range ints(c.Dst) {
			if e/c.NumVal(ir.Source) == s.Lane {
				lanes = append(lanes, int64(i)%c.NumThr)
			}
		}
		return fmt.Sprintf("%d..%d", slices.Min(lanes), slices.Max(lanes))
	},
	"copy operation exists": func(s *seedCase) any {
		if _, found := atoms.FindCopy(s.Op); found {
			return "yes"
		}
		if slices.Contains(atoms.BulkKinds(), s.Op) {
			return "yes"
		}
		return "not accepted by the headers"
	},
}
