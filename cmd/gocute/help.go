package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cmd/gocute/sarif"
)

// helpWidth is the most columns that a line of help has.
const helpWidth = 100

// helpCmd is gocute help.
type helpCmd struct {
	Topic []string `arg:"" optional:"" name:"TOPIC" help:"A command, such as run or find swizzle, or a topic. All are listed where none is given."`
}

// Help is shown by --help.
func (helpCmd) Help() string {
	return "Examples:\n\n  gocute help\n  gocute help run\n  gocute help find swizzle\n  gocute help environment\n\n" + topicList()
}

// Run prints the help of a command or a topic.
func (c *helpCmd) Run(s *session, ctx *kong.Context) error {
	if len(c.Topic) == 0 {
		if err := printHelp(s, nil); err != nil {
			return err
		}
		fmt.Fprint(s.stdout, "\n"+topicList())
		return nil
	}
	node, path := ctx.Model.Node, ""
	for _, word := range c.Topic {
		i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word && !n.Hidden })
		if i < 0 {
			return c.topic(s, ctx.Model.Node)
		}
		node, path = node.Children[i], path+" "+word
	}
	return printHelp(s, strings.Fields(path))
}

// topic prints a topic.
func (c *helpCmd) topic(s *session, root *kong.Node) error {
	name := strings.Join(c.Topic, " ")
	for _, t := range topics() {
		if t.name == name {
			fmt.Fprint(s.stdout, t.text)
			return nil
		}
	}
	known := topicNames()
	for _, n := range root.Leaves(true) {
		known = append(known, commandPath(n))
	}
	text := fmt.Sprintf("gocute help: there is no command or topic %s", name)
	if near := nearest(name, known); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return exitError{fmt.Errorf("%s\nRun gocute help for a list of both", text), 2}
}

// printHelp prints what the command prints with --help.
func printHelp(s *session, path []string) error {
	if status := command(s.ctx, s.dir, append(slices.Clone(path), "--help"), s.stdout, s.stderr); status != 0 {
		return errSilent
	}
	return nil
}

// topic is a page of help that is about no command.
type topic struct{ name, about, text string }

func topicNames() []string {
	var out []string
	for _, t := range topics() {
		out = append(out, t.name)
	}
	return out
}

// topicList has a line for each topic.
func topicList() string {
	var b strings.Builder
	b.WriteString("Topics, for gocute help TOPIC:\n\n")
	for _, t := range topics() {
		fmt.Fprintf(&b, "  %-12s %s\n", t.name, t.about)
	}
	return b.String()
}

// variables are the environment variables that gocute reads; docs/environment.md has them, too. Of those that are general
// gocute env does not tell.
var variables = []struct {
	name, means string
	general     bool
}{
	{name: build.EnvNVCC, means: "Path of the nvcc to use. If it does not work, no other is taken."},
	{name: build.EnvNVRTC, means: "Path of the NVRTC library to use. If it does not work, no other is taken."},
	{name: build.EnvNoInstall, means: "If it is 1, no compiler is ever downloaded, as with --no-install. For CI."},
	{name: build.EnvCache, means: "Folder of the installed compilers and of compiled kernels, in place of gocute in the user's cache folder."},
	{name: build.EnvLimit, means: "Size that compiled kernels may have in the cache together, such as 500MB; 2GB if not set, 0 for no limit. Those that were not used for longest go first."},
	{name: "GOCUTE_FORCE_PTX", means: "If it is 1, launchers let the driver compile PTX instead of loading a cubin."},
	{name: "GOCUTE_CUBLAS", means: "Path of the cuBLAS library to use, for benchmarks with package cuda/cublas."},
	{name: "CUDA_HOME", means: "A CUDA toolkit, in which nvcc, NVRTC and cuBLAS are looked for."},
	{name: "CUDA_PATH", means: "The same for NVRTC and cuBLAS, as CUDA's own installer sets it."},
	{name: "NVCC_CCBIN", means: "The host compiler that nvcc uses."},
	{name: "NVCC_PREPEND_FLAGS", means: "Options that nvcc puts before those that gocute gives it. They are a part of the cache's key."},
	{name: "NVCC_APPEND_FLAGS", means: "Options that nvcc puts behind those that gocute gives it. They are a part of the cache's key."},
	{name: "VIRTUAL_ENV", means: "A Python environment, in which the wheels of NVRTC and cuBLAS are looked for."},
	{name: "CONDA_PREFIX", means: "The same."},
	{name: "CPATH", means: "Where the host compiler looks for headers. It is a part of the cache's key, as are C_INCLUDE_PATH and CPLUS_INCLUDE_PATH."},
	{name: "C_INCLUDE_PATH", means: "The same."},
	{name: "CPLUS_INCLUDE_PATH", means: "The same."},
	{name: "PATH", means: "Where go, nvcc, python3 and the host compiler are looked for. Relative entries do not count.", general: true},
	{name: "LD_LIBRARY_PATH", means: "Where libraries are looked for. Relative entries do not count."},
	{name: "TMPDIR", means: "Folder for temporary files."},
	{name: "XDG_CACHE_HOME", means: "Where the user's cache folder is."},
	{name: "CUDA_VISIBLE_DEVICES", means: "Read by the CUDA driver: which GPUs there are."},
	{name: "GOFLAGS, GOWORK, GOPROXY, …", means: "Those of the go command, which loads the packages: see go help environment.", general: true},
	{name: "COLUMNS", means: "The width of help, which is 100 at most.", general: true},
}

