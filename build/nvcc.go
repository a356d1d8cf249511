package build

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// nvcc runs one step in a folder of its own.
func (j *job) nvcc(ctx context.Context, arch string, args []string, in string, data []byte, out string) (entry, error) {
	dir, err := os.MkdirTemp("", "gocute-")
	if err != nil {
		return entry{}, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return entry{}, fmt.Errorf("temporary folder: %w", err)
	}
	if err := j.fill(dir, in, data); err != nil {
		return entry{}, err
	}
	args = append(slices.Clone(args), "-o", out, in)
	cmd := exec.CommandContext(ctx, j.tc.NVCC, args...)
	killGroup(cmd)
	cmd.Dir = dir
	// nvcc's own temporary files go where they are removed even if it is killed.
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	start := time.Now()
	err = cmd.Run()
	seconds := time.Since(start).Seconds()
	if ctx.Err() != nil {
		return entry{}, fmt.Errorf("nvcc for %s stopped: %w", arch, context.Cause(ctx))
	}
	text := strings.ReplaceAll(log.String(), dir+string(filepath.Separator), "")
	if err != nil {
		return entry{}, &CompileError{Kernel: j.src.Name, Arch: arch, Args: args, Output: text, Err: err}
	}
	payload, err := os.ReadFile(filepath.Join(dir, out))
	if err != nil {
		return entry{}, fmt.Errorf("expected nvcc to write %s, but got: %w", out, err)
	}
	if strings.HasSuffix(out, ".ptx") {
		payload = neutral(payload, dir, in)
	}
	return entry{payload: payload, entryHead: entryHead{Log: text, Seconds: seconds}}, nil
}

// fill lays out the folder nvcc runs in.
func (j *job) fill(dir, in string, data []byte) error {
	if err := os.WriteFile(filepath.Join(dir, in), data, 0o666); err != nil {
		return fmt.Errorf("write the source: %w", err)
	}
	for i, inc := range j.src.IncludeDirs {
		abs, err := filepath.Abs(inc)
		if err == nil {
			err = os.Symlink(abs, filepath.Join(dir, includeLink(i)))
		}
		if err != nil {
			return fmt.Errorf("include folder %s: %w", inc, err)
		}
	}
	return nil
}

// neutral removes from PTX what depends on the temporary folder: the path
// itself, which LineInfo writes, and nvcc's hash of the source's path in the names
// of static symbols. The stand-in is as long, since mangled names carry lengths.
func neutral(ptx []byte, dir, file string) []byte {
	prefix := dir + string(filepath.Separator)
	hash := fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(prefix+file)))
	tag := keyOf([]byte(file))[:len(hash)]
	ptx = bytes.ReplaceAll(ptx, []byte(prefix), nil)
	re := regexp.MustCompile(`(_INTERNAL_|_GLOBAL__N__)[0-9a-f]{8}_`)
	ptx = re.ReplaceAll(ptx, []byte("${1}"+tag+"_"))
	return neutralDebug(ptx, hash, tag)
}

// neutralDebug does the same in debug strings, which are lists of decimal
// characters broken into lines anywhere: ".b8 95,56,97\n.b8 56,57".
func neutralDebug(ptx []byte, hash, tag string) []byte {
	const between = `(,|\n\.b8 )`
	pattern, with := `\b`, ""
	for i := range len(hash) {
		if i > 0 {
			pattern += between
			with += fmt.Sprintf("${%d}", i)
		}
		pattern += fmt.Sprint(hash[i])
		with += fmt.Sprint(tag[i])
	}
	return regexp.MustCompile(pattern+`\b`).ReplaceAll(ptx, []byte(with))
}
