package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/internal/text"
)

// EnvForcePTX is the environment variable that, set to 1, makes Load take PTX even where a cubin fits.
const EnvForcePTX = "GOCUTE_FORCE_PTX"

// maxStaticShared is how much shared memory a block may have without asking.
const maxStaticShared = 48 << 10

// Bundle is a kernel as its package embeds it.
type Bundle struct {
	Name        string // of the kernel, its .cu and its images
	Package     string // import path of the generated package, for the command in errors
	CU          string // the source
	Bin         fs.FS  // holds bin/NAME.sm_90.cubin, bin/NAME.compute_80.ptx, …; other files are ignored
	Arch        int    // the least architecture, such as 80
	Exactly     bool   // only Arch itself runs the kernel, by instructions of its own (sm_90a)
	Threads     int    // of a block
	SharedBytes int    // of dynamic shared memory of a block
	Overlap     bool   // the kernel waits for the one before it itself, so it may start early
}

// Load puts the kernel on the device, ready to launch.
func (b Bundle) Load(dev *cuda.Device) (*Kernel, error) {
	if dev.Ordinal() < 0 {
		got := "nil"
		if dev != nil {
			got = "an empty Device"
		}
		return nil, fmt.Errorf("%s: Load expects a device, but got %s", b.Name, got)
	}
	if err := b.Fits(dev.Info()); err != nil {
		return nil, err
	}
	m, err := b.module(dev)
	if err != nil {
		return nil, err
	}
	k, err := b.kernel(dev, m)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", b.Name, err), m.Unload())
	}
	return k, nil
}

func (b Bundle) kernel(dev *cuda.Device, m *cuda.Module) (*Kernel, error) {
	fn, err := m.Function(b.Name)
	if err != nil {
		return nil, err
	}
	if b.SharedBytes > maxStaticShared {
		if err := fn.SetMaxDynamicShared(b.SharedBytes); err != nil {
			return nil, err
		}
	}
	return &Kernel{name: b.Name, dev: dev, mod: m, fn: fn, threads: b.Threads, shared: b.SharedBytes, overlap: b.Overlap}, nil
}

// Fits checks the kernel's needs against what a device has.
func (b Bundle) Fits(d cuda.Info) error {
	at := fmt.Sprintf("%s: %s (%s)", b.Name, d.Name, d.Arch())
	switch {
	case b.Threads < 1 || b.SharedBytes < 0 || b.Arch < 1:
		return fmt.Errorf("%q: expected a bundle with an architecture, threads of a block and 0 or more bytes of shared memory, but got %d, %d and %d",
			b.Name, b.Arch, b.Threads, b.SharedBytes)
	case d.Major*10+d.Minor < b.Arch:
		newer := " or newer"
		if b.Exactly {
			newer = ""
		}
		return fmt.Errorf("%s is too old: expected sm_%d%s", at, b.Arch, newer)
	case b.Exactly && d.Major*10+d.Minor != b.Arch:
		return fmt.Errorf("%s is too new: expected sm_%d itself, for the kernel has instructions that no other architecture has", at, b.Arch)
	case d.SharedBlockOptin < b.SharedBytes:
		return fmt.Errorf("%s has too little shared memory: a block needs %d bytes, but can have %d", at, b.SharedBytes, d.SharedBlockOptin)
	case d.MaxThreadsBlock < b.Threads:
		return fmt.Errorf("%s has too few threads: a block needs %d, but can have %d", at, b.Threads, d.MaxThreadsBlock)
	}
	return nil
}

// Images reads the compiled images in the order of their names.
func (b Bundle) Images() ([]cuda.Image, error) {
	if b.Bin == nil {
		return nil, nil
	}
	files, err := fs.ReadDir(b.Bin, "bin")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: reading the embedded images: %w", b.Name, err)
	}
	var out []cuda.Image
	for _, f := range files {
		im, ok := b.image(f.Name())
		if !ok {
			continue
		}
		if im.Data, err = fs.ReadFile(b.Bin, path.Join("bin", f.Name())); err != nil {
			return nil, fmt.Errorf("%s: reading the embedded image %s: %w", b.Name, f.Name(), err)
		}
		out = append(out, im)
	}
	return out, nil
}

