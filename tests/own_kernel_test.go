package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/tuned"
	"github.com/stretchr/testify/require"
)

// pageBlock is a fenced block of a page: the words after the fence, the file that the line before names, and the text.
type pageBlock struct{ info, file, text string }

// pageBlocks lists the fenced blocks of a page in order. A line that ends in `NAME`: names the file of the block below it.
func pageBlocks(page string) []pageBlock {
	var out []pageBlock
	file := regexp.MustCompile("`([^` ]+)`:$")
	before, inside := "", false // the last line that was not blank; whether a block is open
	for line := range strings.Lines(page) {
		switch info, fence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```"); {
		case fence && inside:
			inside = false
		case fence:
			b := pageBlock{info: info}
			if m := file.FindStringSubmatch(before); m != nil {
				b.file = m[1]
			}
			out, inside, before = append(out, b), true, ""
		case inside:
			out[len(out)-1].text += line
		case strings.TrimSpace(line) != "":
			before = strings.TrimSpace(line)
		}
	}
	return out
}

// walk pastes a page into a folder: files, and commands for the shell.
type walk struct {
	t               *testing.T
	dir             string
	path            map[string]string // what stands for what in commands
	files, commands int
}

func (w *walk) file(name, text string) {
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o644))
	w.files++
}

func (w *walk) shell(text string) {
	for old, new := range w.path {
		text = strings.ReplaceAll(text, old, new)
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", text)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s\n%s", text, out)
	w.commands++
}

// TestOwnKernel pastes docs/own-kernel.md into an empty folder, block by block, by the route of a clone: every command
// succeeds, and every file compiles as it stands. The kernel and its test are those of examples/saxpy.
func TestOwnKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command a dozen times")
	}
	page, err := os.ReadFile("../docs/own-kernel.md")
	require.NoError(t, err)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	w := walk{t: t, dir: t.TempDir(), path: map[string]string{"/path/to/gocute": root}}
	for _, b := range pageBlocks(string(page)) {
		switch {
		case b.file != "":
			w.file(b.file, b.text)
			if example, err := os.ReadFile(filepath.Join("..", "examples", "saxpy", b.file)); err == nil {
				require.Equal(t, string(example), b.text, b.file)
			}
		case b.info == "sh" && strings.Contains(b.text, "@latest"): // the other route to the same go.mod
		default:
			w.shell(b.text)
			if b.info == "sh clone" {
				w.dir = filepath.Join(w.dir, "saxpy")
			}
		}
	}
	require.Equal(t, []int{3, 4}, []int{w.files, w.commands}, "files and blocks of commands")
	require.FileExists(t, filepath.Join(w.dir, "out", "saxpy", "bin", "saxpy.sm_90.cubin"))
}

// TestReadmeKernel pastes the README's kernel and its commands into a module and compares the CUDA.
func TestReadmeKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command several times")
	}
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	w := walk{t: t, dir: t.TempDir(), path: map[string]string{"/path/to/gocute": root}}
	cuda := ""
	for _, b := range pageBlocks(string(page)) {
		switch {
		case b.file != "":
			w.file(b.file, b.text)
		case b.info == "cuda":
			cuda = b.text
		case strings.Contains(b.text, "@latest"): // the other route to the same go.mod
		case b.info == "sh clone", strings.Contains(b.text, "go tool gocute"):
			w.shell(b.text)
		}
	}
	require.Equal(t, []int{1, 2}, []int{w.files, w.commands}, "files and blocks of commands")
	code, err := os.ReadFile(filepath.Join(w.dir, "out", "copy_4x32", "copy_4x32.cu"))
	require.NoError(t, err)
	require.Contains(t, string(code), cuda)
}

// TestTuning pastes docs/tuning.md in the same way, without the commands that need a GPU; the table that they would have
// measured is written here.
func TestTuning(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command several times")
	}
	page, err := os.ReadFile("../docs/tuning.md")
	require.NoError(t, err)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	w := walk{t: t, dir: t.TempDir(), path: map[string]string{"/path/to/gocute": root, "gocute tune": "go tool gocute tune"}}
	own, err := os.ReadFile("../docs/own-kernel.md")
	require.NoError(t, err)
	for _, b := range pageBlocks(string(own)) {
		if b.info == "sh clone" {
			w.shell(strings.ReplaceAll(b.text, "saxpy", "hgemm"))
		}
	}
	w.dir = filepath.Join(w.dir, "hgemm")
	for _, b := range pageBlocks(string(page)) {
		switch {
		case b.file != "":
			w.file(b.file, b.text)
		case b.info == "sh":
			w.shell(b.text)
		}
	}
	table := tuned.New("hgemm")
	d := table.On(cuda.Info{Name: "NVIDIA H200", Major: 9, Minor: 0, SMs: 132})
	for i, config := range []string{"64x64", "128x128"} {
		d.Put(&tuned.Candidate{Config: config, Kernel: "hgemm_" + config, Threads: 128, BlocksPerSM: 1, Tile: map[string]int64{"M": 64, "N": 64}})
		s := d.Shape(&tuned.Shape{Dims: map[string]int64{"M": 512 << (3 * i), "N": 512 << (3 * i), "K": 512 << (3 * i)}})
		s.Result(config).Add(float64(10*(i+1)), 1)
	}
	data, err := table.Bytes()
	require.NoError(t, err)
	w.file("choose/hgemm.tune.json", string(data))
	w.shell("go generate ./... && go mod tidy && go vet ./...")
	require.Equal(t, []int{3, 4}, []int{w.files, w.commands}, "files and blocks of commands")
}
