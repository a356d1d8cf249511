package machine

import "fmt"

// Config is a launch.
type Config struct {
	Grid, Block [3]int
	Cluster     [3]int // blocks of a cluster; zero for none
	SharedBytes int    // of a block, static and dynamic
	LocalBytes  int    // of a thread
	MaxFindings int    // kept at most; 0 means 20
}

// Machine runs one launch.
type Machine struct {
	Config
	global    []*Region
	last      *Region // of global memory, found last
	constants *Region
	finds     findings
	// syncs are the addresses through which threads release and acquire, of global memory.
	syncs    map[syncKey]clockOf
	progress int64 // counts what could end somebody's wait
}

type syncKey struct {
	r   *Region
	off int64
}

// clockOf is a clock and the block whose own it is.
type clockOf struct {
	clock
	block int32
}

// New makes a machine without memory. The error says what no GPU can launch.
func New(c Config) (*Machine, error) {
	most := [3]int{1024, 1024, 64}
	n := 1
	for i, x := range c.Block {
		if x < 1 || x > most[i] {
			return nil, fmt.Errorf("expected 1 to %d threads in dimension %c of a block, but got %d", most[i], "xyz"[i], x)
		}
		n *= x
	}
	if n > 1024 {
		return nil, fmt.Errorf("expected a block of at most 1024 threads, but got %d", n)
	}
	grid := [3]int{1<<31 - 1, 65535, 65535}
	for i, x := range c.Grid {
		if x < 1 || x > grid[i] {
			return nil, fmt.Errorf("expected 1 to %d blocks in dimension %c of the grid, but got %d", grid[i], "xyz"[i], x)
		}
	}
	const mostShared = 227 << 10
	if c.SharedBytes < 0 || c.SharedBytes > mostShared {
		return nil, fmt.Errorf("expected at most %d bytes of shared memory, but got %d", mostShared, c.SharedBytes)
	}
	if c.MaxFindings <= 0 {
		c.MaxFindings = 20
	}
	return &Machine{Config: c, finds: findings{max: c.MaxFindings}, syncs: map[syncKey]clockOf{}}, nil
}

// Blocks is the number of blocks of the grid.
func (m *Machine) Blocks() int { return m.Grid[0] * m.Grid[1] * m.Grid[2] }

// Constants sets the memory of parameters and constants.
func (m *Machine) Constants(data []byte) {
	m.constants = newRegion("constants", Const, 0, 0)
	m.constants.Data, m.constants.Defined = data, true
}

// Findings are those of all blocks so far, and how many more there were.
func (m *Machine) Findings() (list []*Finding, more int64) { return m.finds.list, m.finds.more }

// Progress counts what happened that could end somebody's wait.
func (m *Machine) Progress() int64 { return m.progress }

// Block is a running block.
type Block struct {
	m       *Machine
	ID      int32 // its number, x fastest
	At      [3]int
	Threads int
	Warps   int
	shared  *Region
	locals  []*Region
	serial  uint32 // of the warp instruction that runs
	time    []uint32
	clocks  []clock
	fence   []*clockOf // what the thread's last fence releases
	pending []clock    // what its strong reads will acquire at a fence
	bars    map[int64]*mbarrier
	events  int32 // entries of clocks that mbarriers have, behind the threads
	named   [16]barrier
	async   []threadCopies
	bulk    []threadCopies
	alive   []uint32 // by warp: lanes that have not ended
	Stopped bool     // a finding after which going on makes no sense
}

// NewBlock starts the block of that number.
func (m *Machine) NewBlock(id int) *Block {
	n := m.Block[0] * m.Block[1] * m.Block[2]
	b := &Block{m: m, ID: int32(id), At: [3]int{id % m.Grid[0], id / m.Grid[0] % m.Grid[1], id / (m.Grid[0] * m.Grid[1])},
		Threads: n, Warps: (n + 31) / 32, shared: newRegion("shared memory", Shared, SharedBase, m.SharedBytes),
		locals: make([]*Region, n), time: make([]uint32, n), clocks: make([]clock, n), fence: make([]*clockOf, n), pending: make([]clock, n),
		bars: map[int64]*mbarrier{}, async: make([]threadCopies, n), bulk: make([]threadCopies, n)}
	for i := range b.time {
		b.time[i] = 1
	}
	for w := range b.Warps {
		b.alive = append(b.alive, b.Full(w))
	}
	return b
}

// Full are the lanes that a warp has.
func (b *Block) Full(w int) uint32 {
	if n := b.Threads - w*32; n < 32 {
		return 1<<n - 1
	}
	return ^uint32(0)
}

// Alive are the lanes of a warp that have not ended.
func (b *Block) Alive(w int) uint32 { return b.alive[w] }

// Shared is the block's shared memory.
func (b *Block) Shared() *Region { return b.shared }

func (b *Block) local(t int) *Region {
	if b.locals[t] == nil {
		b.locals[t] = newRegion("local memory", Local, 0, b.m.LocalBytes)
	}
	return b.locals[t]
}

// Begin starts a warp's instruction: what its lanes do until the next Begin is done by one instruction.
func (b *Block) Begin() { b.serial++ }

// find returns a new finding of a thread to fill in, or nil where it is known.
func (b *Block) find(c Check, t int, pc int32, region string) *Finding {
	return b.findWith(c, t, pc, -1, region)
}

func (b *Block) findWith(c Check, t int, pc, other int32, region string) *Finding {
	if c.structural() {
		b.Stopped = true
	}
	f := b.m.finds.add(c, pc, other, region)
	if f != nil {
		f.Block, f.Thread = b.At, t
	}
	return f
}

// Report adds a finding of the front end's.
func (b *Block) Report(c Check, t int, pc int32, message string) {
	if f := b.find(c, t, pc, ""); f != nil {
		f.Message = message
	}
}

// End ends threads of a warp. What they started and did not wait for is a finding.
func (b *Block) End(w int, lanes uint32) {
	for l := range 32 {
		if lanes>>l&1 == 0 {
			continue
		}
		t := w*32 + l
		for _, g := range []*threadCopies{&b.async[t], &b.bulk[t]} {
			if c := g.unfinished(); c != nil {
				if f := b.find(Unwaited, t, c.pc, ""); f != nil {
					f.Message = c.what + " is still in flight when its thread ends"
				}
			}
		}
	}
	b.alive[w] &^= lanes
	b.m.progress++
	b.settleNamed()
}

// Config is the launch.
func (b *Block) Config() *Config { return &b.m.Config }
