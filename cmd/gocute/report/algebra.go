package report

// Eval is the object of gocute eval: one result, or one for each line of standard input.
type Eval struct {
	Results []Value `json:"results"`
	Failure
}

// Value is what an expression came to.
type Value struct {
	Expression string `json:"expression"`
	Line       int    `json:"line,omitempty"` // of standard input, from 1
	// Kind is layout, tuple, integer, boolean, picture, slice, cover or other. It is left out where there is an error.
	Kind  string `json:"kind,omitempty"`
	Value string `json:"value,omitempty"` // as gocute eval prints it
	// Error is why there is no value. With - the exit status is 0 all the same.
	Error string `json:"error,omitempty"`
	Steps []Step `json:"steps,omitempty"` // with --explain
}

// Step is one operation of an expression.
type Step struct {
	Call   string `json:"call"` // the operation with its arguments' values
	Result string `json:"result"`
	Means  string `json:"means,omitempty"`
}

// FindShared is the object of gocute find swizzle and gocute find padding.
type FindShared struct {
	SharedLayout
	Failure
}

// SharedLayout is a layout of shared memory.
type SharedLayout struct {
	Layout string `json:"layout,omitempty"` // as gocute eval prints it
	Reason string `json:"reason,omitempty"`
}

// FindCopy is the object of gocute find copy.
type FindCopy struct {
	Threads string        `json:"threads,omitempty"` // layouts, as gocute eval prints them
	Values  string        `json:"values,omitempty"`
	TV      string        `json:"tv,omitempty"`
	Repeats string        `json:"repeats,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Shared  *SharedLayout `json:"shared,omitempty"` // the shared layout that its stores want
	Failure
}
