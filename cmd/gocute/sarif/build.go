package sarif

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/gocute/gocute/cmd/gocute/report"
)

// Input is what a run of gocute check came to.
type Input struct {
	Version  string // of gocute
	Dir      string // the working folder, absolute, which relative files are in
	Findings []report.Finding
	Errors   []report.Error // what kept kernels from being checked
	ExitCode int
}

// builder makes one log.
type builder struct {
	Input
	root  string            // of the repository
	lines map[string][]byte // files, by path
	seen  map[string]int    // fingerprints, how often
	rules []Rule
}

// New makes a log. Files below the root of the repository, the nearest folder with .git from the working folder up, are
// relative to it; without one, to the folder of go.mod.
func New(in Input) *Log {
	b := &builder{Input: in, root: Root(in.Dir), lines: map[string][]byte{}, seen: map[string]int{}, rules: rules()}
	run := Run{
		Tool:        Tool{Driver{Name: "gocute", Version: in.Version, InformationURI: Project, Rules: b.rules}},
		Invocations: []Invocation{{Successful: true, ExitCode: in.ExitCode}},
		BaseIDs:     map[string]ArtifactLocation{sourceRoot: {URI: fileURI(b.root) + "/"}},
		Results:     []Result{},
	}
	for _, f := range in.Findings {
		run.Results = append(run.Results, b.result(f))
	}
	for _, e := range in.Errors {
		run.Invocations[0].Successful = false
		if e.File == "" {
			run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, Notification{"error", Text{e.Message}})
			continue
		}
		run.Results = append(run.Results, b.result(report.Finding{Kind: InvalidKernel, Position: e.Position, Message: e.Message}))
	}
	return &Log{Schema: schema, Version: version, Runs: []Run{run}}
}

// Root is the folder of the repository that a folder is in, or else of its module, or else the folder itself.
func Root(dir string) string {
	for _, mark := range []string{".git", "go.mod"} {
		for up := dir; ; up = filepath.Dir(up) {
			if _, err := os.Stat(filepath.Join(up, mark)); err == nil {
				return up
			}
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	return dir
}

// result is a finding as SARIF has it.
func (b *builder) result(f report.Finding) Result {
	message := f.Message
	if f.Kernel != "" {
		message = f.Kernel + ": " + message
	}
	if f.Count > 1 {
		message += fmt.Sprintf(" (%d times)", f.Count)
	}
	r := Result{RuleID: f.Kind, Level: "error", Message: Text{message}, Locations: []Location{{Physical: b.physical(f.Position)}},
		RuleIndex: slices.IndexFunc(b.rules, func(r Rule) bool { return r.ID == f.Kind })}
	if f.Kernel != "" {
		r.Locations[0].Logical = []LogicalLocation{{Name: f.Kernel, Kind: "function"}}
	}
	other := ""
	if f.Related != nil {
		r.Related = []Location{{ID: 1, Physical: b.physical(*f.Related), Message: &Text{"the other access"}}}
		other = b.text(*f.Related)
	}
	r.Fingerprints = map[string]string{"gocuteFinding/v1": b.fingerprint(f.Kind, f.Kernel, r.Locations[0].Physical.Artifact.URI,
		cmp.Or(f.Memory, f.Message), b.text(f.Position), other)}
	return r
}

// fingerprint is the same for a finding whose line moves. Those of equal findings differ in the number at their end.
func (b *builder) fingerprint(parts ...string) string {
	sum := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", parts)))[:32]
	b.seen[sum]++
	return fmt.Sprintf("%s:%d", sum, b.seen[sum])
}

// path is a position's file, absolute.
func (b *builder) path(p report.Position) string {
	if filepath.IsAbs(p.File) {
		return filepath.Clean(p.File)
	}
	return filepath.Join(b.Dir, filepath.FromSlash(p.File))
}

// physical is a position, relative to the repository if it is below it.
func (b *builder) physical(p report.Position) PhysicalLocation {
	path := b.path(p)
	at := ArtifactLocation{URI: fileURI(path)}
	if rel, ok := below(b.root, path); ok {
		at = ArtifactLocation{URI: (&url.URL{Path: rel}).String(), BaseID: sourceRoot}
	}
	return PhysicalLocation{at, Region{max(p.Line, 1)}}
}

// below is a path relative to a folder that it is in, also by way of symbolic links.
func below(root, path string) (string, bool) {
	real := func(p string) string {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			return r
		}
		return p
	}
	for _, pair := range [][2]string{{root, path}, {real(root), real(path)}} {
		if rel, err := filepath.Rel(pair[0], pair[1]); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// fileURI is the file: URI of an absolute path.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if path != "" && path[0] != '/' { // C:/…
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// text is the line of a position without blanks around it, "" where it cannot be read.
func (b *builder) text(p report.Position) string {
	path := b.path(p)
	data, read := b.lines[path]
	if !read {
		data, _ = os.ReadFile(path) // a fingerprint without the line's text is as good as there can be
		b.lines[path] = data
	}
	all := bytes.Split(data, []byte("\n"))
	if p.Line < 1 || p.Line > len(all) {
		return ""
	}
	return string(bytes.TrimSpace(all[p.Line-1]))
}
