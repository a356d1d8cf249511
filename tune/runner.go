package tune

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/launch"
	"github.com/gocute/gocute/cuda/tuned"
	"github.com/gocute/gocute/elem"
)

// defaultShared is how much shared memory a block may have without asking.
const defaultShared = 48 << 10

// runner is a candidate on the device.
type runner struct {
	*Launch
	c      *Candidate
	result *tuned.Result
	mod    *cuda.Module
	fn     *cuda.Function
	batch  int // launches that are timed together; 0 is 1
	maps   launch.Maps
}

// launch starts the candidate on one set of buffers.
func (r *runner) launch(mem *memory, set int) error {
	args := r.fn.Args()
	defer args.Release()
	for _, a := range r.Args {
		switch {
		case a.Map != nil:
			s := *a.Map
			s.Addr = mem.address(a.Tensor, set)
			if err := r.maps.Append(args, mem.dev, &s); err != nil {
				return fmt.Errorf("%s: %s: %w", r.Config, a.Tensor, err)
			}
		case a.Tensor != "":
			args.Ptr(mem.address(a.Tensor, set))
		case a.Bytes == 1:
			args.U8(uint8(a.Bits))
		case a.Bytes == 2:
			args.U16(uint16(a.Bits))
		case a.Bytes == 4:
			args.U32(uint32(a.Bits))
		case a.Bytes == 8:
			args.U64(a.Bits)
		default:
			return fmt.Errorf("%s: expected an argument of 1, 2, 4 or 8 bytes, but got %d", r.Config, a.Bytes)
		}
	}
	if r.Grid.Empty() {
		return nil
	}
	return r.fn.Launch(cuda.LaunchConfig{Grid: cuda.Dim3(r.Grid), Block: cuda.D1(r.c.Threads), Shared: r.c.Shared}, args)
}

// batchOn times launches back to back, so that the time of launching is no part of it, and returns that of one.
func (r *runner) batchOn(mem *memory, turn int, start, stop *cuda.Event) (time.Duration, error) {
	n := max(r.batch, 1)
	if err := start.Record(nil); err != nil {
		return 0, err
	}
	for i := range n {
		if err := r.launch(mem, turn+i); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(stop.Record(nil), stop.Synchronize()); err != nil {
		return 0, err
	}
	d, err := stop.Since(start)
	return d / time.Duration(n), err
}

// calibrate makes a batch take a few milliseconds.
func (r *runner) calibrate(one time.Duration) {
	r.batch = int(min(max(batchTime/max(one, time.Microsecond), 1), maxBatch))
}

// guardBytes lie before and behind every buffer; a multiple of every alignment that kernels ask for.
const (
	guardBytes = 4096
	guardByte  = 0xa5
)

// The buffers in rotation hold several times the L2 cache together, so that one launch's data is gone at the next.
const (
	cacheTimes = 4
	maxSets    = 32
)

// memory is the shape's tensors on the device, several sets of them.
type memory struct {
	dev     *cuda.Device
	tensors []check.ProblemTensor
	host    map[string][]byte // of outputs: what they hold before a run
	bufs    map[string][]*cuda.Buffer[elem.U8]
	sets    int
}

// newMemory allocates and fills the tensors.
func newMemory(dev *cuda.Device, s *Shape, seed int64) (m *memory, err error) {
	m = &memory{dev: dev, tensors: s.Tensors, host: map[string][]byte{}, bufs: map[string][]*cuda.Buffer[elem.U8]{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.free())
			m = nil
		}
	}()
	total := int64(0)
	for i := range m.tensors {
		n, err := m.tensors[i].Size()
		if err != nil {
			return m, err
		}
		total += n + 2*guardBytes
	}
	free, _, err := dev.MemInfo()
	if err != nil {
		return m, err
	}
	if uint64(total) > free/8*7 {
		return m, fmt.Errorf("the tensors need %d MB, but %s has only %d MB free: give smaller sizes (--set)", total>>20, dev, free>>20)
	}
	want := int64(cacheTimes*dev.Info().L2Bytes)/max(total, 1) + 1
	m.sets = int(max(min(want, maxSets, int64(free)/2/max(total, 1)), 1))
	if m.sets == 1 && int64(free)/8*7 >= 2*total {
		m.sets = 2
	}
	for i := range m.tensors {
		if err := m.fill(&m.tensors[i], seed); err != nil {
			return m, fmt.Errorf("%s: %w", m.tensors[i].Name, err)
		}
	}
	return m, nil
}

// fill makes all sets of one tensor, with guards around.
func (m *memory) fill(t *check.ProblemTensor, seed int64) error {
	data, err := t.Fill(seed)
	if err != nil {
		return err
	}
	if t.Write {
		m.host[t.Name] = data
	}
	for set := range m.sets {
		b, err := cuda.Alloc[elem.U8](m.dev, len(data)+2*guardBytes)
		if err != nil {
			return err
		}
		m.bufs[t.Name] = append(m.bufs[t.Name], b)
		if set > 0 {
			if err := b.CopyBuffer(m.bufs[t.Name][0]); err != nil {
				return err
			}
			continue
		}
		if err := b.Set(guardByte); err != nil {
			return err
		}
		if err := m.upload(t.Name, data); err != nil {
			return err
		}
	}
	return nil
}

// inside is a tensor's own part of a buffer.
func (m *memory) inside(name string, set int) (*cuda.Buffer[elem.U8], error) {
	b := m.bufs[name][set%m.sets]
	return b.Slice(guardBytes, b.Len()-guardBytes)
}

func (m *memory) upload(name string, data []byte) error {
	b, err := m.inside(name, 0)
	if err != nil {
		return err
	}
	return b.CopyFrom(unsafe.Slice((*elem.U8)(unsafe.SliceData(data)), len(data)))
}

// reset gives the first set's outputs their contents before a run.
func (m *memory) reset() error {
	for name, data := range m.host {
		if err := m.upload(name, data); err != nil {
			return err
		}
	}
	return nil
}

// download reads an output of the first set, and whether the bytes around it are as they were.
func (m *memory) download(name string) (data []byte, whole bool, err error) {
	b := m.bufs[name][0]
	host, err := b.Host()
	if err != nil {
		return nil, false, err
	}
	whole = true
	for i := range guardBytes {
		whole = whole && host[i] == guardByte && host[len(host)-1-i] == guardByte
	}
	host = host[guardBytes : len(host)-guardBytes]
	return unsafe.Slice((*byte)(unsafe.SliceData(host)), len(host)), whole, nil
}

// zero clears every tensor that is read.
func (m *memory) zero() error {
	for i := range m.tensors {
		for set := range m.sets {
			if !m.tensors[i].Read {
				continue
			}
			b, err := m.inside(m.tensors[i].Name, set)
			if err == nil {
				err = b.Zero()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memory) address(name string, set int) cuda.DevicePtr {
	b := m.bufs[name][set%m.sets]
	return b.Ptr() + guardBytes
}

func (m *memory) free() error {
	var errs []error
	for _, list := range m.bufs {
		for _, b := range list {
			errs = append(errs, b.Free())
		}
	}
	return errors.Join(errs...)
}
