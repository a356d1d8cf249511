package report

// Run is the object of gocute run. All but the errors is left out where the kernel could not be run.
type Run struct {
	*Outcome
	Failure
}

// Outcome is what one run of a kernel came to.
type Outcome struct {
	Kernel  string `json:"kernel"`
	Verdict string `json:"verdict"` // pass, fail, or ran where the kernel has no reference to compare with

	Dims     map[string]int64  `json:"dims"`
	Scalars  map[string]Number `json:"scalars"`
	Defaults []string          `json:"defaults"` // the dims and scalars that were not given
	Seed     int64             `json:"seed"`     // of the inputs

	On      string `json:"on"`              // emulator, the name of the GPU, or nowhere: the grid is empty
	Note    string `json:"note,omitempty"`  // why the emulator took the GPU's place
	Image   string `json:"image,omitempty"` // what was loaded on the GPU
	Seconds Number `json:"seconds"`         // the median of the runs; of the emulator, wall time
	Runs    int    `json:"runs"`            // that the time is the median of
	Blocks  int64  `json:"blocks,omitempty"`
	// Schedules are the emulator's orders of warps. They are left out on a GPU.
	Schedules []uint64 `json:"schedules,omitempty"`

	Outputs  []Output  `json:"outputs"`
	Findings []Finding `json:"findings"`
	// Further counts occurrences of findings that are not listed.
	Further int64 `json:"furtherOccurrences,omitempty"`
}

// Output is a tensor that the kernel writes.
type Output struct {
	Name     string  `json:"name"`
	Elem     string  `json:"elem"`
	Extents  []int64 `json:"extents"`
	Elements int64   `json:"elements"`
	// Compared is how many elements were compared: 0 without a reference, fewer than elements for a sample.
	Compared int64 `json:"compared"`
	Wrong    int64 `json:"wrong"` // of those compared
	// Comparison is left out where there is no reference.
	Comparison *Comparison `json:"comparison,omitempty"`
	Unwritten  int64       `json:"unwritten"`      // elements that no thread wrote
	Outside    int64       `json:"writtenOutside"` // elements beside the tensor that were changed
}

// Comparison is how far an output is from its reference.
type Comparison struct {
	MaxError Number  `json:"maxError"`           // absolute
	At       []int64 `json:"at,omitempty"`       // the coordinate of it
	Got      Number  `json:"got"`                // there
	Expected Number  `json:"expected"`           // there
	Relative Number  `json:"relativeError"`      // Frobenius norm of the errors over that of the expected values
	RMS      Number  `json:"rootMeanSquare"`     // of the expected values that are finite
	NaNs     int64   `json:"expectedNaNs"`       // expected values that are NaN, which any NaN meets
	Infs     int64   `json:"expectedInfinities"` // expected values that are infinite, which one of the same sign meets
	// Allowed is absolute: the stated tolerance times rootMeanSquare. A larger error is right where it is one rounding of
	// the element type.
	Allowed Number `json:"allowedError"`
}

// Finding is one thing that is wrong with a kernel. gocute help findings explains each kind.
type Finding struct {
	Kind   string `json:"kind"` // such as race; the ruleId in SARIF
	Kernel string `json:"kernel"`
	// Position is the line of the access; the kernel's function where no line is known.
	Position
	// Related is the line of the other access, such as the earlier one of a race.
	Related *Position `json:"related,omitempty"`
	Message string    `json:"message"`
	Remedy  string    `json:"remedy,omitempty"`
	Memory  string    `json:"memory,omitempty"`  // the tensor, the shared array or the fragment
	Index   *int64    `json:"index,omitempty"`   // of the element in it
	At      []int64   `json:"at,omitempty"`      // the coordinate of the element, where index is left out
	Block   *[3]int64 `json:"block,omitempty"`   // blockIdx x, y, z, of the first occurrence
	Threads []int     `json:"threads,omitempty"` // threadIdx.x of the access, then of the other one
	Count   int64     `json:"count"`             // occurrences
}

// Check is the object of gocute check.
type Check struct {
	Kernels []Checked `json:"kernels"`
	// Mutants are what --mutate tells, in place of kernels.
	Mutants []Mutants `json:"mutants,omitempty"`
	Failure
}

// Checked is what gocute check knows of one kernel.
type Checked struct {
	Outcome
	// Exact is the run in the field of 2^61-1 elements. It is left out where the kernel has none: notExact says why.
	Exact    *Exact `json:"exact,omitempty"`
	NotExact string `json:"notExact,omitempty"`
	Cost     *Cost  `json:"cost,omitempty"` // left out where the grid is empty
	// Budgets are those that the kernel states.
	Budgets []Budget `json:"budgets"`
}

// Exact is the comparison in the field of 2^61-1 elements.
type Exact struct {
	Compared int64 `json:"compared"` // elements
	Wrong    int64 `json:"wrong"`    // of those
}

// Cost is what the launch costs.
type Cost struct {
	Traffic      []Traffic        `json:"globalTraffic"`
	Instructions map[string]int64 `json:"warpInstructions"` // by kind, each counted once a warp
	Threads      int              `json:"threadsPerBlock"`
	Shared       int              `json:"sharedBytesPerBlock"`
	// Compiled is what ptxas reports, for each architecture. It is empty where no nvcc was found.
	Compiled  []Compiled  `json:"compiled"`
	Occupancy []Occupancy `json:"occupancy"`
	Accesses  []Access    `json:"accesses"`
}

// Compiled is what a kernel takes on one architecture.
type Compiled struct {
	Arch string `json:"arch"` // such as sm_90
	Resources
}

// Traffic is what is moved of one tensor in global memory.
type Traffic struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Least int64  `json:"leastBytes"` // each element once in each direction declared
}

// Occupancy is how many blocks an SM holds.
type Occupancy struct {
	Arch     string `json:"arch"`
	Blocks   int    `json:"blocksPerSM"`
	Fraction Number `json:"fractionOfThreads"` // of the threads that the SM can hold, 0 to 1
}

// Access is what the accesses of one line to one memory cost.
type Access struct {
	Position
	Kind     string `json:"kind"`  // such as load.global
	Space    string `json:"space"` // global or shared
	Memory   string `json:"memory"`
	Width    int    `json:"bytesPerThread"`
	Requests int64  `json:"requests"` // instructions, once a warp
	Bytes    int64  `json:"bytes"`
	// Sectors of 32 bytes are counted in global memory, conflicts in shared memory.
	Sectors      *int64 `json:"sectors,omitempty"`
	LeastSectors *int64 `json:"leastSectors,omitempty"`
	Conflicts    *int64 `json:"bankConflicts,omitempty"` // passes over the banks beyond the least possible
}

// Budget is a limit that the kernel states.
type Budget struct {
	Budget  string `json:"budget"`
	Met     bool   `json:"met"`
	Problem string `json:"problem,omitempty"`
}

// Mutants are those of one kernel.
type Mutants struct {
	Kernel  string   `json:"kernel"`
	Mutants []Mutant `json:"mutants"`
}

// Mutant is a kernel from which one barrier, wait or predicate was taken, or in which one was moved.
type Mutant struct {
	What string `json:"what"`
	Position
	Caught string `json:"caught,omitempty"` // the kind of the finding that found it; left out where nothing did
	Detail string `json:"detail,omitempty"` // its message
}
