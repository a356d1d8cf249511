package launch

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

// Maps makes tensor maps and keeps the latest, since launches are often repeated on the same memory. The zero Maps is
// ready; goroutines may share one, for the same device.
type Maps struct {
	late [16]atomic.Pointer[encodedMap] // replaced as a whole
}

// encodedMap is a map with all that it was made of.
type encodedMap struct {
	spec cuda.TensorMapSpec
	m    cuda.TensorMap
}

// Append makes the map that s tells, or finds it among those kept, and appends it to the arguments of a launch.
func (c *Maps) Append(args *cuda.Args, dev *cuda.Device, s *cuda.TensorMapSpec) error {
	switch {
	case c == nil:
		return errors.New("launch: Append expects Maps, but got nil")
	case args == nil:
		return errors.New("launch: Append expects a list of arguments, but got nil")
	case s == nil:
		return errors.New("launch: Append expects a description of a tensor, but got nil")
	}
	const golden = 0x9e3779b97f4a7c15 // spreads addresses and extents over the upper bits
	at := (uint64(s.Addr) + uint64(s.Extents[0])*3 + uint64(s.Extents[1])*5 + uint64(s.Box[1])) * golden >> 60
	if e := c.late[at].Load(); e != nil && e.spec == *s {
		args.TensorMap(&e.m)
		return nil
	}
	m, err := dev.EncodeTensorMap(s)
	if err != nil {
		return err
	}
	args.TensorMap(&m)
	c.late[at].Store(&encodedMap{*s, m})
	return nil
}

// TensorMap appends what the copy engine is told of a buffer; s has all but the address. The buffer may be nil where the
// extents leave no elements.
func TensorMap[E elem.Any](c *Call, name string, b *cuda.Buffer[E], s *cuda.TensorMapSpec) {
	if !c.ready() {
		return
	}
	if s == nil {
		c.err = fmt.Errorf("%s: %s: expected a description of a tensor, but got nil", c.k.name, name)
		return
	}
	if c.err = place(c, name, b); c.err != nil {
		return
	}
	s.Addr = b.Ptr()
	if err := c.k.maps.Append(c.args, c.k.dev, s); err != nil {
		c.err = fmt.Errorf("%s: %s: %w", c.k.name, name, err)
	}
}
