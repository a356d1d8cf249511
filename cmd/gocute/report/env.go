package report

// Env is the object of gocute env. What is broken stands in errors.
type Env struct {
	Version      string            `json:"version"`                // of gocute
	Go           string            `json:"go,omitempty"`           // what go version prints
	Module       string            `json:"module,omitempty"`       // path of the go.mod or go.work in use
	Compilers    []EnvCompiler     `json:"compilers"`              // nvcc and NVRTC
	HostCompiler string            `json:"hostCompiler,omitempty"` // path and version
	Cache        EnvCache          `json:"cache"`
	GPU          string            `json:"gpu,omitempty"`   // name and architecture of the first one
	NoGPU        string            `json:"noGPU,omitempty"` // why there is none
	Variables    map[string]string `json:"variables"`       // the environment variables of docs/environment.md that are set
	Failure
}

// EnvCompiler is a compiler that gocute can use.
type EnvCompiler struct {
	Name    string     `json:"name"`              // nvcc or nvrtc
	Version string     `json:"version,omitempty"` // of the one in use
	Path    string     `json:"path,omitempty"`    // of the one in use; left out if there is none
	Origin  string     `json:"origin,omitempty"`  // where it was found: an environment variable, PATH, a folder or installed
	Places  []EnvPlace `json:"places"`            // all that were looked at, in order
}

// EnvPlace is a place where a compiler was looked for.
type EnvPlace struct {
	Origin  string `json:"origin"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Reason  string `json:"reason,omitempty"` // why it is not the one in use; left out for that one
}

// EnvCache is the cache of compiled objects.
type EnvCache struct {
	Dir        string `json:"dir"`
	Objects    int    `json:"objects"`
	Bytes      int64  `json:"bytes"`
	LimitBytes int64  `json:"limitBytes"` // 0 for none
}

// Clean is the object of gocute clean.
type Clean struct {
	Dir        string   `json:"dir"`        // the cache folder
	Objects    int      `json:"objects"`    // removed
	Bytes      int64    `json:"bytes"`      // freed
	Toolchains []string `json:"toolchains"` // folders of installed compilers, removed
	Failure
}
