package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gocute/gocute/internal/proc"
	"github.com/gocute/gocute/internal/scratch"
)

// Compile compiles the source for all its chips, in parallel. The front end
// runs once for each virtual chip and ptxas once for each cubin, both through
// the cache. A source nvcc refuses gives a *CompileError.
func (t *Toolchain) Compile(ctx context.Context, src Source) (*Result, error) {
	return t.compile(ctx, src, t.run)
}

// run makes the PTX of one virtual chip and the cubins of its chips.
func (t *Toolchain) run(ctx context.Context, j *job) error {
	key := j.key("ptx", j.src.Code, t.frontKey(j))
	e, hit, err := t.step(ctx, j, step{"PTX", key, j.ptx.Arch, t.front, j.checkPTX})
	if err != nil {
		return err
	}
	j.ptx.Code, j.ptx.Hit, j.ptx.Seconds, j.ptx.Prelude = e.payload, hit, e.Seconds, e.Prelude
	j.warn(e.Log)
	for _, arch := range j.archs {
		key := j.key("cubin", j.ptx.Code, []byte(strings.Join(j.asmArgs(arch), "\x00")))
		look := func(e entry) error { return j.checkCubin(e, j.ptx.Code, arch) }
		e, hit, err := t.step(ctx, j, step{"cubin", key, arch, t.assemble, look})
		if err != nil {
			return err
		}
		b := Binary{Arch: arch, Cubin: e.payload, Report: ParseReport(e.Log), Hit: hit, Seconds: e.Seconds}
		j.binaries = append(j.binaries, b)
		j.warnings = append(j.warnings, b.Report.Warnings...)
		j.unreported(b.Report, j.ptx.Code, arch)
	}
	return nil
}

// step is one run of nvcc.
type step struct {
	what, key, arch string
	work            func(ctx context.Context, j *job, arch string) (entry, error)
	look            func(entry) error // says what is wrong with the result
}

// do runs it and looks at the result.
func (s step) do(ctx context.Context, j *job) (entry, error) {
	e, err := s.work(ctx, j, s.arch)
	if err == nil {
		if problem := s.look(e); problem != nil {
			err = j.bad(s.what, s.arch, problem)
		}
	}
	return e, err
}

// step takes a result from the cache or makes and stores it. What is not right is no result, in the cache as well.
func (t *Toolchain) step(ctx context.Context, j *job, s step) (entry, bool, error) {
	if e, ok := j.cached(s.key, s.look); ok {
		return e, true, nil
	}
	release, err := j.slot(ctx)
	if err != nil {
		return entry{}, false, err
	}
	defer release()
	defer j.waiting(s.arch)()
	e, err := s.do(ctx, j)
	var hint *string
	if failed := (*CompileError)(nil); errors.As(err, &failed) && t.healer.unexpected(failed.Err, failed.Output) {
		hint = &failed.Hint
	} else if wrong := (*OutputError)(nil); errors.As(err, &wrong) {
		hint = &wrong.Hint
	}
	if hint != nil {
		again, why := t.healer.heal(ctx)
		if again {
			e, err = s.do(ctx, j)
		} else if why != nil {
			*hint = why.Error()
		}
	}
	if err != nil {
		return entry{}, false, err
	}
	j.keep(s.key, e)
	return e, false, nil
}

func (j *job) commonArgs() []string {
	args := []string{"-O3"}
	if j.src.LineInfo {
		args = append(args, "-lineinfo")
	}
	return args
}

func (j *job) frontArgs() []string {
	// cicc's second level gives the same PTX as its third for kernels whose loops are unrolled already, a fifth sooner.
	args := append(append(j.commonArgs(), j.standard()...), "-Xcicc", "-O2", "-arch="+j.ptx.Arch, "-ptx")
	for i := range j.src.IncludeDirs {
		args = append(args, "-I"+includeLink(i))
	}
	return append(args, j.src.Flags...)
}

func (j *job) asmArgs(arch string) []string {
	return append(append(j.commonArgs(), "-arch="+arch, "-Xptxas", "-v", "-cubin"), j.src.Flags...)
}

// includeLink names the link that stands for an include folder while compiling:
// __FILE__ then shows no path of this machine.
func includeLink(i int) string { return fmt.Sprintf("include%d", i) }

// assemble runs ptxas through nvcc: PTX to cubin.
func (t *Toolchain) assemble(ctx context.Context, j *job, arch string) (entry, error) {
	return t.nvcc(ctx, j, arch, j.asmArgs(arch), j.src.Name+".ptx", j.ptx.Code, j.src.Name+".cubin")
}

// nvcc runs one step in a folder of its own.
func (t *Toolchain) nvcc(ctx context.Context, j *job, arch string, args []string, in string, data []byte, out string) (entry, error) {
	tmp, err := scratch.New("", scratch.Prefix)
	if err != nil {
		return entry{}, err
	}
	defer tmp.Remove()
	dir := tmp.Path
	if err := j.fill(dir, in, data); err != nil {
		return entry{}, err
	}
	args = append(slices.Clone(args), "-o", out, in)
	var log said
	start := time.Now()
	// nvcc's own temporary files go where they are removed even if it is killed.
	err = proc.Run(ctx, t.NVCC, args, proc.Options{Dir: dir, Env: []string{"TMPDIR=" + dir}, Stdout: &log, Stderr: &log})
	seconds := time.Since(start).Seconds()
	if ctx.Err() != nil {
		return entry{}, fmt.Errorf("nvcc for %s stopped: %w", arch, context.Cause(ctx))
	}
	text := strings.ReplaceAll(log.String(), dir+string(filepath.Separator), "")
	if err != nil {
		return entry{}, &CompileError{Compiler: NameNVCC, Kernel: j.src.Name, Arch: arch, Args: args, Output: text, Err: err}
	}
	payload, err := readOutput(dir, out)
	if err != nil {
		return entry{}, j.bad(map[string]string{".ptx": "PTX", ".cubin": "cubin"}[filepath.Ext(out)], arch, err)
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
	return fillPrelude(dir)
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