var imageName = regexp.MustCompile(`^(?:(sm_[0-9]+[af]?)\.cubin|(compute_[0-9]+[af]?)\.ptx)$`)

// image reads an image's architecture and form from its file's name.
func (b Bundle) image(file string) (cuda.Image, bool) {
	rest, ok := strings.CutPrefix(file, b.Name+".")
	m := imageName.FindStringSubmatch(rest)
	if !ok || m == nil {
		return cuda.Image{}, false
	}
	return cuda.Image{Arch: cmp.Or(m[1], m[2]), PTX: m[2] != ""}, true
}

// loader is the part of a device that module needs.
type loader interface {
	Info() cuda.Info
	LoadModule(images []cuda.Image) (*cuda.Module, error)
}

// module loads the best image there is, or compiles one.
func (b Bundle) module(dev loader) (*cuda.Module, error) {
	images, err := b.Images()
	if err != nil {
		return nil, err
	}
	m, loadErr := dev.LoadModule(images)
	if loadErr == nil {
		return m, nil
	}
	loadErr = fmt.Errorf("%s: %w", b.Name, loadErr)
	if !otherImageHelps(loadErr) {
		return nil, loadErr
	}
	images, err = b.Compile(context.Background(), dev.Info().Arch(), os.Getenv(EnvForcePTX) == "1")
	if err != nil {
		return nil, fmt.Errorf("%w\nand compiling its source here did not work: %w\nto embed an image, run: %s, then build this program again",
			loadErr, err, b.command())
	}
	if m, err = dev.LoadModule(images); err != nil {
		return nil, fmt.Errorf("%s, compiled here: %w", b.Name, err)
	}
	return m, nil
}

// otherImageHelps reports whether a failed load is the image's fault, not the device's.
func otherImageHelps(err error) bool {
	if errors.Is(err, cuda.ErrNoImage) {
		return true
	}
	return slices.ContainsFunc(
		[]cuda.Result{cuda.InvalidImage, cuda.NoBinaryForGPU, cuda.InvalidPTX, cuda.UnsupportedPTX},
		func(r cuda.Result) bool { return errors.Is(err, &cuda.Error{Code: r}) })
}

// command compiles the bundle's images into its folder.
func (b Bundle) command() string {
	return text.Shell("gocute", "build", cmp.Or(b.Package, b.Name))
}

// Compile makes an image from the embedded source for a device of architecture arch, such as sm_90, with an nvcc or
// else a libnvrtc that is already on the machine: a cubin, or PTX if only that is wanted or the compiler is older than
// the device.
func (b Bundle) Compile(ctx context.Context, arch string, ptxOnly bool) ([]cuda.Image, error) {
	if ctx == nil {
		return nil, fmt.Errorf("%s: Compile expects a context, but got nil", b.Name)
	}
	if strings.TrimSpace(b.CU) == "" {
		return nil, errors.New("no source is embedded")
	}
	tc, err := build.FindCompiler(ctx, build.NameNVCC, build.Options{NoInstall: true})
	if err != nil {
		var err2 error
		if tc, err2 = build.FindCompiler(ctx, build.NameNVRTC, build.Options{NoInstall: true}); err2 != nil {
			return nil, errors.Join(err, err2)
		}
	}
	arch = build.ArchFor(arch, b.Exactly)
	src := build.Source{Name: b.Name, Code: []byte(b.CU), Archs: []string{arch}, PTXArchs: []string{}}
	if ptxOnly || !tc.About().Supports(arch) {
		_, ptx := build.ArchsOf(b.Arch, b.Exactly)
		src.Archs, src.PTXArchs = []string{}, []string{ptx}
	}
	res, err := tc.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	if bin, ok := res.Binary(arch); ok {
		return []cuda.Image{{Arch: arch, Data: bin.Cubin}}, nil
	}
	var out []cuda.Image
	for _, p := range res.PTX {
		out = append(out, cuda.Image{Arch: p.Arch, Data: p.Code, PTX: true})
	}
	return out, nil
}
