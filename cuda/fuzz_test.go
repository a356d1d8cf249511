//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
)

// player plays a sequence of calls that bytes tell, on two devices, and knows which of them are right.
type player struct {
	t    testing.TB
	f    *fake
	data []byte
	fns  []playedFunction
	devs []playedDevice
	bufs []playedBuffer
	strs []playedStream
}

type playedDevice struct {
	*Device
	gpu  int
	open bool
}

type playedBuffer struct {
	*Buffer[elem.U16]
	root, dev int // the buffer that it is a slice of, or itself
	freed     bool
}

type playedFunction struct {
	*Function
	dev    int
	loaded bool
}

type playedStream struct {
	*Stream
	dev  int
	open bool
}

// byte is the next byte, 0 after the last.
func (p *player) byte() int {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return int(b)
}

// number is one that matters: small, at a limit, or anything.
func (p *player) number() int {
	edges := []int{0, 1, 2, 32, 64, 65, 1024, 1025, 65535, 65536, 1<<31 - 1, 1 << 31, 1<<32 + 1, 232448, 232449, -1, -1 << 63, 1<<63 - 1, 49152, 49153}
	switch b := p.byte(); {
	case b < 2*len(edges):
		return edges[b/2]
	case b < 240:
		return b - 2*len(edges)
	}
	var w [8]byte
	p.data = p.data[copy(w[:], p.data):]
	return int(binary.LittleEndian.Uint64(w[:]))
}

// alive reports whether a buffer can be used.
func (p *player) alive(i int) bool {
	return !p.bufs[p.bufs[i].root].freed && p.devs[p.bufs[i].dev].open
}

// answer holds what came against whether the call was right.
func (p *player) answer(right bool, err error, what string, args ...any) {
	p.t.Helper()
	if right {
		require.NoError(p.t, err, "%s %v", what, args)
	} else {
		require.Error(p.t, err, "%s %v", what, args)
	}
}

func (p *player) open(gpu int) {
	d, err := p.devs[0].drv.open(gpu)
	require.NoError(p.t, err)
	p.devs = append(p.devs, playedDevice{d, gpu, true})
}

func (p *player) alloc() {
	dev, n := p.byte()%len(p.devs), p.number()
	b, err := Alloc[elem.U16](p.devs[dev].Device, n)
	if right := p.devs[dev].open && n >= 0 && n <= fakeMemory/2; right || !errors.Is(err, &Error{Code: OutOfMemory}) {
		p.answer(right, err, "alloc", n)
	}
	if err == nil {
		p.bufs = append(p.bufs, playedBuffer{b, len(p.bufs), dev, false})
	}
}

func (p *player) slice() {
	i, lo, hi := p.byte()%len(p.bufs), p.number(), p.number()
	b, err := p.bufs[i].Slice(lo, hi)
	p.answer(p.alive(i) && 0 <= lo && lo <= hi && hi <= p.bufs[i].Len(), err, "slice", lo, hi)
	if err == nil {
		p.bufs = append(p.bufs, playedBuffer{b, p.bufs[i].root, p.bufs[i].dev, false})
	}
}

func (p *player) release() {
	i := p.byte() % len(p.bufs)
	b := &p.bufs[i]
	switch err := b.Free(); {
	case b.root != i:
		require.ErrorContains(p.t, err, "Free expects a buffer from Alloc")
	case b.freed || b.Len() == 0:
		require.NoError(p.t, err)
		b.freed = true
	default:
		p.answer(p.devs[b.dev].open, err, "free")
		b.freed = true
	}
}

func (p *player) copies() {
	i, j := p.byte()%len(p.bufs), p.byte()%len(p.bufs)
	a, b := p.bufs[i], p.bufs[j]
	host := make([]elem.U16, min(max(p.number(), 0), 1<<16))
	p.answer(p.alive(i) && len(host) == a.Len(), a.CopyFrom(host), "copy from")
	p.answer(p.alive(i) && len(host) == a.Len(), a.CopyTo(host), "copy to")
	p.answer(p.alive(i), a.Zero(), "zero")
	p.answer(p.alive(i), a.Set(7), "set")
	apart := a.Len() == 0 || a.Ptr() == b.Ptr() || a.Ptr() >= b.Ptr()+DevicePtr(b.Bytes()) || b.Ptr() >= a.Ptr()+DevicePtr(a.Bytes())
	same := p.devs[a.dev].gpu == p.devs[b.dev].gpu
	p.answer(p.alive(i) && p.alive(j) && a.Len() == b.Len() && same && apart, a.CopyBuffer(b.Buffer), "copy buffer")
	s := p.strs[p.byte()%len(p.strs)]
	right := s.open && p.devs[s.dev].open && p.devs[s.dev].gpu == p.devs[a.dev].gpu
	p.answer(p.alive(i) && right, a.ZeroOn(s.Stream), "zero on")
}

