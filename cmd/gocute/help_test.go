package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
)

// commands are the paths of all commands, those above others among them.
func commands(t *testing.T) [][]string {
	t.Helper()
	parser, err := kong.New(&cli{})
	require.NoError(t, err)
	out := [][]string{{}}
	require.NoError(t, kong.Visit(parser.Model.Node, func(n kong.Visitable, next kong.Next) error {
		if c, ok := n.(*kong.Node); ok && c.Type == kong.CommandNode && !c.Hidden {
			out = append(out, strings.Fields(commandPath(c)))
		}
		return next(nil)
	}))
	require.Greater(t, len(out), 20)
	return out
}

// pages are all pages of help: of each command, by both ways, and of each topic.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range commands(t) {
		text := gocute(t, t.TempDir(), append(slices.Clone(path), "--help")...).ok(t).stdout
		require.NotEmpty(t, text)
		if len(path) > 0 {
			require.Equal(t, text, gocute(t, t.TempDir(), append([]string{"help"}, path...)...).ok(t).stdout)
		}
		out[strings.Join(path, " ")] = text
	}
	for _, topic := range topicNames() {
		out["help "+topic] = gocute(t, t.TempDir(), "help", topic).ok(t).stdout
	}
	return out
}

// TestHelpWidth: no line of help is longer than 100 columns, on a narrow terminal or a wide one.
func TestHelpWidth(t *testing.T) {
	for _, columns := range []string{"", "300"} {
		t.Setenv("COLUMNS", columns)
		for page, text := range pages(t) {
			for line := range strings.Lines(text) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), helpWidth, "%s: %s", page, line)
			}
		}
	}
}

func TestHelpTopics(t *testing.T) {
	o := gocute(t, t.TempDir(), "help").ok(t)
	for _, topic := range topicNames() {
		require.Regexp(t, `(?m)^  `+topic+` +\S`, o.stdout)
	}
	for _, path := range commands(t)[1:] {
		require.Contains(t, o.stdout, "  "+path[0]+" ")
	}
	gocute(t, t.TempDir(), "help", "environmint").fails(t, 2,
		"gocute help: there is no command or topic environmint; did you mean environment?\nRun gocute help for a list of both\n")
	require.Equal(t, 2, gocute(t, t.TempDir(), "help", "find", "swizle").status)
	require.Equal(t, gocute(t, t.TempDir(), "version").ok(t), gocute(t, t.TempDir(), "--version").ok(t))
}

var variable = regexp.MustCompile(`"(GOCUTE_[A-Z_]+)"`)

// TestEnvironmentTopic: every variable of gocute's own that the code names is in gocute help environment.
func TestEnvironmentTopic(t *testing.T) {
	text := gocute(t, t.TempDir(), "help", "environment").ok(t).stdout
	seen := 0
	require.NoError(t, filepath.WalkDir(repository(t), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "tests" || d.Name() == "internal" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		for _, m := range variable.FindAllSubmatch(data, -1) {
			seen++
			require.Contains(t, text, "  "+string(m[1])+"\n", "%s reads it", path)
		}
		return err
	}))
	require.GreaterOrEqual(t, seen, 5)
}

// exampleKernels is a package with the kernels that the examples name, and a family that is smaller than the library's.
const exampleKernels = `package kernels

import (
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/kernels"
)

func GEMMF16() *dsl.Kernel  { return kernels.GEMMF16() }
func Copy4x32() *dsl.Kernel { return kernels.Copy4x32() }
func Copy4x64() *dsl.Kernel { return kernels.Copy4x64() }
func MMATile() *dsl.Kernel  { return kernels.MMATile() }

func GEMMFamily() *dsl.Family {
	f := kernels.GEMMFamily()
	f.Candidates = f.Candidates[:2]
	f.Shapes = []map[string]int64{{"M": 64, "N": 64, "K": 64}}
	return f
}
`

var example = regexp.MustCompile(`^( {2}| {4})gocute `) // what is indented more is a flag's help

// examples are the command lines in a page: indented, one a line.
func examples(page string) []string {
	var out []string
	for line := range strings.Lines(page) {
		text := strings.TrimSpace(line)
		if example.MatchString(line) {
			text, _, _ = strings.Cut(text, " > ")
			out = append(out, strings.TrimPrefix(text, "gocute "))
		}
	}
	return out
}

// TestExamples runs every example of every page, in a module that has what they name.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs and compiles kernels")
	}
	_, noCompiler := build.Find(t.Context(), build.Options{NoInstall: true})
	_, noGPU := cuda.Count()
	pictures, err := os.ReadFile(filepath.Join(repository(t), "docs", "pictures.md"))
	require.NoError(t, err)
	dir := foreign(t, map[string]string{"kernels/kernels.go": exampleKernels, "docs/pictures.md": string(pictures)})
	all, seen := pages(t), map[string]bool{}
	for _, path := range commands(t) { // in the order of the help: gen and build make what later ones read
		page := strings.Join(path, " ")
		if len(path) == 1 && page != "help" {
			require.NotEmpty(t, examples(all[page]), "gocute %s --help has no example", page)
		}
	}
	var order []string
	for _, path := range commands(t) {
		order = append(order, examples(all[strings.Join(path, " ")])...)
	}
	for _, topic := range topicNames() {
		order = append(order, examples(all["help "+topic])...)
	}
	for _, line := range order {
		if seen[line] {
			continue
		}
		seen[line] = true
		words, err := shellWords(line)
		require.NoError(t, err)
		compiles := words[0] == "build" || slices.Contains(words, "--bundle")
		measures := words[0] == "tune" && !slices.Contains(words, "--bundle") && !slices.Contains(words, "--dry-run")
		if compiles && noCompiler != nil || words[len(words)-1] == "gemm.bundle" && noCompiler != nil {
			t.Logf("not run without a compiler: %s", line)
			continue
		}
		o := gocute(t, dir, words...)
		if measures && noGPU != nil {
			require.Equal(t, 1, o.status, line)
			require.Contains(t, o.stderr, "gocute tune measures on a GPU", line)
			continue
		}
		require.Zero(t, o.status, "%s\n%s%s", line, o.stdout, o.stderr)
		require.NotEmpty(t, o.stdout+strings.Join(names(tree(t, dir)), ""), line)
	}
	require.Greater(t, len(seen), 30)
}
