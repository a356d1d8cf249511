package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/gocute/gocute/internal/proc"
)

const (
	pinnedRelease = "13.0.2"
	installName   = "cuda-" + pinnedRelease
	// nvrtcInstallName has a folder of its own: either compiler works without the other.
	nvrtcInstallName = "nvrtc-" + pinnedRelease
	// root is where the wheels put the toolkit below pip's target folder.
	wheelRoot = "nvidia/cu13"
	// marker is written last, so a folder that has it is whole.
	marker = "gocute-install.json"
)

// pack is a set of wheels that make one compiler.
type pack struct {
	compiler string   // NameNVCC or NameNVRTC
	folder   string   // its name in the cache folder
	wheels   []string // pinned
	main     string   // the compiler's own file below wheelRoot
	files    []string // without which it would fail at the first kernel, below wheelRoot
	size     string
	host     bool // it needs a host compiler
	// prove compiles a first kernel with what lies in the target folder.
	prove func(ctx context.Context, target, scratch string) error
}

// nvccPack is CUDA 13.0 update 2: the driver program with ptxas, the optimiser, the compiler's own headers,
// cuda_runtime.h with cuda_fp16.h and cuda_bf16.h, and the C++ headers those include.
func nvccPack() pack {
	return pack{
		compiler: NameNVCC, folder: installName, main: "bin/nvcc", host: true,
		size: "about 105 MB to download, 271 MB on disk",
		wheels: []string{
			"nvidia-cuda-nvcc==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-crt==13.0.88",
			"nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85",
		},
		files: []string{
			"bin/nvcc", "bin/ptxas", "bin/nvcc.profile", "nvvm/bin/cicc",
			"include/cuda_runtime.h", "include/cuda_fp16.h", "include/cuda_bf16.h", "include/crt/host_defines.h",
		},
		prove: proveNVCC,
	}
}

// nvrtcPack is the library of the same release, with the headers that kernels include.
func nvrtcPack() pack {
	return pack{
		compiler: NameNVRTC, folder: nvrtcInstallName, main: "lib/libnvrtc.so.13",
		size: "about 95 MB to download, 240 MB on disk",
		wheels: []string{
			"nvidia-cuda-nvrtc==13.0.88", "nvidia-cuda-crt==13.0.88",
			"nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85",
		},
		files: []string{
			"lib/libnvrtc.so.13", "lib/libnvrtc-builtins.so.13.0",
			"include/cuda_fp16.h", "include/cuda_bf16.h", "include/crt/host_defines.h",
		},
		prove: proveNVRTC,
	}
}

// installer puts the wheels into dir: all of them and checked, or nothing.
type installer struct {
	pack
	dir      string
	progress io.Writer
}

func newInstaller(p pack, cache string, progress io.Writer) installer {
	return installer{pack: p, dir: filepath.Join(cache, p.folder), progress: progress}
}

type installMark struct {
	Wheels []string `json:"wheels"`
}

// path is where the compiler's own file lies below a folder of wheels.
func (in installer) path(dir string) string { return filepath.Join(dir, wheelRoot, in.main) }

// missing says why dir is not a complete installation of these wheels; empty
// means that it is.
func (in installer) missing() string {
	data, err := os.ReadFile(filepath.Join(in.dir, marker))
	if errors.Is(err, os.ErrNotExist) {
		return "nothing installed there"
	} else if err != nil {
		return err.Error()
	}
	var m installMark
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Sprintf("%s is damaged: %v", marker, err)
	}
	if !slices.Equal(m.Wheels, in.wheels) {
		return fmt.Sprintf("expected the wheels %v, but got %v", in.wheels, m.Wheels)
	}
	return in.missingFile(in.dir)
}

// missingFile names a file that is not there.
func (in installer) missingFile(dir string) string {
	for _, f := range in.files {
		if _, err := os.Stat(filepath.Join(dir, wheelRoot, f)); err != nil {
			return fmt.Sprintf("it lacks %s/%s (%v)", wheelRoot, f, err)
		}
	}
	return ""
}

