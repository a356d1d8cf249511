package emu

import (
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// program is a kernel compiled for one set of arguments. Blocks share it, so nothing in it but the global memory
// changes while running.
type program struct {
	name          string
	check         bool
	exact         bool
	body          []step
	pos           []cir.Pos // of each statement; a step's id is its index
	yields        bool      // a warp may have to wait for others
	inOrder       bool      // blocks run one by one: the order of their atomic operations shows
	order         *ordering // where blocks arrive at counters
	threads       int
	warps         int
	grid          [3]int64
	globals       []*gmem
	sites         []site
	cells         int // of shared memory
	sharedAtomics bool
	landings      int  // mbarriers that bytes of tensors land at
	products      bool // a product of warpgroups reads shared memory
	scale         scratch
	uniforms      int         // slots of integers that all lanes share
	lanes         int         // slots of integers that each lane has
	regs          int         // registers of a lane, in elements
	registers     []*register // in the order of their bases
}

// copiers is the number of threads, and of mbarriers that bytes of tensors land at: copies belong to one of them.
func (p *program) copiers() int { return p.warps*32 + p.landings }

// scratch counts temporaries: values of all lanes, by nesting depth of an expression.
type scratch struct{ ints, floats, bits int }

// step is a compiled statement.
type step struct {
	id  int32
	run func(*warp)
}

// area is what both kinds of memory have.
type area struct {
	name  string
	space cir.Space
	kind  elem.Kind
	bits  int   // of an element
	count int64 // elements
	base  int64 // bits from the space's start (shared memory)
	align int64 // bits that divide the base address
}

// memory is an area with contents. load and store move n elements of one lane; the caller has checked the bounds.
type memory interface {
	desc() *area
	load(w *warp, lane int, index int64, out []uint64)
	store(w *warp, lane int, index int64, in []uint64)
	atomic(w *warp, lane int, index int64, f func(old uint64) uint64) (old uint64)
}

func (a *area) desc() *area { return a }

// register is a register array: its elements are the planes base, base+1, … of a warp.
type register struct {
	name  string
	kind  elem.Kind
	bits  int
	base  int
	count int64
}

// The integer slots that every warp starts with.
const (
	uBlockX = iota
	uBlockY
	uBlockZ
	uFirst // the warp's first thread
	numUniform
)

const (
	lThread = iota // threadIdx.x
	numLanes
)
