package emu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocute/gocute/gen/cir"
)

// Options of a run. The zero value checks everything, with the warps in order, on all cores.
type Options struct {
	Workers     int                      // blocks that run at the same time; 0 means one a core
	Seed        uint64                   // order of the warps between barriers; 0 means in order
	MaxFindings int                      // kept at most; 0 means 20
	NoChecks    bool                     // only run; indices are still held within their memory
	Exact       bool                     // cells are elements of the field of Prime elements; see Residue
	Blocks      func(x, y, z int64) bool // runs only those blocks; nil means all
}

const defaultFindings = 20

func sprint(args ...any) string { return fmt.Sprint(args...) }

// Run executes a kernel on args and returns what it did and found. Its buffers are written in place. Nothing but
// the time depends on Options.Workers, unless blocks read what other blocks write, which is a finding.
//
// Errors: *ArgError, *RequireError, *KernelError, *InternalError, and ctx's when it is cancelled. Mistakes that
// the kernel makes while running are no errors but Report.Findings (see Report.Err).
func Run(ctx context.Context, k *cir.Kernel, args Args, opt Options) (rep *Report, err error) {
	start := time.Now()
	if k == nil {
		return nil, &KernelError{Message: "expects a kernel, but got nil"}
	}
	defer func() {
		if cause := recover(); cause != nil {
			rep, err = nil, &InternalError{Kernel: k.Name, Cause: cause}
		}
	}()
	if opt.MaxFindings <= 0 {
		opt.MaxFindings = defaultFindings
	}
	bound, err := bind(k, args, opt.Exact)
	if err != nil {
		return nil, err
	}
	prog, err := compile(k, bound, opt)
	if err != nil {
		return nil, err
	}
	r := &runner{ctx: ctx, prog: prog, opt: opt, found: map[int64]*findings{}, total: prog.grid[0] * prog.grid[1] * prog.grid[2]}
	if err := r.all(); err != nil {
		return nil, err
	}
	finds := r.merge()
	rep = &Report{Kernel: k.Name, Grid: prog.grid, prog: prog}
	rep.Counts, rep.Accesses = r.counts.counts(prog)
	if prog.check {
		if prog.order != nil && opt.Blocks == nil {
			prog.reviewCounters(finds)
		}
		for _, g := range prog.globals {
			g.review(prog, finds)
			if u := g.unwritten(); opt.Blocks == nil && u.Count > 0 {
				rep.Unwritten = append(rep.Unwritten, u)
				if !g.defined && !finds.blocking() {
					g.missed(prog, finds, u)
				}
			}
		}
	}
	rep.Findings, rep.More, rep.Elapsed = finds.list, finds.more, time.Since(start)
	return rep, nil
}

// runner spreads blocks over workers.
type runner struct {
	ctx   context.Context
	prog  *program
	opt   Options
	total int64
	next  atomic.Int64
	last  atomic.Int64 // no block after this one starts: it failed
	order []int        // of the blocks, nil for that of their numbers

	mu     sync.Mutex
	found  map[int64]*findings // of blocks that found something
	counts tally
	err    error
	errAt  int64
}

func (r *runner) all() error {
	workers := r.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if r.prog.inOrder || r.prog.order != nil {
		workers = 1
	}
	r.order = r.blockOrder()
	r.last.Store(math.MaxInt64)
	var wg sync.WaitGroup
	for range min(int64(workers), r.total) {
		wg.Go(r.worker)
	}
	wg.Wait()
	return r.err
}

// blockOrder is a random order of the blocks of a kernel that must not depend on it, nil for the order of their numbers.
func (r *runner) blockOrder() []int {
	const most = 1 << 20
	if r.prog.order == nil || r.prog.inOrder || r.opt.Seed == 0 || r.total > most {
		return nil
	}
	return rand.New(rand.NewPCG(r.opt.Seed, 1)).Perm(int(r.total))
}

func (r *runner) worker() {
	b := newBlock(r.ctx, r.prog, r.opt.Seed)
	for {
		n := r.next.Add(1) - 1
		if n >= r.total || n > r.last.Load() {
			break
		}
		if r.order != nil {
			n = int64(r.order[n])
		}
		if !r.wanted(n) {
			continue
		}
		finds, err := b.run(n, r.opt.MaxFindings)
		if err != nil || len(finds.list) > 0 {
			r.note(n, finds, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.add(&b.counts)
}

func (r *runner) wanted(n int64) bool {
	g := r.prog.grid
	return r.opt.Blocks == nil || r.opt.Blocks(n%g[0], n/g[0]%g[1], n/(g[0]*g[1]))
}

// note keeps a block's findings, and of all errors the lowest block's: blocks below it are already running.
func (r *runner) note(n int64, finds *findings, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(finds.list) > 0 {
		r.found[n] = finds
	}
	if err != nil && (r.err == nil || n < r.errAt) {
		r.err, r.errAt = err, n
		r.last.Store(n)
	}
}

// merge puts the findings in the order of their blocks.
func (r *runner) merge() *findings {
	out := &findings{max: r.opt.MaxFindings}
	for _, n := range sortedKeys(r.found) {
		out.merge(r.found[n])
	}
	return out
}