func (in installer) fail(step string, err error, out string) error {
	return &InstallError{Step: step, Dir: in.dir, Output: out, Err: err}
}

// install downloads, checks and publishes the toolchain. Two processes at once
// take turns and the second finds the first one's work done.
func (in installer) install(ctx context.Context) error {
	python, err := in.prerequisites(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(in.dir), 0o777); err != nil {
		return in.fail("make the cache folder (set "+EnvCache+" to another)", err, "")
	}
	unlock, err := in.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if in.missing() == "" {
		return nil
	}
	in.sweep()
	tmp, err := os.MkdirTemp(filepath.Dir(in.dir), in.folder+".tmp-")
	if err != nil {
		return in.fail("make a temporary folder", err, "")
	}
	defer os.RemoveAll(tmp)
	target := filepath.Join(tmp, "target")
	if err := in.pip(ctx, python, target, tmp); err != nil {
		return err
	}
	if err := in.finish(ctx, target); err != nil {
		return err
	}
	// What lies at dir is incomplete, or missing() would have been content.
	if err := os.RemoveAll(in.dir); err != nil {
		return in.fail("remove the incomplete installation", err, "")
	}
	if err := os.Rename(target, in.dir); err != nil {
		return in.fail("move the installation into place", err, "")
	}
	fmt.Fprintf(in.progress, "gocute: installed %s\n", in.path(in.dir))
	return nil
}

// prerequisites refuses before the download what would fail after it.
func (in installer) prerequisites(ctx context.Context) (python string, err error) {
	const step = "check what the machine has"
	if runtime.GOOS != "linux" || (runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64") {
		return "", in.fail(step, fmt.Errorf("expected linux on amd64 or arm64, for which the wheels exist, but got %s on %s", runtime.GOOS, runtime.GOARCH), "")
	}
	python, err = proc.LookPath("python3")
	if err != nil {
		return "", in.fail(step, fmt.Errorf("expected python3 with pip on PATH to fetch the wheels with: %w", err), "")
	}
	if _, err := proc.Output(ctx, python, []string{"-m", "pip", "--version"}, proc.Options{Env: []string{proc.ModulesBySafePath}}); err != nil {
		return "", in.fail(step, fmt.Errorf("expected %s to have pip: %w", python, err), "")
	}
	if in.host && os.Getenv("NVCC_CCBIN") == "" {
		if _, err := proc.LookPath("gcc"); err != nil {
			return "", in.fail(step, fmt.Errorf("%s: %w", hostCompilerHint, err), "")
		}
	}
	return python, nil
}

// lock waits for the installation's lock and says once that it waits.
func (in installer) lock(ctx context.Context) (unlock func(), err error) {
	fl := flock.New(in.dir + ".lock")
	ok, err := fl.TryLock()
	if err == nil && !ok {
		fmt.Fprintf(in.progress, "gocute: waiting for another process that installs %s\n", in.dir)
		ok, err = fl.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err == nil && !ok {
		err = errors.New("expected the lock, but got neither it nor an error")
	}
	if err != nil {
		return nil, in.fail("lock "+in.dir+".lock", err, "")
	}
	// The lock file stays: removing it would let a third process lock another one.
	return func() { _ = fl.Unlock() }, nil
}

// sweep removes what interrupted installations left; the lock is held, so no
// temporary folder has an owner.
func (in installer) sweep() {
	old, err := filepath.Glob(in.dir + ".tmp-*")
	if err != nil {
		return
	}
	for _, dir := range old {
		_ = os.RemoveAll(dir)
	}
}

// pip installs the wheels into target, telling about each download.
func (in installer) pip(ctx context.Context, python, target, tmp string) error {
	fmt.Fprintf(in.progress, "gocute: no %s here; installing that of CUDA %s into %s (%s)\n", in.compiler, pinnedRelease, in.dir, in.size)
	args := append([]string{
		"-m", "pip", "install", "--no-deps", "--only-binary", ":all:", "--no-compile",
		"--progress-bar", "off", "--target", target,
	}, in.wheels...)
	// The environment, not options: an older pip ignores what it does not know there.
	env := []string{
		proc.ModulesBySafePath, "PYTHONUNBUFFERED=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1",
		"PIP_ROOT_USER_ACTION=ignore", "PIP_USER=0", "TMPDIR=" + tmp,
	}
	lines := &lineWriter{each: func(line string) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Downloading ") || strings.HasPrefix(line, "Using cached ") {
			fmt.Fprintf(in.progress, "gocute:   %s\n", line)
		}
	}}
	err := proc.Run(ctx, python, args, proc.Options{Env: env, Stdout: lines, Stderr: lines})
	lines.flush()
	if err != nil {
		return in.fail("run pip (is there a network?)", err, lastLines(lines.all.String(), 12))
	}
	return nil
}

