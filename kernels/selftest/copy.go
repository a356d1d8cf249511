package selftest

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// unit is what the tests of copies count in: no instruction that moves something between lanes moves less.
const unit = 16

// matrixCopy is a copy of a whole warp, in units of 16 bits: (thread,value) to unit, on both sides.
type matrixCopy struct {
	row      *atoms.CopyRow
	ref      Layout
	units    int // that one instruction moves
	src, dst algebra.Layout
}

func newMatrixCopy(row *atoms.CopyRow) (*matrixCopy, error) {
	if row == nil {
		return nil, fmt.Errorf("selftest: expects an atom, but got none")
	}
	m := &matrixCopy{row: row}
	var ref algebra.Layout
	for _, x := range []struct {
		text string
		to   *algebra.Layout
	}{{row.RefBits, &ref}, {row.SrcBits, &m.src}, {row.DstBits, &m.dst}} {
		l, err := algebra.Parse(x.text)
		if err == nil {
			*x.to, err = algebra.Recast(l, 1, unit)
		}
		if err != nil {
			return nil, fmt.Errorf("selftest: %s: %w", row.Name, err)
		}
	}
	n, _ := ref.IntSize()
	m.units, m.ref = int(n), ParseLayout(ref.String())
	return m, nil
}

// pattern is a different number for each of n units.
func pattern(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64((i*2503 + 77) % 65521)
	}
	return out
}

// side lists what a (thread,value) layout selects, thread after thread.
func side(l algebra.Layout, data []float64) []float64 {
	values, _ := l.Mode(1).IntSize()
	var out []float64
	for t := range int64(lanes) {
		for v := range values {
			e, _ := l.At(algebra.C(t, v))
			at, _ := e.IsConst()
			out = append(out, data[at])
		}
	}
	return out
}

// moved is what arrives, unit by unit of the tile, of what was in the tile: the same, but for movmatrix, whose
// transposition the layouts do not express.
func (m *matrixCopy) moved(data []float64) []float64 {
	if !strings.HasPrefix(m.row.PTX, "movmatrix") {
		return data
	}
	out := make([]float64, len(data))
	for i := range out {
		out[i] = data[i%8*8+i/8]
	}
	return out
}

func (m *matrixCopy) test(k *Kernel, in []float64) (Test, error) {
	return Test{Atom: m.row.Name, Arch: m.row.Arch, Kernel: k, Inputs: map[string][]float64{"A": in}}, k.Err()
}

func (m *matrixCopy) define(body func(k *K)) *Kernel {
	return Define(kernelName(m.row.Name), func(k *K) {
		k.Doc(fmt.Sprintf("Fills what %s reads and stores what it wrote.", m.row.Name))
		k.Threads(lanes)
		body(k)
	})
}

// flat moves a tile of units between memories, unit t, t+32, … by thread t.
func flat[S, D Space](k *K, src Tensor[S, elem.U16], dst Tensor[D, elem.U16], units int) {
	t := NewTiledCopy[elem.U16](atoms.UniversalCopy[S, D](unit), Shape(lanes), Shape(units/lanes)).Slice(k.Thread)
	Map(t.PartitionS(src), t.PartitionD(dst), same)
}

// toRegisters tests a copy from shared memory to registers.
func toRegisters(atom atoms.CopyAtom[Smem, Rmem]) maker {
	return func() (Test, error) {
		m, err := newMatrixCopy(atom.Row())
		if err != nil {
			return Test{}, err
		}
		data := pattern(m.units)
		return m.test(m.define(func(k *K) {
			in := In[elem.U16](k, "A", Shape(m.units))
			s := Shared[elem.U16](k, "sA", Shape(m.units))
			flat(k, in, s, m.units)
			k.Barrier()
			c := NewTiledCopyTV[elem.U16](atom, m.ref, Shape(m.units))
			thr := c.Slice(k.Thread)
			frag := FragmentDst(thr, s)
			Copy(c, thr.PartitionS(s), frag)
			storeWords(k, frag, side(m.dst, data))
		}), data)
	}
}

