package emu

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Report is what a run did and found.
type Report struct {
	Kernel    string
	Grid      [3]int64
	Findings  []*Finding  // divergence and deadlocks first, then by block in the order seen; MaxFindings bounds the others
	More      int64       // occurrences of further findings, beyond MaxFindings
	Unwritten []Unwritten // of the buffers that the kernel writes; empty without checks or with Options.Blocks
	Counts    Counts
	Elapsed   time.Duration
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
	GlobalRead   int64            // bytes loaded, cp.async included
	GlobalWrite  int64            // bytes stored
	SharedRead   int64            // bytes loaded, ldmatrix included
	SharedWrite  int64            // bytes stored, cp.async included
	Async        int64            // bytes that cp.async wrote, zero fill included
	// Without NoChecks also these:
	Sectors         int64 // 32-byte sectors of global memory that accesses touched, each once an instruction
	LeastSectors    int64 // the same, were all accesses contiguous
	Wavefronts      int64 // passes over shared memory's banks
	LeastWavefronts int64 // the same, were there no bank conflicts
}

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
	fmt.Fprintf(&b, "%s: %d blocks in %v, %d findings", r.Kernel, r.Counts.Blocks, r.Elapsed.Round(time.Millisecond), len(r.Findings))
	for k := range numKinds {
		if n := r.Counts.Instructions[kindNames[k]]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, kindNames[k])
		}
	}
	if w := r.Counts.Wavefronts; w > 0 {
		fmt.Fprintf(&b, ", %d bank conflicts", w-r.Counts.LeastWavefronts)
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
	numKinds
)

var kindNames = [numKinds]string{"load.global", "load.shared", "store.global", "store.shared", "cp.async",
	"ldmatrix", "mma", "cp.async.commit", "cp.async.wait", "barrier"}

// tally is Counts while running, its bytes as bits: elements may be smaller than bytes.
type tally struct {
	instr                          [numKinds]int64
	blocks                         int64
	globalRead, globalWrite        int64
	sharedRead, sharedWrite, async int64
	sectors, leastSectors          int64
	wavefronts, leastWavefronts    int64
}

func (t *tally) add(u *tally) {
	for i := range t.instr {
		t.instr[i] += u.instr[i]
	}
	t.blocks += u.blocks
	t.globalRead += u.globalRead
	t.globalWrite += u.globalWrite
	t.sharedRead += u.sharedRead
	t.sharedWrite += u.sharedWrite
	t.async += u.async
	t.sectors += u.sectors
	t.leastSectors += u.leastSectors
	t.wavefronts += u.wavefronts
	t.leastWavefronts += u.leastWavefronts
}

func (t *tally) counts() Counts {
	c := Counts{Blocks: t.blocks, Instructions: map[string]int64{}, GlobalRead: t.globalRead / 8,
		GlobalWrite: t.globalWrite / 8, SharedRead: t.sharedRead / 8, SharedWrite: t.sharedWrite / 8, Async: t.async / 8,
		Sectors: t.sectors, LeastSectors: t.leastSectors,
		Wavefronts: t.wavefronts, LeastWavefronts: t.leastWavefronts}
	for i, n := range t.instr {
		if n > 0 {
			c.Instructions[kindNames[i]] = n
		}
	}
	return c
}
