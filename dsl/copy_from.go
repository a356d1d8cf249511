package dsl

import (
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// CopyA follows the MMA's layout of A over (M,K) (make_tiled_copy_A).
func CopyA[S, D Space, DD, A, B, C elem.Any](a atoms.CopyAtom[S, D], m TiledMMA[DD, A, B, C]) TiledCopy[S, D, A] {
	return tiledCopy[A, S, D](copyOf[A](a.Row(), m.m, m.mistake("CopyA"), ir.A))
}

// CopyB follows the MMA's layout of B over (N,K) (make_tiled_copy_B).
func CopyB[S, D Space, DD, A, B, C elem.Any](a atoms.CopyAtom[S, D], m TiledMMA[DD, A, B, C]) TiledCopy[S, D, B] {
	return tiledCopy[B, S, D](copyOf[B](a.Row(), m.m, m.mistake("CopyB"), ir.B))
}

// CopyC follows the MMA's layout of C over (M,N) (make_tiled_copy_C).
func CopyC[S, D Space, DD, A, B, C elem.Any](a atoms.CopyAtom[S, D], m TiledMMA[DD, A, B, C]) TiledCopy[S, D, C] {
	return tiledCopy[C, S, D](copyOf[C](a.Row(), m.m, m.mistake("CopyC"), ir.C))
}

// CopyOut is CopyC for elements of another type than the accumulators: those that an epilogue has converted.
func CopyOut[O elem.Any, S, D Space, DD, A, B, C elem.Any](a atoms.CopyAtom[S, D], m TiledMMA[DD, A, B, C]) TiledCopy[S, D, O] {
	return tiledCopy[O, S, D](copyOf[O](a.Row(), m.m, m.mistake("CopyOut"), ir.C))
}

func copyOf[E elem.Any](row *atoms.CopyRow, m *ir.TiledMMA, err error, o ir.Operand) (*ir.TiledCopy, error) {
	if err != nil {
		return nil, err
	}
	return ir.NewTiledCopyMMA(row, elem.KindOf[E](), m, o)
}

// CopyAtomC follows the MMA's layout of C for as many values of each thread as one atom moves (make_tiled_copy_C_atom).
// Its tile is the part of the MMA's tile that those values fill.
func CopyAtomC[O elem.Any, S, D Space, DD, A, B, C elem.Any](a atoms.CopyAtom[S, D], m TiledMMA[DD, A, B, C]) TiledCopy[S, D, O] {
	if m.mistake("CopyAtomC") != nil {
		return tiledCopy[O, S, D](nil, m.mistake("CopyAtomC"))
	}
	return tiledCopy[O, S, D](ir.NewTiledCopyAtomC(a.Row(), elem.KindOf[O](), m.m))
}

// CopyLikeS takes the source side of another copy as the reference of a new one (make_tiled_copy_S).
func CopyLikeS[S, D, S0, D0 Space, E elem.Any](a atoms.CopyAtom[S, D], of TiledCopy[S0, D0, E]) TiledCopy[S, D, E] {
	return like(a, of, ir.Source)
}

// CopyLikeD takes the destination side of another copy as the reference of a new one (make_tiled_copy_D): what the
// threads received by that copy they can pass on by this one.
func CopyLikeD[S, D, S0, D0 Space, E elem.Any](a atoms.CopyAtom[S, D], of TiledCopy[S0, D0, E]) TiledCopy[S, D, E] {
	return like(a, of, ir.Destination)
}

func like[S, D, S0, D0 Space, E elem.Any](a atoms.CopyAtom[S, D], of TiledCopy[S0, D0, E], s ir.Side) TiledCopy[S, D, E] {
	if of.c == nil {
		return tiledCopy[E, S, D](nil, of.mistake("CopyLike"+"SD"[s:s+1]))
	}
	return tiledCopy[E, S, D](ir.NewTiledCopyOf(a.Row(), elem.KindOf[E](), of.c, s))
}

// NewCotiledCopy assigns the addresses of a data layout to threads and values: tv maps (thread,value) to an address,
// data coordinates to addresses (make_cotiled_copy). Its tile is the part of the data that tv reaches.
func NewCotiledCopy[E elem.Any, S, D Space](a atoms.CopyAtom[S, D], tv, data Layout) TiledCopy[S, D, E] {
	t, d, err := twoLayouts(tv, data)
	if err != nil {
		return tiledCopy[E, S, D](nil, err)
	}
	return tiledCopy[E, S, D](ir.NewCotiledCopy(a.Row(), elem.KindOf[E](), t, d))
}
