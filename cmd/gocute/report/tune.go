package report

// Tune is the object of gocute tune.
type Tune struct {
	Family string `json:"family,omitempty"`
	Device string `json:"device,omitempty"` // that it is tuned for
	Arch   string `json:"arch,omitempty"`
	// Measured is false for --dry-run and --bundle.
	Measured   bool            `json:"measured"`
	Table      string          `json:"table,omitempty"`  // the file that the results went to
	Bundle     string          `json:"bundle,omitempty"` // the folder that --bundle wrote
	Candidates []TuneCandidate `json:"candidates"`
	Shapes     []TuneShape     `json:"shapes"`
	Failure
}

// TuneCandidate is a member of the family.
type TuneCandidate struct {
	Config    string `json:"config"`
	LeftOut   string `json:"leftOut,omitempty"` // why it is not measured
	Threads   int    `json:"threadsPerBlock"`
	Shared    int    `json:"sharedBytesPerBlock"`
	Fragments int    `json:"fragmentRegistersPerThread"`
	Registers int    `json:"registersPerThread,omitempty"` // left out where it was not compiled
	Blocks    int    `json:"blocksPerSM,omitempty"`        // left out where it was not compiled
}

// TuneShape is one set of dims and scalars.
type TuneShape struct {
	Dims    map[string]int64  `json:"dims"`
	Scalars map[string]Number `json:"scalars,omitempty"`
	// Unreferenced is why the candidates are compared with each other instead of a reference.
	Unreferenced string        `json:"unreferenced,omitempty"`
	Refused      []TuneRefused `json:"refused"` // candidates that cannot be launched at this shape
	Results      []TuneResult  `json:"results"` // the fastest first
}

// TuneRefused is a candidate that cannot be launched at a shape.
type TuneRefused struct {
	Config string `json:"config"`
	Reason string `json:"reason"`
}

// TuneResult is what was measured of one candidate at one shape.
type TuneResult struct {
	Config  string `json:"config"`
	Seconds Number `json:"seconds,omitempty"`             // of one launch, the median of the rounds; left out if none is usable
	Rate    Number `json:"operationsPerSecond,omitempty"` // left out where the work is not known
	Checked string `json:"checkedBy,omitempty"`
	Wrong   string `json:"wrong,omitempty"` // why it is not used
}