func (p *player) launch() {
	f, s := p.fns[p.byte()%len(p.fns)], p.strs[p.byte()%len(p.strs)]
	cfg := LaunchConfig{Grid: D3(p.number(), p.number(), p.number()), Block: D3(p.number(), p.number(), p.number()), Shared: p.number(), Overlap: p.byte()%2 == 1}
	right := f.loaded && p.devs[f.dev].open
	if p.byte()%2 == 0 {
		cfg.Stream = s.Stream
		right = right && s.open && p.devs[s.dev].open && p.devs[s.dev].gpu == p.devs[f.dev].gpu
	}
	for _, e := range [][2]int{{cfg.Grid.X - 1, 1<<31 - 1}, {cfg.Grid.Y, 65536}, {cfg.Grid.Z, 65536}, {cfg.Block.X - 1, 1024}, {cfg.Block.Y, 1025}, {cfg.Block.Z, 65}, {cfg.Shared, 232449}} {
		right = right && e[0] >= 0 && e[0] < e[1]
	}
	right = right && cfg.Block.X*max(cfg.Block.Y, 1)*max(cfg.Block.Z, 1) <= 1024
	i := p.byte() % len(p.bufs)
	args := f.Args()
	defer args.Release()
	gpu := p.devs[f.dev].gpu
	n := 2 + p.byte()%2
	if p.devs[p.bufs[i].dev].gpu != gpu { // such an address is the caller's business, or the launcher's
		args.Ptr(0)
	} else {
		args.Ptr(p.bufs[i].Ptr())
	}
	for range n - 1 {
		args.I32(1)
	}
	p.answer(right && n == 2, f.Launch(cfg, args), "launch", cfg, n)
}

func (p *player) closes() {
	switch b := p.byte(); b % 4 {
	case 0:
		f := &p.fns[b/4%len(p.fns)]
		p.answer(p.devs[f.dev].open || !f.loaded, f.Module().Unload(), "unload")
		f.loaded = false
	case 1:
		s := &p.strs[b/4%len(p.strs)]
		p.answer(p.devs[s.dev].open || !s.open, s.Close(), "close of a stream")
		s.open = false
	case 2:
		d := &p.devs[b/4%len(p.devs)]
		require.NoError(p.t, d.Close())
		d.open = false
	default:
		if len(p.devs) < 8 {
			p.open(b / 4 % 2)
		}
		dev := b / 8 % len(p.devs)
		s, err := p.devs[dev].NewStream()
		p.answer(p.devs[dev].open, err, "stream")
		if err == nil {
			p.strs = append(p.strs, playedStream{s, dev, true})
		}
		m, err := p.devs[dev].LoadData([]byte("ptx"))
		p.answer(p.devs[dev].open, err, "load")
		if err == nil {
			fn, err := m.Function("add")
			require.NoError(p.t, err)
			p.fns = append(p.fns, playedFunction{fn, dev, true})
		}
	}
}

// FuzzCalls plays sequences of calls with all sorts of arguments. Nothing invalid reaches the driver, which checks that
// itself, and nothing valid is refused.
func FuzzCalls(f *testing.F) {
	fk, drv := newFake(f)
	f.Add([]byte{0, 0, 80, 1, 0, 0, 4, 2, 0, 3, 0, 1, 2, 4, 0, 0, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 80, 4, 0, 0, 24, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 80, 0, 1, 80, 3, 0, 1, 40, 5, 2, 3, 0, 0, 40, 1, 0, 0, 2, 0, 0, 0, 0})
	f.Add([]byte{5, 7, 5, 11, 0, 2, 80, 5, 10, 3, 0, 0, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 5, 2, 5, 6, 1, 0, 0, 4})
	f.Add([]byte{0, 0, 90, 1, 0, 2, 8, 1, 1, 0, 2, 2, 1, 2, 2, 3, 2, 0, 2, 1, 0, 80, 40, 255, 255, 255, 255, 255, 255, 255, 127})
	f.Fuzz(func(t *testing.T, data []byte) {
		fk.reset()
		fk.strict, fk.params = true, []uint64{8, 4}
		require.NoError(t, drv.start())
		p := &player{t: t, f: fk, data: data[:min(len(data), 400)], devs: []playedDevice{{Device: &Device{drv: drv}}}}
		p.devs = p.devs[:1]
		p.open(0)
		p.open(1)
		p.devs = p.devs[1:]
		for dev := range p.devs {
			b, err := Alloc[elem.U16](p.devs[dev].Device, 40)
			require.NoError(t, err)
			p.bufs = append(p.bufs, playedBuffer{b, dev, dev, false})
			s, err := p.devs[dev].NewStream()
			require.NoError(t, err)
			p.strs = append(p.strs, playedStream{s, dev, true})
			m, err := p.devs[dev].LoadData([]byte("ptx"))
			require.NoError(t, err)
			fn, err := m.Function("add")
			require.NoError(t, err)
			p.fns = append(p.fns, playedFunction{fn, dev, true})
		}
		steps := []func(){p.alloc, p.slice, p.release, p.copies, p.launch, p.closes}
		for len(p.data) > 0 {
			steps[p.byte()%len(steps)]()
			require.Empty(t, fk.violations)
		}
		for i := range p.devs {
			require.NoError(t, p.devs[i].Close())
		}
		require.Empty(t, fk.violations)
		require.Empty(t, fk.mem, "the last holder of a context frees its memory")
		require.Empty(t, fk.handles)
	})
}
