package tune

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cuda/launch"
	"github.com/gocute/gocute/cuda/tuned"
	"github.com/gocute/gocute/gen"
)

const (
	bundleFormat = 1
	manifestName = "tune.json"
)

// Bundle is a family that is ready to be measured: a description and the compiled images.
type Bundle struct {
	Manifest
	Images map[string][]byte // by file name
}

// Manifest is all of a Bundle but the images.
type Manifest struct {
	Format     int
	Family     string
	Chip       Chip // what it was pruned and compiled for
	Seed       int64
	Candidates []*Candidate // in the order of the family
	Shapes     []*Shape
}

// Candidate is a member of the family and what became of it.
type Candidate struct {
	tuned.Candidate
	Image     string             `json:",omitempty"` // file name; empty if it was pruned or not compiled
	Pruned    string             `json:",omitempty"` // why it is not measured
	Estimate  int                // registers of a thread that its fragments take
	Seconds   float64            `json:",omitempty"` // of compiling
	Tolerance map[string]float64 `json:",omitempty"` // by output, of its references
}

// Shape is one set of arguments.
type Shape struct {
	Dims     map[string]int64
	Scalars  map[string]float64 `json:",omitempty"`
	Work     float64            `json:",omitempty"`
	Tensors  []check.ProblemTensor
	Launches []*Launch // of the candidates that are not pruned
	Expected []check.Sample
	// Unreferenced is why there are no expected values: the candidates are compared with each other then.
	Unreferenced string `json:",omitempty"`
}

// Launch is how a candidate is started for a shape.
type Launch struct {
	Config  string
	Refused string `json:",omitempty"` // why it cannot be
	Grid    launch.Grid
	Args    []check.ProblemArg
}

// Candidate returns the candidate of a config, nil if there is none.
func (m *Manifest) Candidate(config string) *Candidate {
	i := slices.IndexFunc(m.Candidates, func(c *Candidate) bool { return c.Config == config })
	if i < 0 {
		return nil
	}
	return m.Candidates[i]
}

// Tensor returns the tensor of a name, nil if there is none.
func (s *Shape) Tensor(name string) *check.ProblemTensor {
	i := slices.IndexFunc(s.Tensors, func(t check.ProblemTensor) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Tensors[i]
}

// Files are the bundle as files, by name.
func (b *Bundle) Files() (map[string][]byte, error) {
	data, err := json.MarshalIndent(b.Manifest, "", " ")
	if err != nil {
		return nil, fmt.Errorf("internal error: bundle of %s: %w", b.Family, err)
	}
	files := map[string][]byte{manifestName: append(data, '\n')}
	for name, image := range b.Images {
		files[name] = image
	}
	return files, nil
}

// WriteFiles puts a bundle's files into a folder, the manifest last: a folder that has one is whole.
func WriteFiles(dir string, files map[string][]byte) error {
	for name, data := range files {
		if name == manifestName {
			continue
		}
		if err := gen.WriteFile(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	return gen.WriteFile(filepath.Join(dir, manifestName), files[manifestName])
}

// ReadBundle reads a folder that WriteFiles wrote.
func ReadBundle(dir string) (*Bundle, error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, fmt.Errorf("expected a folder that gocute tune --bundle wrote: %w", err)
	}
	return parseBundle(data, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) })
}

// FromFiles is ReadBundle of files in memory.
func FromFiles(files map[string][]byte) (*Bundle, error) {
	return parseBundle(files[manifestName], func(name string) ([]byte, error) {
		if data, ok := files[name]; ok {
			return data, nil
		}
		return nil, fmt.Errorf("%s: %w", name, os.ErrNotExist)
	})
}

func parseBundle(manifest []byte, read func(name string) ([]byte, error)) (*Bundle, error) {
	b := &Bundle{Images: map[string][]byte{}}
	if err := json.Unmarshal(manifest, &b.Manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	if b.Format != bundleFormat {
		return nil, fmt.Errorf("%s: expected format %d, but got %d: it is from another release of gocute", manifestName, bundleFormat, b.Format)
	}
	if err := b.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	for _, c := range b.Candidates {
		if c.Image == "" {
			continue
		}
		data, err := read(c.Image)
		if err != nil {
			return nil, fmt.Errorf("image of %s: %w", c.Config, err)
		}
		if err := checkImage(c, data); err != nil {
			return nil, fmt.Errorf("%s, the image of %s: %w", c.Image, c.Config, err)
		}
		b.Images[c.Image] = data
	}
	return b, nil
}

// checkImage looks at an image, whose file is named CONFIG.ARCH.cubin.
func checkImage(c *Candidate, data []byte) error {
	rest, ok := strings.CutPrefix(c.Image, c.Config+".")
	arch, cubin := strings.CutSuffix(rest, ".cubin")
	if !ok || !cubin {
		return fmt.Errorf("expected a file %s.ARCH.cubin", c.Config)
	}
	return build.CheckCubin(data, arch, c.Kernel)
}
