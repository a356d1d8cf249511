package dsl

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/gocute/gocute/internal/text"
)

// Family is a set of kernels that compute the same and differ in how: tiles, stages, warps. An exported function
// without arguments that returns one makes it known to `gocute tune`, which measures its candidates.
type Family struct {
	Name       string // an identifier
	Candidates []Candidate
	// Shapes are the dims to tune for where the command line names none.
	Shapes []map[string]int64
	// Scalars are the values of scalars that the command line leaves open, by name.
	Scalars map[string]float64
	// Work is how many operations a launch does, for a rate beside the times; nil where none is wanted.
	Work func(dims map[string]int64) float64
}

// Candidate is one member of a family.
type Candidate struct {
	Config string // a short text that tells it from the others, such as 128x128x64_s3
	Kernel func() *Kernel
}

// Add appends a candidate. The function is called once the candidate's turn comes, not now.
func (f *Family) Add(config string, kernel func() *Kernel) {
	if f == nil {
		panic(never{"Add", "a Family", "that is nil"})
	}
	f.Candidates = append(f.Candidates, Candidate{Config: config, Kernel: kernel})
}

var configText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]*$`)

// Err returns what is wrong with the declaration, a line each, or nil. Mistakes in kernels are the kernels' own.
func (f *Family) Err() error {
	if f == nil {
		return errors.New("expects a family, but got nil")
	}
	var errs []error
	fail := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("family %q: %w", text.Short(f.Name, 60), fmt.Errorf(format, args...)))
	}
	if len(f.Name) > maxName || !identifier.MatchString(f.Name) {
		fail("expects a name that is an identifier of at most %d letters", maxName)
	}
	if len(f.Candidates) == 0 {
		fail("expects at least one candidate, but has none")
	}
	seen := map[string]bool{}
	for i, c := range f.Candidates {
		switch {
		case len(c.Config) > maxName || !configText.MatchString(c.Config):
			fail("candidate %d: expects a config of at most %d letters, digits, _, ., + and -, but got %q", i, maxName, text.Short(c.Config, 60))
		case seen[c.Config]:
			fail("candidate %d: expects a config of its own, but %s is another's", i, c.Config)
		case c.Kernel == nil:
			fail("candidate %s: expects a function, but got nil", c.Config)
		}
		seen[c.Config] = true
	}
	return errors.Join(errs...)
}
