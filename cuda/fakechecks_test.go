//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// kind is what a handle of the fake driver is of.
type kind string

const (
	aStream   kind = "stream"
	anEvent   kind = "event"
	aModule   kind = "module"
	aFunction kind = "function"
)

// handle is something live: where it lives, and the handle that it goes away with.
type handle struct {
	kind    kind
	context uint64
	of      uint64
}

// checks is what the fake driver knows of live things, and what it was given that a driver must not be given.
type checks struct {
	handles    map[uint64]handle
	last       uint64 // handle
	retained   map[uint64]int
	owner      map[uint64]uint64 // the context of each allocation
	shared     map[uint64]int32  // dynamic shared memory that was asked for, by function
	strict     bool              // one goroutine, arguments of 8 bytes are addresses
	violations []string
}

func newChecks() checks {
	return checks{handles: map[uint64]handle{}, retained: map[uint64]int{}, owner: map[uint64]uint64{}, shared: map[uint64]int32{}}
}

// bad notes a violation.
func (f *fake) bad(format string, args ...any) int32 {
	f.violations = append(f.violations, fmt.Sprintf(format, args...))
	return int32(InvalidValue)
}

// make is a new handle in the current context.
func (f *fake) make(k kind, of uint64) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	f.handles[f.last] = handle{k, f.current, of}
	return f.last
}

// live notes handles that are not of a kind, or of another context; 0 is the default stream.
func (f *fake) live(op string, k kind, h uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	have, ok := f.handles[h]
	if k == aStream && h == 0 && f.retained[f.current] > 0 {
		return true
	}
	if !ok || have.kind != k || f.strict && have.context != f.current {
		f.bad("%s of %s %#x, which is %v", op, k, h, have)
		return false
	}
	return true
}

// drop ends the life of a handle and of all that goes away with it.
func (f *fake) drop(h uint64) {
	delete(f.handles, h)
	for other, x := range f.handles {
		if x.of == h {
			delete(f.handles, other)
		}
	}
}

func contextOf(dev int32) uint64 { return fakeContext - 1 + uint64(dev) }

func (f *fake) retain(out *uint64, dev int32) int32 {
	r := f.enter("retain")
	if r == 0 {
		*out = contextOf(dev)
		f.retained[*out]++
	}
	return int32(r)
}

// release frees what lives in a context with its last holder.
func (f *fake) release(dev int32) int32 {
	c := contextOf(dev)
	if f.retained[c]--; f.retained[c] < 0 {
		return f.bad("a context was released more often than retained")
	}
	if f.retained[c] == 0 {
		for h, x := range f.handles {
			if x.context == c {
				delete(f.handles, h)
			}
		}
		for p, o := range f.owner {
			if o == c {
				delete(f.owner, p)
				delete(f.mem, p)
			}
		}
	}
	return int32(f.enter("cuDevicePrimaryCtxRelease_v2"))
}

// span is n bytes at p of one allocation, in the current context.
func (f *fake) span(op string, p, n uint64) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for base, m := range f.mem {
		if p >= base && p-base <= uint64(len(m)) && n <= uint64(len(m))-(p-base) && n > 0 {
			if f.strict && f.owner[base] != f.current {
				break
			}
			return m[p-base:][:n], true
		}
	}
	f.bad("%s of %d bytes at %#x", op, n, p)
	return nil, false
}

// fakeMemory is more than tests need; beyond it the fake has no room.
const fakeMemory = 64 << 20

func (f *fake) alloc(p *uint64, n uint64) int32 {
	if r := f.enter("cuMemAlloc_v2"); r != 0 {
		return int32(r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n == 0 || f.retained[f.current] == 0 {
		return f.bad("cuMemAlloc of %d bytes in context %#x", n, f.current)
	}
	if n > fakeMemory {
		return int32(OutOfMemory)
	}
	*p, f.mem[f.next], f.owner[f.next] = f.next, make([]byte, n), f.current
	f.next += (n + 511) &^ 255
	return 0
}

func (f *fake) free(p uint64) int32 {
	if _, ok := f.mem[p]; !ok || f.strict && f.owner[p] != f.current {
		return f.bad("cuMemFree of %#x", p)
	}
	delete(f.mem, p)
	delete(f.owner, p)
	return int32(f.enter("cuMemFree_v2"))
}

// checked adds the functions that take addresses and handles and do little with them.
func (f *fake) checked(m map[string]any) {
	m["cuDevicePrimaryCtxRelease_v2"] = f.release
	m["cuMemAlloc_v2"], m["cuMemFree_v2"] = f.alloc, f.free
	m["cuMemcpyHtoD_v2"] = func(dst uint64, src *byte, n uint64) int32 {
		if to, ok := f.span("cuMemcpyHtoD", dst, n); ok {
			copy(to, unsafe.Slice(src, n))
		}
		return int32(f.enter("cuMemcpyHtoD_v2"))
	}
	m["cuMemcpyDtoH_v2"] = func(dst *byte, src, n uint64) int32 {
		if from, ok := f.span("cuMemcpyDtoH", src, n); ok {
			copy(unsafe.Slice(dst, n), from)
		}
		return int32(f.enter("cuMemcpyDtoH_v2"))
	}
	m["cuMemcpyDtoD_v2"] = func(dst, src, n uint64) int32 {
		to, ok1 := f.span("cuMemcpyDtoD to", dst, n)
		from, ok2 := f.span("cuMemcpyDtoD from", src, n)
		if !ok1 || !ok2 || dst < src+n && src < dst+n {
			return f.bad("cuMemcpyDtoD of %d bytes from %#x to %#x", n, src, dst)
		}
		copy(to, from)
		return 0
	}
	for name, k := range map[string]kind{"cuStreamDestroy_v2": aStream, "cuEventDestroy_v2": anEvent, "cuModuleUnload": aModule} {
		m[name] = func(h uint64) int32 {
			if h == 0 || !f.live(name, k, h) {
				return f.bad("%s of %#x", name, h)
			}
			f.drop(h)
			return int32(f.enter(name))
		}
	}
	for name, ks := range map[string][2]kind{"cuStreamSynchronize": {aStream}, "cuStreamQuery": {aStream}, "cuStreamWaitEvent": {aStream, anEvent},
		"cuEventRecord": {anEvent, aStream}, "cuEventSynchronize": {anEvent}} {
		m[name] = func(a, b uint64) int32 {
			f.live(name, ks[0], a)
			if ks[1] != "" {
				f.live(name, ks[1], b)
			}
			return int32(f.enter(name))
		}
	}
}

// launchable notes launches that a driver would refuse, or misread.
func (f *fake) launchable() {
	l := f.launched
	f.live("cuLaunchKernel", aFunction, l[0])
	f.live("cuLaunchKernel", aStream, l[8])
	shared := uint64(max(f.shared[l[0]], defaultShared))
	if min(l[1], l[2], l[3], l[4], l[5], l[6]) < 1 || l[1] > 1<<31-1 || max(l[2], l[3]) > 65535 || max(l[4], l[5]) > 1024 || l[6] > 64 ||
		l[4]*l[5]*l[6] > 1024 || l[7] > shared {
		f.bad("a launch of %v", l)
	}
}

// pointersLive notes arguments that are the address of nothing.
func (f *fake) pointersLive() {
	for _, a := range f.args {
		if f.strict && len(a) == 8 {
			if p := binary.LittleEndian.Uint64(a); p != 0 {
				f.span("cuLaunchKernel", p, 1)
			}
		}
	}
}