// storeWords writes a thread's units to a tensor of (lane, value).
func storeWords(k *K, frag Tensor[Rmem, elem.U16], expected []float64) {
	values := frag.At(All, 0)
	n := values.Extent(0)
	dst := Out[elem.U16](k, "D", Shape(lanes, n).Strides(n, 1))
	Map(values, dst.At(k.Thread, All), same)
	expect(dst, n, expected)
}

// loadWords fills a fragment from a tensor of (lane, value).
func loadWords(k *K, frag Tensor[Rmem, elem.U16]) {
	values := frag.At(All, 0)
	n := values.Extent(0)
	src := In[elem.U16](k, "A", Shape(lanes, n).Strides(n, 1))
	Map(src.At(k.Thread, All), values, same)
}

// fromRegisters tests a copy from registers to shared memory.
func fromRegisters(atom atoms.CopyAtom[Rmem, Smem]) maker {
	return func() (Test, error) {
		m, err := newMatrixCopy(atom.Row())
		if err != nil {
			return Test{}, err
		}
		data := pattern(m.units)
		return m.test(m.define(func(k *K) {
			out := Out[elem.U16](k, "D", Shape(m.units))
			s := Shared[elem.U16](k, "sA", Shape(m.units))
			c := NewTiledCopyTV[elem.U16](atom, m.ref, Shape(m.units))
			thr := c.Slice(k.Thread)
			frag := FragmentSrc(thr, s)
			loadWords(k, frag)
			Copy(c, frag, thr.PartitionD(s))
			k.Barrier()
			flat(k, s, out, m.units)
			Expect(out, 0, func(*Ref) func(at []int64) float64 { return func(at []int64) float64 { return data[at[0]] } })
		}), side(m.src, data))
	}
}

// betweenLanes tests a move of registers.
func betweenLanes(atom atoms.CopyAtom[Rmem, Rmem]) maker {
	return func() (Test, error) {
		m, err := newMatrixCopy(atom.Row())
		if err != nil {
			return Test{}, err
		}
		data := pattern(m.units)
		return m.test(m.define(func(k *K) {
			s := Shared[elem.U16](k, "sA", Shape(m.units)) // only its shape counts
			c := NewTiledCopyTV[elem.U16](atom, m.ref, Shape(m.units))
			thr := c.Slice(k.Thread)
			from, to := FragmentSrc(thr, s), FragmentDst(thr, s)
			loadWords(k, from)
			Copy(c, from, to)
			storeWords(k, to, side(m.dst, m.moved(data)))
		}), side(m.src, data))
	}
}

// missing are the units that a test of a copy with zero fill leaves out at the end of the tensor.
const missing = 37

// async tests an asynchronous copy; what lies beyond the tensor arrives as zeros.
func async(atom atoms.CopyAtom[Gmem, Smem]) maker {
	return func() (Test, error) {
		row := atom.Row()
		if row == nil {
			return Test{}, fmt.Errorf("selftest: expects an atom, but got none")
		}
		per := row.VectorBits / unit
		n, have := lanes*per, lanes*per
		if row.ZeroFill {
			have -= missing
		}
		m := &matrixCopy{row: row}
		data := pattern(have)
		return m.test(m.define(func(k *K) {
			in, out := In[elem.U16](k, "A", Shape(have)), Out[elem.U16](k, "D", Shape(n))
			s := Shared[elem.U16](k, "sA", Shape(n))
			c := NewTiledCopy[elem.U16](atom, Shape(lanes), Shape(per))
			thr := c.Slice(k.Thread)
			Copy(c, thr.PartitionS(in.Tile(Tile(n), 0)), thr.PartitionD(s))
			k.CommitGroup()
			k.WaitGroup(0)
			k.Barrier()
			flat(k, s, out, n)
			Expect(out, 0, func(*Ref) func(at []int64) float64 {
				return func(at []int64) float64 {
					if at[0] >= int64(have) {
						return 0
					}
					return data[at[0]]
				}
			})
		}), data)
	}
}

