package lower

import (
	"fmt"

	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/internal/text"
)

// mistake is what a user's function did wrong when lowering called it, after its first call had been right.
type mistake struct {
	pos  cir.Pos
	what string
}

// again calls a user's function of elements, which dsl has called before.
func again[V any](pos cir.Pos, f func() V) (v V) {
	defer func() {
		if r := recover(); r != nil {
			panic(mistake{pos, fmt.Sprintf("the function given to this operation panicked when it was called again: %v", r)})
		}
		if any(v) == nil {
			panic(mistake{pos, "the function given to this operation returned a value that was never set when it was called again: its result must depend on its arguments only"})
		}
	}()
	return f()
}

// caught is the error for a panic while a kernel is lowered.
func caught(kernel string, r any) error {
	if m, ok := r.(mistake); ok {
		return fmt.Errorf("%s:%d: %s: %s", m.pos.File, m.pos.Line, kernel, text.Short(m.what, 400))
	}
	return fmt.Errorf("internal error: %s: %v", kernel, r)
}
