package check

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/gen/cir"
)

// TensorMaps says what the copy engine is told of a kernel's tensors for some dims, in the order of the kernel's Maps: all
// but the tensors' addresses.
func TensorMaps(c *cir.Kernel, value func(*sym.Symbol) (int64, bool)) ([]cuda.TensorMapSpec, error) {
	out := make([]cuda.TensorMapSpec, len(c.Maps))
	for i, m := range c.Maps {
		if err := cir.CheckTensorMap(m); err != nil {
			return nil, fmt.Errorf("internal error: %s: %s: %w", c.Name, m.Name, err)
		}
		s := &out[i]
		s.Elem, s.Rank, s.Swizzle = m.Of.Elem, len(m.Box), m.Swizzle
		for d := range m.Box {
			var err error
			s.Box[d] = m.Box[d]
			if s.Extents[d], err = m.Extents[d].Eval(value); err == nil {
				s.Strides[d], err = m.Strides[d].Eval(value)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", c.Name, m.Name, err)
			}
		}
	}
	return out, nil
}
