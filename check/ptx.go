package check

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/emu/ptxemu"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/ptx"
)

// PTXRun is what came of a kernel's PTX beside its C IR.
type PTXRun struct {
	*ptxemu.Report
	Differ []PTXDifference // by output, the first element that differs
	CIR    *emu.Report
}

// PTXDifference is an output whose bits differ.
type PTXDifference struct {
	Output   string
	Elements int64 // that differ
	At       []int64
	CIR, PTX float64
	MostULPs int64 // the largest distance, in units of the last place
	Compared int64
}

// RunPTX runs a kernel's PTX, which a compiler made of what was printed, and its C IR in the emulator on the same data, and
// compares the outputs bit for bit.
func RunPTX(ctx context.Context, c *cir.Kernel, file string, code []byte, args Args, seed uint64) (*PTXRun, error) {
	p, err := newPlan(c, args, inEmulator)
	if err != nil {
		return nil, err
	}
	res := &Result{}
	if err := p.onCPU(ctx, Options{EmuSeeds: []uint64{seed}}, res); err != nil {
		return nil, err
	}
	m, err := ptx.Parse(file, code)
	if err != nil {
		return nil, err
	}
	k, err := ptxemu.Compile(m, c.Name)
	if err != nil {
		return nil, err
	}
	l, buffers, err := p.ptxLaunch()
	if err != nil {
		return nil, err
	}
	rep, err := k.Run(ctx, l, ptxemu.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	out := &PTXRun{Report: rep, CIR: res.Report}
	for i, t := range p.tensors {
		if d, ok := t.differ(buffers[i].Data); ok {
			out.Differ = append(out.Differ, d)
		}
	}
	return out, nil
}

// differ compares what the emulator left with other bytes.
func (t *tensor) differ(got []byte) (PTXDifference, bool) {
	d := PTXDifference{Output: t.p.Name, Compared: t.count}
	for i := range t.count {
		a, b := t.bits(t.after, i), t.bits(got, i)
		if a == b {
			continue
		}
		if d.Elements++; d.Elements == 1 {
			d.CIR, d.PTX = elem.Decode(t.p.Elem, a), elem.Decode(t.p.Elem, b)
			d.At = []int64{i}
		}
		d.MostULPs = max(d.MostULPs, ulps(t.p.Elem, a, b))
	}
	return d, d.Elements > 0
}

// ulps is how many numbers of the kind lie between two, by their bits.
func ulps(k elem.Kind, a, b uint64) int64 {
	order := func(v uint64) int64 {
		n := k.Bits()
		if !k.IsFloat() || v>>(n-1)&1 == 0 {
			return int64(v)
		}
		return -int64(v & (1<<(n-1) - 1))
	}
	return max(order(a)-order(b), order(b)-order(a))
}

// ptxLaunch are the launch's arguments as the PTX takes them.
func (p *plan) ptxLaunch() (ptxemu.Launch, []*ptxemu.Buffer, error) {
	g := p.grid
	l := ptxemu.Launch{Grid: [3]int{int(g.X), int(g.Y), int(g.Z)}, Block: [3]int{p.c.Threads, 1, 1}, Shared: p.c.SmemBytes}
	var buffers []*ptxemu.Buffer
	byParam := map[*cir.Param]*ptxemu.Buffer{}
	for _, q := range p.c.Params {
		var b []byte
		switch q.Class {
		case cir.Pointer:
			t := p.tensors[len(buffers)]
			buf := &ptxemu.Buffer{Name: q.Name, Data: append([]byte(nil), t.before...), Defined: q.Read}
			buffers, byParam[q] = append(buffers, buf), buf
			l.Args = append(l.Args, ptxemu.Arg{Buffer: buf})
			continue
		case cir.Dim:
			b = binary.LittleEndian.AppendUint32(nil, uint32(p.dims[q.Sym.Name]))
		default:
			b = binary.LittleEndian.AppendUint64(nil, elem.Encode(q.Elem, p.scalars[q.Name]))[:max(q.Elem.Bits()/8, 1)]
		}
		l.Args = append(l.Args, ptxemu.Arg{Bytes: b})
	}
	specs, err := TensorMaps(p.c, p.value)
	if err != nil {
		return l, nil, err
	}
	for i, s := range specs {
		size := s.Elem.Bits() / 8
		m := &ptxemu.TensorMap{Buffer: byParam[p.c.Maps[i].Of], Size: size, Swizzle: s.Swizzle}
		for d := range s.Rank {
			m.Dims, m.Box = append(m.Dims, s.Extents[d]), append(m.Box, int64(s.Box[d]))
			if d > 0 {
				m.Strides = append(m.Strides, s.Strides[d]*int64(size))
			}
		}
		l.Args = append(l.Args, ptxemu.Arg{Map: m})
	}
	if len(buffers) != len(p.tensors) {
		return l, nil, fmt.Errorf("internal error: %s has %d tensors for %d buffers", p.c.Name, len(p.tensors), len(buffers))
	}
	return l, buffers, nil
}