// topics are the pages.
func topics() []topic {
	var env, found strings.Builder
	env.WriteString("gocute reads these environment variables:\n")
	for _, v := range variables {
		fmt.Fprintf(&env, "\n  %s\n%s", v.name, wrapped(v.means, "      ", helpWidth))
	}
	found.WriteString("gocute check finds these kinds of mistakes. The kind is the ruleId in SARIF and the kind in JSON.\n")
	for _, k := range sarif.Kinds() {
		fmt.Fprintf(&found, "\n  %s\n%s", k.ID, wrapped(k.Title+". "+k.Means+" "+k.Remedy, "      ", helpWidth))
	}
	return []topic{
		{"environment", "The environment variables that gocute reads.", env.String()},
		{"exit-status", "What the exit status says.", exitStatusHelp},
		{"findings", "The mistakes that gocute check finds, and what to do about each.", found.String()},
		{"json", "The objects that --json prints.", jsonHelp},
		{"kernels", "What a kernel and a family are, and how packages are named.", kernelsHelp},
	}
}

// wrapped breaks a text into lines with an indentation.
func wrapped(text, indent string, width int) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if utf8.RuneCountInString(line)+utf8.RuneCountInString(word) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
}

const exitStatusHelp = `The exit status of gocute is

  0   if all went well
  1   for any failure: a mistake in a kernel, a finding, a budget that is exceeded, a full disk
  2   for wrong usage: an unknown flag or command, an expression that cannot be read

gocute eval - reads an expression a line; a line that is wrong gives a line that begins with error:,
and the exit status stays 0. The exit status with --json is the same as without.
`

const jsonHelp = `With --json a command prints one object on standard output, and nothing else. Progress and
warnings go to standard error. docs/json.md in the repository shows an example of each object, and
the Go package github.com/gocute/gocute/cmd/gocute/report has the types.

Keys are lowerCamelCase, with the unit at their end: seconds, sharedBytesPerBlock. A position is
the keys file and line; files below the working folder are relative to it. NaN and the infinities
are the strings "NaN", "Infinity" and "-Infinity". Where the exit status is not 0, the object has
the key errors: a list of objects with message and, if a line is known, file and line.

Examples:

  gocute list --json ./kernels
  gocute eval --json '(4,8):(8,1)'
  gocute check --json copy_4x32 ./kernels
`

const kernelsHelp = `A kernel is an exported function without parameters that returns *dsl.Kernel, of the package
github.com/gocute/gocute/dsl. A family is one that returns *dsl.Family: variants of a kernel for
gocute tune to choose from. They are in a package that is not main, in any module that requires
gocute.

PKG names packages as for go build: a folder (./kernels), an import path, or a pattern (./...).
KERNEL is the kernel's name (gemm_f16) or that of its function (GEMMF16). A package that gocute
gen wrote can be given to gocute build and gocute list.

Examples:

  gocute list ./kernels
  gocute run copy_4x32 ./kernels -on cpu
`
