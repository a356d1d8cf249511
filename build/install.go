package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/gocute/gocute/internal/proc"
	"github.com/gocute/gocute/internal/scratch"
)

// installer puts the wheels into dir: all of them and checked, or nothing.
type installer struct {
	pack
	dir       string
	digest    string // of the list of files, for this machine
	progress  io.Writer
	noInstall bool
}

func newInstaller(p pack, opt Options, cache string) installer {
	in := installer{pack: p, dir: filepath.Join(cache, p.folder), digest: p.tree.get(), progress: opt.Progress, noInstall: opt.NoInstall}
	if opt.tree != "" {
		in.digest = opt.tree
	}
	if in.progress == nil {
		in.progress = os.Stderr
	}
	return in
}

// tmpPrefix begins the names of the temporary folders beside the installation.
func (in installer) tmpPrefix() string { return in.folder + ".tmp-" }

// path is where the compiler's own file lies.
func (in installer) path() string { return filepath.Join(in.dir, wheelRoot, in.main) }

func (in installer) fail(step string, err error, out string) error {
	return &InstallError{Step: step, Dir: in.dir, Output: out, Err: err}
}

// install downloads, checks and publishes the toolchain, unless what lies there is right, as damage tells (missing or
// verify). Two processes at once take turns and the second finds the first one's work done.
func (in installer) install(ctx context.Context, damage func() string) error {
	python, err := in.prerequisites(ctx)
	if err != nil {
		return err
	}
	parent := filepath.Dir(in.dir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return in.fail("make the cache folder (set "+EnvCache+" to another)", err, "")
	}
	unlock, err := in.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	why := damage()
	if why == "" {
		return nil
	}
	in.sweep()
	tmp, err := scratch.New(parent, in.tmpPrefix())
	if err != nil {
		return in.fail("make a temporary folder", err, "")
	}
	defer tmp.Remove()
	in.announce(why)
	target := filepath.Join(tmp.Path, "target")
	if err := in.pip(ctx, python, target, tmp.Path); err != nil {
		return err
	}
	if err := in.finish(ctx, target); err != nil {
		return err
	}
	// What lies at dir is not right. It goes as a whole, so that nobody finds half of it.
	if err := os.Rename(in.dir, filepath.Join(tmp.Path, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return in.fail("remove the damaged installation", err, "")
	}
	if err := os.Rename(target, in.dir); err != nil {
		return in.fail("move the installation into place", err, "")
	}
	fmt.Fprintf(in.progress, "gocute: installed %s\n", in.path())
	return nil
}

// announce tells what is about to be downloaded and why.
func (in installer) announce(why string) {
	what := "no " + in.compiler + " here"
	if _, err := os.Stat(in.dir); err == nil {
		what = fmt.Sprintf("the %s that gocute installed cannot be used: %s", in.compiler, why)
	}
	fmt.Fprintf(in.progress, "gocute: %s; installing that of CUDA %s into %s (%s)\n", what, pinnedRelease, in.dir, in.size)
}

// prerequisites refuses before the download what would fail after it.
func (in installer) prerequisites(ctx context.Context) (python string, err error) {
	const step = "check what the machine has"
	if in.digest == "" {
		return "", in.fail(step, fmt.Errorf("expected linux on amd64 or arm64, for which the wheels exist, but got %s on %s", runtime.GOOS, runtime.GOARCH), "")
	}
	python, err = proc.LookPath("python3")
	if err != nil {
		return "", in.fail(step, fmt.Errorf("expected python3 with pip on PATH to fetch the wheels with: %w", err), "")
	}
	if _, err := proc.Output(ctx, python, []string{"-m", "pip", "--version"}, proc.Options{Env: pipEnv(), Timeout: time.Minute}); err != nil {
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

// sweep removes what interrupted installations left; the lock is held, so no temporary folder has an owner, even one that
// was cut off before it had a mark.
func (in installer) sweep() {
	old, err := filepath.Glob(filepath.Join(filepath.Dir(in.dir), in.tmpPrefix()+"*"))
	if err != nil {
		return
	}
	for _, dir := range old {
		_ = os.RemoveAll(dir)
	}
}

// sweepLeftovers removes the temporary folders of processes that were killed.
func sweepLeftovers(cache string) {
	scratch.Sweep("", scratch.Prefix)
	for _, p := range []pack{nvccPack(), nvrtcPack()} {
		scratch.Sweep(cache, installer{pack: p}.tmpPrefix())
	}
}

// finish makes a toolkit of the unpacked wheels and proves it with a kernel. Nothing of it runs before its hashes are right.
func (in installer) finish(ctx context.Context, target string) error {
	files, err := in.listPinned(target)
	if err != nil {
		return in.fail("look at what pip installed", err, "")
	}
	if err := os.Symlink("lib", filepath.Join(target, libLink)); err != nil && !errors.Is(err, os.ErrExist) {
		return in.fail("link lib64", err, "")
	}
	check, err := os.MkdirTemp(filepath.Dir(target), "check-")
	if err != nil {
		return in.fail("make a temporary folder", err, "")
	}
	if err := in.prove(ctx, target, check); err != nil {
		return in.fail("compile a first kernel with the new "+in.compiler, err, "")
	}
	if err := in.writeList(target, files); err != nil {
		return in.fail("write "+listName, err, "")
	}
	return nil
}
