package ptxemu

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

// text is a kernel of one argument, the address of its output in %rd0. It ends by storing %r0 of each thread.
func text(body string) string {
	return `.version 9.0
.target sm_90a
.address_size 64
.global .align 4 .u32 flag;
.visible .entry k(.param .u64 out) {
	.reg .pred %p<9>;
	.reg .b32 %r<40>;
	.reg .b64 %rd<20>;
	.shared .align 128 .b8 s[4096];
	ld.param.u64 %rd0, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r0, 0;
` + body + `
	mad.lo.u32 %r4, %r2, %r3, %r1;
	mul.wide.u32 %rd1, %r4, 4;
	add.u64 %rd1, %rd0, %rd1;
	st.global.u32 [%rd1], %r0;
	ret;
}`
}

type ran struct {
	out   []uint32
	finds []machine.Check
	rep   *Report
}

func runText(t *testing.T, body string, blocks, threads int, seed uint64) ran {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(text(body)))
	require.NoError(t, err)
	k, err := Compile(m, "k")
	require.NoError(t, err)
	out := &Buffer{Name: "out", Data: make([]byte, 4*blocks*threads)}
	rep, err := k.Run(context.Background(), Launch{Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}, Args: []Arg{{Buffer: out}}}, Options{Seed: seed})
	require.NoError(t, err)
	r := ran{rep: rep}
	for i := 0; i < len(out.Data); i += 4 {
		r.out = append(r.out, binary.LittleEndian.Uint32(out.Data[i:]))
	}
	for _, f := range rep.Findings {
		r.finds = append(r.finds, f.Check)
	}
	return r
}

// TestPrograms computes a value of each thread and compares with the same in Go.
func TestPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		body            string
		blocks, threads int
		want            func(block, thread int) uint32
	}{
		"threads": {"mov.u32 %r0, %r1;", 2, 40, func(_, i int) uint32 { return uint32(i) }},
		"both sides of a branch, then a shuffle of all": {`
			and.b32 %r5, %r1, 1;
			setp.eq.s32 %p1, %r5, 0;
			@%p1 bra $even;
			mul.lo.s32 %r0, %r1, 3;
			bra.uni $join;
		$even:
			add.s32 %r0, %r1, 100;
		$join:
			shfl.sync.bfly.b32 %r0|%p2, %r0, 1, 31, -1;`, 1, 64, func(_, i int) uint32 {
			if j := i ^ 1; j%2 == 1 {
				return uint32(3 * j)
			} else {
				return uint32(j + 100)
			}
		}},
		"a loop of as many rounds as the lane's number": {`
			mov.u32 %r5, %r1;
		$loop:
			setp.eq.s32 %p1, %r5, 0;
			@%p1 bra $done;
			add.s32 %r0, %r0, %r5;
			sub.s32 %r5, %r5, 1;
			bra $loop;
		$done:
			vote.sync.ballot.b32 %r6, %p1, -1;
			popc.b32 %r6, %r6;
			mad.lo.s32 %r0, %r6, 1000, %r0;`, 1, 32, func(_, i int) uint32 { return uint32(i*(i+1)/2 + 32000) }},
		"a lane waits for another of its warp": {`
			mov.u32 %r7, s;
			setp.ne.s32 %p1, %r1, 0;
			@%p1 bra $made;
			mbarrier.init.shared.b64 [%r7], 1;
		$made:
			bar.sync 0;
			setp.eq.s32 %p2, %r1, 31;
			@!%p2 bra $wait;
			mbarrier.arrive.shared.b64 _, [%r7];
		$wait:
			mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0;
			@!%p3 bra $wait;
			mov.u32 %r0, 7;`, 1, 32, func(_, _ int) uint32 { return 7 }},
		"lanes before the one that arrives": {`
			mov.u32 %r7, s;
			setp.ne.s32 %p1, %r1, 0;
			@%p1 bra $made;
			mbarrier.init.shared.b64 [%r7], 1;
		$made:
			bar.sync 0;
			setp.eq.s32 %p2, %r1, 31;
			@%p2 bra $arrive;
		$wait:
			mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0;
			@!%p3 bra $wait;
			bra $end;
		$arrive:
			mbarrier.arrive.shared.b64 _, [%r7];
		$end:
			mov.u32 %r0, 8;`, 1, 32, func(_, _ int) uint32 { return 8 }},
		"a block waits for a later one": {`
			mov.u64 %rd5, flag;
			setp.eq.s32 %p1, %r2, 2;
			@!%p1 bra $spin;
			atom.add.release.gpu.global.u32 %r5, [%rd5], 1;
			bra $end;
		$spin:
			ld.acquire.gpu.global.u32 %r6, [%rd5];
			setp.eq.s32 %p2, %r6, 0;
			@%p2 bra $spin;
		$end:
			mov.u32 %r0, 5;`, 3, 1, func(_, _ int) uint32 { return 5 }},
		"vectors through shared memory": {`
			shl.b32 %r5, %r1, 4;
			mov.u32 %r6, s;
			add.s32 %r6, %r6, %r5;
			add.s32 %r8, %r1, 1;
			st.shared.v4.u32 [%r6], {%r1, %r8, %r1, %r8};
			bar.sync 0;
			xor.b32 %r5, %r5, 16;
			mov.u32 %r6, s;
			add.s32 %r6, %r6, %r5;
			ld.shared.v2.u32 {%r9, %r0}, [%r6+8];`, 1, 64, func(_, i int) uint32 { return uint32(i^1) + 1 }},
		"a sum of the warp": {`
			redux.sync.add.s32 %r0, %r1, -1;`, 1, 32, func(_, _ int) uint32 { return 496 }},
		"the leader": {`
			elect.sync _|%p1, -1;
			selp.u32 %r0, 1, 0, %p1;
			match.any.sync.b32 %r5, %r0, -1;
			popc.b32 %r5, %r5;
			shl.b32 %r5, %r5, 8;
			or.b32 %r0, %r0, %r5;`, 1, 32, func(_, i int) uint32 {
			if i == 0 {
				return 1<<8 | 1
			}
			return 31 << 8
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				r := runText(t, c.body, c.blocks, c.threads, seed)
				require.Empty(t, r.finds, "%+v", r.rep.Findings)
				for i, v := range r.out {
					require.Equal(t, c.want(i/c.threads, i%c.threads), v, "thread %d", i)
				}
			}
		})
	}
}

