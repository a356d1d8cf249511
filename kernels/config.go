package kernels

import (
	"errors"
	"fmt"

	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// CheckGEMM says what is wrong with a configuration for operands of E, sums of Acc and results of O, in words of its
// fields; nil where Product makes a kernel of it. Three things are refused although a kernel could be written: rows of
// shared memory that are no power of two, which the swizzle does not spread over the banks, accumulators in more than half
// of the registers, which leave too few for the rest, and tiles of one step along K.
func CheckGEMM[E, Acc, O elem.Any](g GEMMConfig) error {
	return g.check(elem.KindOf[E](), elem.KindOf[Acc](), elem.KindOf[O]())
}

// check is CheckGEMM by kinds.
func (g GEMMConfig) check(in, acc, out elem.Kind) error {
	rows, cols := g.A, g.B
	if g.ColumnC {
		rows, cols = cols, rows
	}
	vec := 128 / in.Bits()
	for _, rule := range []func() error{ // in this order: the later ones count on the earlier
		g.checkFields,
		func() error { return g.checkHopper(in) },
		func() error { return g.checkTile(vec) },
		func() error { return g.checkOperand("BM", g.BM, "WarpM", g.WarpM, vec, rows) },
		func() error { return g.checkOperand("BN", g.BN, "WarpN", g.WarpN, vec, cols) },
		func() error { return g.checkRegisters(acc) },
		func() error { return g.checkShared(in, acc, newColumns(in, out, g, cols)) },
		func() error { return g.checkStore(in, out, cols) },
	} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

func (g GEMMConfig) threads() int { return 32 * g.WarpM * g.WarpN }

// divides says that a field of the configuration must be a multiple.
func divides(field string, got, of int, why string, args ...any) error {
	if got%of == 0 {
		return nil
	}
	return fmt.Errorf("expected %s to be a multiple of %d, %s, but got %d", field, of, fmt.Sprintf(why, args...), got)
}

// mostOfField bounds every field, beyond what any block can have, so that nothing computed of them overflows.
const mostOfField = 1 << 13

// checkFields looks at each field alone.
func (g GEMMConfig) checkFields() error {
	stages, why := 2, ""
	if g.Sync == MBarriers {
		stages, why = 3, " with MBarriers, one of them slack between warps"
	}
	for _, f := range []struct {
		name       string
		got, least int
		why        string
	}{{"BM", g.BM, 16, ""}, {"BN", g.BN, 16, ""}, {"BK", g.BK, 1, ""}, {"WarpM", g.WarpM, 1, ""}, {"WarpN", g.WarpN, 1, ""},
		{"Stages", g.Stages, stages, why}, {"Group", g.Group, 1, ""}} {
		if f.got < f.least {
			return fmt.Errorf("expected %s of at least %d%s, but got %d", f.name, f.least, f.why, f.got)
		}
		if f.got > mostOfField {
			return fmt.Errorf("expected %s of at most %d, but got %d", f.name, mostOfField, f.got)
		}
	}
	if g.Sync > TMALoads || g.A > MNMajor || g.B > MNMajor {
		return fmt.Errorf("expected Sync Groups, MBarriers or TMALoads, and A and B KMajor or MNMajor, but got Sync=%d, A=%d, B=%d", g.Sync, g.A, g.B)
	}
	if g.StreamK && (g.SplitK || g.Batched || g.Sync != Groups) {
		return fmt.Errorf("expected StreamK alone, without SplitK and Batched and with Sync Groups, but got SplitK=%t, Batched=%t, Sync=%d", g.SplitK, g.Batched, g.Sync)
	}
	if n := g.WarpM * g.WarpN; n > 32 {
		return fmt.Errorf("expected at most 32 warps in a block, but WarpM=%d times WarpN=%d makes %d", g.WarpM, g.WarpN, n)
	}
	return nil
}

// warpgroup is the warps that execute a wgmma instruction together.
const warpgroup = 4

// checkHopper: what the copy engine and wgmma of sm_90 do for a block.
func (g GEMMConfig) checkHopper(in elem.Kind) error {
	switch {
	case g.Sync == TMALoads && g.CacheAlways:
		return fmt.Errorf("expected TMALoads without CacheAlways, but got both")
	case g.Sync == TMALoads && g.OneAddress:
		return fmt.Errorf("expected TMALoads without OneAddress, but got both")
	case g.Sync == TMALoads && (g.A != KMajor || g.B != KMajor) && in.Bits() != 16:
		return fmt.Errorf("expected KMajor operands of %s with TMALoads, but got A=%d, B=%d: those of 16 bits may be MNMajor", in, g.A, g.B)
	case g.Sync == TMALoads && (g.BM > 256 || g.BN > 256):
		return fmt.Errorf("expected BM and BN of at most 256 with TMALoads, the extents of a box, but got %d and %d", g.BM, g.BN)
	case !g.WGMMA:
		return nil
	case g.Sync != TMALoads:
		return fmt.Errorf("expected TMALoads with WGMMA, but got Sync=%d", g.Sync)
	case g.WarpM%warpgroup != 0 || g.WarpN != 1:
		return fmt.Errorf("expected WarpM to be a multiple of %d, and WarpN to be 1, with WGMMA, but got %d and %d", warpgroup, g.WarpM, g.WarpN)
	}
	return nil
}

// checkAtom: the instruction is of the kind that the configuration says, and its columns can be dealt out in the order.
func (g GEMMConfig) checkAtom(row *atoms.MMARow, order columns) error {
	switch {
	case row == nil:
		return fmt.Errorf("expected an MMA atom, but got none")
	case !g.WGMMA && row.IsGMMA():
		return fmt.Errorf("expected an instruction of a warp without WGMMA, but got %s", row.Name)
	case !g.WGMMA:
		return nil
	case !row.IsGMMA() || row.RA.Type != "u64":
		return fmt.Errorf("expected a wgmma instruction of operands in shared memory with WGMMA (atoms.GMMAOf), but got %s%s", row.Name, majors(row))
	}
	if a, b := g.majors(); row.MajorA != a || row.MajorB != b {
		return fmt.Errorf("expected an instruction with A %s-major and B %s-major, as the configuration's operands, but got %s%s", a, b, row.Name, majors(row))
	}
	if w := order.width(); order.permuted() && row.N%w != 0 && w%row.N != 0 {
		return fmt.Errorf("expected an instruction whose N divides or is a multiple of %d columns, which are dealt out together, but got %s", w, row.Name)
	}
	if run := boxColumn(g.BN, 8); row.MajorB == atoms.MajorMN && run%row.N != 0 && row.N%run != 0 {
		return fmt.Errorf("expected an instruction whose N divides or is a multiple of the %d columns that are adjacent in shared memory, but got %s", run, row.Name)
	}
	return divides("BN", g.BN, row.N, "N of %s", row.Name)
}

// majors are those of the operands of the instruction, which are exchanged where C is column-major.
func (g GEMMConfig) majors() (a, b atoms.Major) {
	of := map[Major]atoms.Major{KMajor: atoms.MajorK, MNMajor: atoms.MajorMN}
	if g.ColumnC {
		return of[g.B], of[g.A]
	}
	return of[g.A], of[g.B]
}

// majors tells what the name of an instruction does not.
func majors(row *atoms.MMARow) string {
	if !row.IsGMMA() {
		return ""
	}
	return fmt.Sprintf(" with A %s-major and B %s-major", row.MajorA, row.MajorB)
}

// checkTile: whole instructions for each warp, and steps along K between which the copies of the next tile are dealt out.
func (g GEMMConfig) checkTile(vec int) error {
	if g.BK < 4*vec {
		return fmt.Errorf("expected BK of at least %d, two steps of the instruction, but got %d", 4*vec, g.BK)
	}
	return errors.Join(divides("BM", g.BM, 16*g.WarpM, "16 for each of WarpM=%d warps", g.WarpM),
		divides("BN", g.BN, 16*g.WarpN, "16 for each of WarpN=%d warps", g.WarpN),
		divides("BK", g.BK, 2*vec, "the elements in 32 bytes, one step of the instruction"))
}

// checkOperand: whole rows of shared memory, whole copies of all threads, and whole tiles of the warps in a row.
func (g GEMMConfig) checkOperand(field string, mn int, warpField string, warps, vec int, major Major) error {
	adjacent, length := "BK", g.BK
	if major == MNMajor {
		adjacent, length = field, mn
	}
	row := min(length/vec, 8) // vectors
	if row&(row-1) != 0 || length%(row*vec) != 0 {
		return fmt.Errorf("expected %s to be a power of two or a multiple of %d, rows of at most 128 bytes of shared memory, but got %d", adjacent, 8*vec, length)
	}
	tile, width := 16*warps, row*vec
	if major == MNMajor && !g.WGMMA && mn > width && width%tile != 0 && tile%width != 0 {
		return fmt.Errorf("expected %s=%d warps, which take %d elements of %s, to divide rows of %d elements of an MN-major operand or to be divided by them",
			warpField, warps, tile, field, width)
	}
	threads := g.threads()
	if g.Sync == TMALoads {
		return g.checkBox(field, mn, vec, major)
	}
	if major == KMajor {
		return divides(field, mn, threads/beside(length/vec), "the rows that a copy by all %d threads fills", threads)
	}
	if vec == 4 && mn < 32 {
		return fmt.Errorf("expected %s of at least 32, a row of an MN-major operand of 32-bit elements, but got %d", field, mn)
	}
	beside := min(mn/vec, threads)
	if threads%beside != 0 || mn%(beside*vec) != 0 {
		return fmt.Errorf("expected the %d vectors of 16 bytes along %s=%d to divide the %d threads or to be divided by them", mn/vec, field, mn, threads)
	}
	if columns, once := threads/beside, 8; columns%once != 0 && once%columns != 0 {
		return fmt.Errorf("expected the %d columns of %s=%d elements that a copy by all %d threads fills to divide 8 or to be a multiple of it, as rows of shared memory are laid out",
			columns, field, mn, threads)
	}
	return divides("BK", g.BK, threads/beside, "the columns of %s=%d elements that a copy by all %d threads fills", field, mn, threads)
}

// checkBox: whole periods of the swizzle. Columns along M or N have at least 32 bytes.
func (g GEMMConfig) checkBox(field string, mn, vec int, major Major) error {
	if major == MNMajor {
		return errors.Join(divides(field, mn, 2*vec, "the least columns that are swizzled"), divides("BK", g.BK, 8, "the columns over which shared memory is swizzled"))
	}
	return divides(field, mn, 8, "the rows over which shared memory is swizzled")
}

// checkRegisters: the other half is for fragments, addresses and what is on its way.
func (g GEMMConfig) checkRegisters(acc elem.Kind) error {
	threads := g.threads()
	words, have := g.BM*g.BN*acc.Bits()/32/threads, min(256, 1<<16/threads)
	if words > have/2 {
		return fmt.Errorf("expected accumulators in at most %d registers, half of what each of %d threads may have, but BM*BN=%d*%d of %s takes %d",
			have/2, threads, g.BM, g.BN, acc, words)
	}
	return nil
}

// wordBytes are those of the word by which a block learns how many came before it.
const wordBytes = 16

// sharedBytes is what a block needs: the stages, with what keeps them in order, and later the results in their place.
func (g GEMMConfig) sharedBytes(in, acc elem.Kind, order columns) (stages, results int) {
	stages = (g.BM + g.BN) * g.BK * in.Bits() / 8 * g.Stages
	if g.Sync != Groups {
		stages += (8*g.Stages + 15) / 16 * 16 * 2
	}
	if g.StreamK {
		return stages + wordBytes, 16 * g.WarpM * g.BN * acc.Bits() / 8
	}
	results = g.BM * (g.BN + order.padding()) * acc.Bits() / 8
	if g.SplitK {
		return stages + wordBytes, results + wordBytes
	}
	return stages, results
}

func (g GEMMConfig) checkShared(in, acc elem.Kind, order columns) error {
	stages, results := g.sharedBytes(in, acc, order)
	most := MaxShared()
	if stages > most {
		return fmt.Errorf("expected stages in at most %d bytes of shared memory, but Stages=%d of (BM+BN)*BK=(%d+%d)*%d elements of %s take %d",
			most, g.Stages, g.BM, g.BN, g.BK, in, stages)
	}
	if free := g.BM * g.BK * in.Bits() / 8; g.StreamK && results > free {
		return fmt.Errorf("expected results in at most the %d bytes of a stage of A, which is free with StreamK, but 16*WarpM*BN=16*%d*%d elements of %s take %d",
			free, g.WarpM, g.BN, acc, results)
	}
	if results > most {
		return fmt.Errorf("expected results in at most %d bytes of shared memory, but BM*(BN+%d)=%d*%d elements of %s take %d",
			most, order.padding(), g.BM, g.BN+order.padding(), acc, results)
	}
	return nil
}

// checkStore: unless the accumulators are stored as they are, the epilogue stores whole rows of the block by all threads, as
// vectors; and as elements, unless rows are always aligned.
func (g GEMMConfig) checkStore(in, out elem.Kind, cols Major) error {
	threads, vec, rows, field := g.threads(), 128/out.Bits(), g.BM, "BM"
	if g.StreamK {
		rows, field = 16*g.WarpM, "16*WarpM"
	}
	aligned := cols == MNMajor && (128/in.Bits())%vec == 0
	if !newColumns(in, out, g, cols).permuted() {
		for threads*vec > rows*g.BN {
			vec /= 2
		}
		columns := g.BN / vec
		if threads%columns != 0 {
			return fmt.Errorf("expected the %d vectors of %s along BN=%d, which the epilogue stores, to divide the %d threads", columns, out, g.BN, threads)
		}
		if err := divides(field, rows, threads/columns, "the rows that a store by all %d threads fills", threads); err != nil {
			return err
		}
	}
	if aligned {
		return nil
	}
	return errors.Join(divides("BN", g.BN, 32, "the threads of a warp, which store elements beside each other"),
		divides(field, rows, threads/32, "the number of warps, which store a row each"))
}