// finish makes a toolkit of the unpacked wheels and proves it with a kernel.
func (in installer) finish(ctx context.Context, target string) error {
	if why := in.missingFile(target); why != "" {
		return in.fail("look at what pip installed", errors.New(why), "")
	}
	// nvcc.profile links from lib64, which the wheels call lib.
	if err := os.Symlink("lib", filepath.Join(target, wheelRoot, "lib64")); err != nil && !errors.Is(err, os.ErrExist) {
		return in.fail("link lib64", err, "")
	}
	scratch, err := os.MkdirTemp(filepath.Dir(target), "check-")
	if err != nil {
		return in.fail("make a temporary folder", err, "")
	}
	if err := in.prove(ctx, target, scratch); err != nil {
		return in.fail("compile a first kernel with the new "+in.compiler, err, "")
	}
	data, err := json.MarshalIndent(installMark{Wheels: in.wheels}, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(target, marker), append(data, '\n'), 0o666)
	}
	if err != nil {
		return in.fail("write "+marker, err, "")
	}
	return nil
}

// proveNVCC tries the nvcc in a folder of wheels.
func proveNVCC(ctx context.Context, target, scratch string) error {
	tc, err := probe(ctx, newInstaller(nvccPack(), "", nil).path(target), "installed", scratch)
	if err != nil {
		return err
	}
	return tc.proves(ctx, tc.Compile)
}

// proveNVRTC tries the library in a folder of wheels.
func proveNVRTC(ctx context.Context, target, scratch string) error {
	n, err := probeNVRTC(newInstaller(nvrtcPack(), "", nil).path(target), "installed", scratch)
	if err != nil {
		return err
	}
	return n.proves(ctx, n.Compile)
}

// proves checks the release and compiles a first kernel.
func (c *Common) proves(ctx context.Context, compile func(context.Context, Source) (*Result, error)) error {
	if c.Version.Major != pinnedMajor || c.Version.Minor != pinnedMinor {
		return fmt.Errorf("expected release %d.%d, but got %s", pinnedMajor, pinnedMinor, c.Version)
	}
	_, err := compile(ctx, Source{Name: "gocute_check", Code: []byte(checkKernel), Archs: []string{"sm_80"}})
	return err
}

const checkKernel = `#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void gocute_check(__half* h, __nv_bfloat16* b) {
  h[threadIdx.x] = __float2half(__bfloat162float(b[threadIdx.x]));
}
`

// lineWriter keeps everything and hands on each whole line.
type lineWriter struct {
	each func(string)
	all  strings.Builder
	rest []byte
}

// Write never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.all.Write(p)
	w.rest = append(w.rest, p...)
	for {
		i := slices.Index(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.each(string(w.rest[:i]))
		w.rest = w.rest[i+1:]
	}
}

func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.each(string(w.rest))
		w.rest = nil
	}
}