// TestFinds runs kernels with a mistake each.
func TestFinds(t *testing.T) {
	for name, c := range map[string]struct {
		body            string
		blocks, threads int
		want            machine.Check
		says            string
	}{
		"a barrier in a branch":           {"setp.lt.s32 %p1, %r1, 16; @%p1 bra $x; bar.sync 0; $x: mov.u32 %r0, 1; bar.warp.sync 0xffff;", 1, 32, machine.Divergent, "have ended"},
		"a barrier after an early end":    {"setp.lt.s32 %p1, %r1, 32; @%p1 ret; bar.sync 0;", 1, 64, machine.Divergent, "of which 32 have ended"},
		"a barrier of one warp":           {"setp.lt.s32 %p1, %r1, 32; @%p1 bra $x; bar.sync 1, 64; $x: mov.u32 %r0, 1;", 1, 64, machine.Deadlock, "waits at barrier 1"},
		"a phase that nobody ends":        {"mov.u32 %r7, s; setp.eq.s32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [%r7], 2; bar.sync 0; $w: mbarrier.try_wait.parity.shared.b64 %p2, [%r7], 0; @!%p2 bra $w;", 1, 32, machine.Deadlock, "has 0 of 2 arrivals"},
		"a shuffle from who is not there": {"setp.lt.s32 %p1, %r1, 16; @%p1 bra $x; shfl.sync.idx.b32 %r0, %r1, 0, 31, 0xffff0000; $x: ;", 1, 32, machine.NoLane, "lane 0"},
		"a register nobody wrote":         {"add.s32 %r0, %r30, 1;", 1, 32, machine.Register, "%r30"},
		"past the output":                 {"mov.u32 %r2, 1;", 1, 32, machine.OutOfBounds, "of out, which has 128"},
		"an odd address":                  {"add.u64 %rd0, %rd0, 2;", 1, 32, machine.Misaligned, "no multiple of 4"},
		"what nobody wrote":               {"ld.shared.u32 %r0, [s];", 1, 32, machine.Uninitialised, "byte 0 of shared memory"},
		"two threads, no barrier":         {"setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], %r1; setp.eq.s32 %p1, %r1, 40; @%p1 ld.shared.u32 %r0, [s];", 1, 64, machine.Race, ""},
		"two blocks":                      {"mov.u64 %rd5, flag; st.global.u32 [%rd5], %r1;", 2, 1, machine.Race, "block [0 0 0]"},
		"a counter of the block only":     {"mov.u64 %rd5, flag; atom.add.cta.global.u32 %r0, [%rd5], 1;", 2, 1, machine.WrongScope, "scope of a block"},
		"it does not end":                 {"$x: bra $x;", 1, 1, machine.Deadlock, "goes round"},
		"it stops itself":                 {"trap;", 1, 1, machine.Unsupported, "stops itself"},
	} {
		t.Run(name, func(t *testing.T) {
			r := runText(t, c.body, c.blocks, c.threads, 0)
			require.NotEmpty(t, r.finds)
			require.Equal(t, c.want, r.finds[0], r.rep.Findings[0].Message)
			require.Contains(t, r.rep.Findings[0].Message, c.says)
			line, _ := r.rep.Line(r.rep.Findings[0].PC)
			require.Positive(t, line)
		})
	}
}

// TestOrderShows: results that depend on the order of lanes or blocks differ between schedules.
func TestOrderShows(t *testing.T) {
	for name, body := range map[string]string{
		"lanes":  "atom.exch.shared.b32 %r5, [s], %r1; bar.sync 0; ld.shared.u32 %r0, [s];",
		"blocks": "mov.u64 %rd5, flag; atom.add.global.u32 %r0, [%rd5], 1;",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "lanes" {
				body = "setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], %r1; bar.sync 0; " + body
			}
			first := runText(t, body, 4, 32, 0)
			require.Empty(t, first.finds)
			require.NotEqual(t, first.out, runText(t, body, 4, 32, 1).out)
		})
	}
}

// TestUnsupported: what the package does not have is refused with its line before anything runs.
func TestUnsupported(t *testing.T) {
	for body, want := range map[string]string{
		"tex.1d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [s, {%r4}];": "the instruction tex.1d.v4.f32.f32 is not supported",
		"ld.shared.weird.u32 %r0, [s];":                    "ld.shared.weird.u32: the modifier .weird is not supported",
		"mov.u32 %r0, %clusterid.x;":                       "%clusterid.x is not supported",
		"ld.global.u32 %r0, [s];":                          "s is not in the space of the instruction",
		"shfl.sync.idx.b32 %r0, %r1, 0, 31;":               "expected 5 operands, but got 4",
	} {
		m, err := ptx.Parse("k.ptx", []byte(text(body)))
		require.NoError(t, err)
		_, err = Compile(m, "k")
		require.ErrorContains(t, err, want)
		require.True(t, strings.HasPrefix(err.Error(), "k.ptx:15: "), err)
	}
}
