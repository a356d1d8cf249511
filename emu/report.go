package emu

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/internal/text"
)

// Report is what a run did and found.
type Report struct {
	Kernel    string
	Grid      [3]int64
	Findings  []*Finding  // divergence and deadlocks first, then by block in the order seen; MaxFindings bounds the others
	More      int64       // occurrences of further findings, beyond MaxFindings
	Unwritten []Unwritten // of the buffers that the kernel writes; empty without checks or with Options.Blocks
	Counts    Counts
	Accesses  []Access // what each access cost, in the order of the program
	Elapsed   time.Duration

	prog *program
}

// Writer is the statement, block and thread that wrote an element of a buffer last, in the order of blocks; ok is
// false where nobody did, or without checks.
func (r *Report) Writer(buffer string, index int64) (pos cir.Pos, block [3]int64, thread int, ok bool) {
	for _, g := range r.prog.globals {
		if g.name == buffer && index >= 0 && index < int64(len(g.lastWrite)) && g.lastWrite[index] != 0 {
			a := g.lastWrite[index]
			return r.prog.pos[accessStmt(a)], r.prog.blockAt(accessBlock(a)), accessThread(a), true
		}
	}
	return cir.Pos{}, block, 0, false
}

// Unwritten says how many elements of an output buffer no thread wrote.
type Unwritten struct {
	Name  string
	Count int64
	First int64 // the first such element
}

// Counts are totals over all blocks that ran. Instructions are counted once a warp, bytes once a lane.
type Counts struct {
	Blocks       int64
	Instructions map[string]int64 // by kind, such as "mma", "ldmatrix", "load.global"
	GlobalRead   int64            // bytes loaded, cp.async and tensor copies included
	GlobalWrite  int64            // bytes stored
	SharedRead   int64            // bytes loaded, ldmatrix and wgmma included; wgmma reads B once for four warps
	SharedWrite  int64            // bytes stored, cp.async and tensor copies included
	Async        int64            // bytes that cp.async and tensor copies wrote, zero fill included
	// Without NoChecks also these:
	Sectors         int64 // 32-byte sectors of global memory that accesses touched, each once an instruction
	LeastSectors    int64 // the same, were all accesses contiguous
	Wavefronts      int64 // passes over shared memory's banks
	LeastWavefronts int64 // the same, were there no bank conflicts
}

// Access is what the accesses of one statement to one memory cost, over all blocks that ran. A cp.async or a copy of a
// tensor's box is two: to its source and to its destination.
type Access struct {
	Pos      cir.Pos
	Kind     string // as in Counts.Instructions
	Mem      string
	Space    cir.Space
	Width    int   // bytes of one lane's access; 0 where it is less than one
	Requests int64 // instructions with at least one lane
	Bytes    int64

	Sectors         int64 // of global memory, as in Counts
	LeastSectors    int64
	Wavefronts      int64 // of shared memory
	LeastWavefronts int64
}

// Conflicts are the passes over the banks beyond the least possible.
func (a *Access) Conflicts() int64 { return a.Wavefronts - a.LeastWavefronts }

// Err is nil if there are no findings, else an error that lists them, one a line.
func (r *Report) Err() error {
	if len(r.Findings) == 0 {
		return nil
	}
	errs := make([]error, 0, len(r.Findings)+1)
	for _, f := range r.Findings {
		errs = append(errs, f)
	}
	if r.More > 0 {
		errs = append(errs, fmt.Errorf("%s: %d further occurrences", r.Kernel, r.More))
	}
	return errors.Join(errs...)
}

// String is a short summary, for logs.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in %v, %s", r.Kernel, text.Count(r.Counts.Blocks, "block"), r.Elapsed.Round(time.Millisecond), text.Count(len(r.Findings), "finding"))
	for k := range numKinds {
		if n := r.Counts.Instructions[kindNames[k]]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, kindNames[k])
		}
	}
	if w := r.Counts.Wavefronts; w > 0 {
		b.WriteString(", " + text.Count(w-r.Counts.LeastWavefronts, "bank conflict"))
	}
	return b.String()
}

// instrKind is a kind of counted instructions.
type instrKind uint8

const (
	kLoadGlobal instrKind = iota
	kLoadShared
	kStoreGlobal
	kStoreShared
	kCpAsync
	kLdMatrix
	kMMA
	kCommit
	kWait
	kBarrier
	kArrive
	kMWait
	kSyncWarp
	kShuffle
	kVote
	kAtomicGlobal
	kAtomicShared
	kClock
	kTensorLoad
	kGMMA
	kGMMAArrive
	kGMMACommit
	kGMMAWait
	numKinds
)

var kindNames = [numKinds]string{"load.global", "load.shared", "store.global", "store.shared", "cp.async",
	"ldmatrix", "mma", "cp.async.commit", "cp.async.wait", "barrier",
	"mbarrier.arrive", "mbarrier.wait", "warp.sync", "shuffle", "vote", "atomic.global", "atomic.shared", "clock",
	"tensor.load", "wgmma", "wgmma.fence", "wgmma.commit", "wgmma.wait"}

// tally is what the blocks of one worker have counted.
type tally struct {
	instr  [numKinds]int64
	blocks int64
	sites  []siteTally
}

func (t *tally) add(u *tally) {
	for i := range t.instr {
		t.instr[i] += u.instr[i]
	}
	t.blocks += u.blocks
	if t.sites == nil {
		t.sites = make([]siteTally, len(u.sites))
	}
	for i := range u.sites {
		t.sites[i].add(&u.sites[i])
	}
}

// counts sums the sites up, and accesses lists them.
func (t *tally) counts(p *program) (Counts, []Access) {
	c := Counts{Blocks: t.blocks, Instructions: map[string]int64{}}
	for i, n := range t.instr {
		if n > 0 {
			c.Instructions[kindNames[i]] = n
		}
	}
	var accesses []Access
	for i := range t.sites {
		s, u := &p.sites[i], &t.sites[i]
		a := Access{Pos: p.pos[s.stmt], Kind: kindNames[s.kind], Mem: s.area.name, Space: s.area.space,
			Width: int(s.size / 8), Requests: u.requests, Bytes: u.bits / 8, Sectors: u.sectors,
			LeastSectors: u.leastSectors, Wavefronts: u.waves, LeastWavefronts: u.leastWaves}
		c.sum(&a, s.kind)
		if u.requests > 0 {
			accesses = append(accesses, a)
		}
	}
	return c, accesses
}

func (c *Counts) sum(a *Access, k instrKind) {
	async := (k == kCpAsync || k == kTensorLoad) && a.Space == cir.Shared
	write := k == kStoreGlobal || k == kStoreShared || k == kAtomicGlobal || k == kAtomicShared || async
	switch {
	case a.Space == cir.Global && write:
		c.GlobalWrite += a.Bytes
	case a.Space == cir.Global:
		c.GlobalRead += a.Bytes
	case write:
		c.SharedWrite += a.Bytes
	default:
		c.SharedRead += a.Bytes
	}
	if async {
		c.Async += a.Bytes
	}
	c.Sectors += a.Sectors
	c.LeastSectors += a.LeastSectors
	c.Wavefronts += a.Wavefronts
	c.LeastWavefronts += a.LeastWavefronts
}
