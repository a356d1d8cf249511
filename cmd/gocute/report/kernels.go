package report

// List is the object of gocute list.
type List struct {
	Kernels   []Kernel    `json:"kernels"`
	Families  []Family    `json:"families"`
	Generated []Generated `json:"generated"` // packages that gocute gen wrote
	Failure
}

// Kernel is a kernel with its launcher's arguments.
type Kernel struct {
	Name     string `json:"name"`     // of the emitted function
	Function string `json:"function"` // the Go function that returns it
	Package  string `json:"package"`  // its import path
	Position
	Threads   int        `json:"threadsPerBlock"`
	Doc       []string   `json:"doc,omitempty"` // what k.Doc says, a paragraph each
	Arguments []Argument `json:"arguments"`     // in the launcher's order
}

// Argument is a tensor, a dim or a scalar of a kernel.
type Argument struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`                 // tensor, dim or scalar
	Elem       string `json:"elem,omitempty"`       // of a tensor or a scalar: f16, f32, …
	Access     string `json:"access,omitempty"`     // of a tensor: in, out or inout
	Layout     string `json:"layout,omitempty"`     // of a tensor: shape:stride
	MultipleOf int64  `json:"multipleOf,omitempty"` // of a dim
	AtLeast    int64  `json:"atLeast,omitempty"`    // of a dim
	AtMost     int64  `json:"atMost,omitempty"`     // of a dim
}

// Family is a family of kernels that gocute tune chooses from.
type Family struct {
	Name     string `json:"name"`
	Function string `json:"function"`
	Package  string `json:"package"`
	Position
	Candidates int `json:"candidates"`
}

// Generated is a package that gocute gen wrote.
type Generated struct {
	Name   string `json:"name"` // of the kernel
	Folder string `json:"folder"`
}

// Gen is the object of gocute gen.
type Gen struct {
	Kernels []GeneratedKernel `json:"kernels"`
	// LeftOver are the folders of kernels that are no more.
	LeftOver []string `json:"leftOver"`
	Removed  []string `json:"removed"` // with --prune: the folders that were removed
	// UpToDate is what --check found. It is left out without that flag.
	UpToDate *bool `json:"upToDate,omitempty"`
	Failure
}

// GeneratedKernel is a kernel's generated package.
type GeneratedKernel struct {
	Name   string `json:"name"`
	Folder string `json:"folder"`
	State  string `json:"state"` // new, changed or up to date
}

// Build is the object of gocute build.
type Build struct {
	Compiler string         `json:"compiler,omitempty"` // nvcc or nvrtc
	Version  string         `json:"compilerVersion,omitempty"`
	Origin   string         `json:"compilerOrigin,omitempty"` // how it was found
	Kernels  []BuiltKernel  `json:"kernels"`
	Warnings []BuildWarning `json:"warnings"`
	Failure
}

// BuiltKernel is a kernel with its images.
type BuiltKernel struct {
	Name   string  `json:"name"`
	Folder string  `json:"folder"`
	Images []Image `json:"images"`
}

// Image is a cubin or a PTX file.
type Image struct {
	Arch    string `json:"arch"` // sm_80, compute_80, …
	Kind    string `json:"kind"` // cubin or ptx
	File    string `json:"file"`
	Bytes   int    `json:"bytes"`
	Cached  bool   `json:"cached"`  // the compiler did not run
	Seconds Number `json:"seconds"` // of the compiler, all steps to the image, now or when it was cached
	// Resources is what ptxas reports for a cubin. It is left out where ptxas says nothing.
	Resources *Resources `json:"resources,omitempty"`
}

// Resources are what a kernel takes on one architecture.
type Resources struct {
	Registers   int `json:"registersPerThread"`
	SpillStores int `json:"spillStoreBytesPerThread"`
	SpillLoads  int `json:"spillLoadBytesPerThread"`
	Stack       int `json:"stackBytesPerThread"`
	Shared      int `json:"sharedBytesPerBlock"` // static and dynamic
}

// BuildWarning is what the compiler warns of.
type BuildWarning struct {
	Kernel  string `json:"kernel,omitempty"` // left out where the compiler as such is meant
	Message string `json:"message"`
}