// plain tests assignments of some width, through registers.
func plain(load atoms.CopyAtom[Gmem, Rmem], save atoms.CopyAtom[Rmem, Gmem]) maker {
	return func() (Test, error) {
		row := load.Row()
		if row == nil || save.Row() == nil {
			return Test{}, fmt.Errorf("selftest: expects an atom, but got none")
		}
		const per, n = 16, lanes * 16 // bytes
		m := &matrixCopy{row: row}
		data := pattern(n)
		for i := range data {
			data[i] = float64(int(data[i]) % 251)
		}
		return m.test(m.define(func(k *K) {
			in, out := In[elem.U8](k, "A", Shape(n)), Out[elem.U8](k, "D", Shape(n))
			from, to := NewTiledCopy[elem.U8](load, Shape(lanes), Shape(per)), NewTiledCopy[elem.U8](save, Shape(lanes), Shape(per))
			src, dst := from.Slice(k.Thread).PartitionS(in), to.Slice(k.Thread).PartitionD(out)
			frag := FragmentLike(src)
			Copy(from, src, frag)
			Copy(to, frag, dst)
			Expect(out, 0, func(*Ref) func(at []int64) float64 { return func(at []int64) float64 { return data[at[0]] } })
		}), data)
	}
}

// copies lists the typed copy atoms.
func copies() []maker {
	var out []maker
	for _, w := range []int{8, 16, 32, 64, 128} {
		out = append(out, plain(atoms.UniversalCopy[Gmem, Rmem](w), atoms.UniversalCopy[Rmem, Gmem](w)),
			plain(atoms.AutoVectorizingCopyUpTo[Gmem, Rmem](w), atoms.AutoVectorizingCopyUpTo[Rmem, Gmem](w)))
	}
	for _, a := range []atoms.CopyAtom[Rmem, Rmem]{atoms.SM50_Shuffle_U32_2x2Trans_XOR1, atoms.SM50_Shuffle_U32_2x2Trans_XOR4, atoms.SM75_U32x1_MOVM_T} {
		out = append(out, betweenLanes(a))
	}
	for _, a := range []atoms.CopyAtom[Smem, Rmem]{atoms.SM75_U32x1_LDSM_N, atoms.SM75_U32x2_LDSM_N, atoms.SM75_U32x4_LDSM_N,
		atoms.SM75_U16x2_LDSM_T, atoms.SM75_U16x4_LDSM_T, atoms.SM75_U16x8_LDSM_T} {
		out = append(out, toRegisters(a))
	}
	for _, a := range []atoms.CopyAtom[Gmem, Smem]{atoms.SM80_CP_ASYNC_CACHEALWAYS_U32, atoms.SM80_CP_ASYNC_CACHEALWAYS_U64,
		atoms.SM80_CP_ASYNC_CACHEALWAYS_U128, atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, atoms.SM80_CP_ASYNC_CACHEALWAYS_ZFILL_U32,
		atoms.SM80_CP_ASYNC_CACHEALWAYS_ZFILL_U64, atoms.SM80_CP_ASYNC_CACHEALWAYS_ZFILL_U128, atoms.SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_U128,
		atoms.PrefetchL2(atoms.SM80_CP_ASYNC_CACHEALWAYS_U64, 64), atoms.PrefetchL2(atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, 128),
		atoms.PrefetchL2(atoms.SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_U128, 256)} {
		out = append(out, async(a))
	}
	for _, a := range []atoms.CopyAtom[Rmem, Smem]{atoms.SM90_U32x1_STSM_N, atoms.SM90_U32x2_STSM_N, atoms.SM90_U32x4_STSM_N,
		atoms.SM90_U16x2_STSM_T, atoms.SM90_U16x4_STSM_T, atoms.SM90_U16x8_STSM_T} {
		out = append(out, fromRegisters(a))
	}
	return out
}
