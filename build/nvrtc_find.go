package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocute/gocute/internal/dl"
	"github.com/gocute/gocute/internal/proc"
)

// rtcNames are the library's names, the newest release first.
var rtcNames = []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}

// FindNVRTC returns the first usable libnvrtc in the order given in the package's documentation, installing the pinned
// one if there is none and opt allows it. The error is a *NotFoundError listing each place looked at, unless the
// context ended or the cache folder cannot be named.
func FindNVRTC(ctx context.Context, opt Options) (*NVRTC, error) {
	opt, err := opt.settled()
	if err != nil {
		return nil, err
	}
	sweepLeftovers(opt.CacheDir)
	nf := &NotFoundError{Compiler: NameNVRTC}
	for _, c := range rtcCandidates(ctx, opt) {
		if c.reason == "" {
			n, err := probeNVRTC(c.path, c.origin, opt)
			if err == nil {
				n.chosen(nf.Tried)
				return n, nil
			}
			if c.origin != originLoader { // of which there are names for releases that are not here
				c.unusable(err)
			} else {
				c.reason = err.Error()
			}
		}
		nf.Tried = append(nf.Tried, c.attempt())
		if c.origin == EnvNVRTC {
			nf.Hint = "unset " + EnvNVRTC + " to let gocute look elsewhere"
			return nil, nf
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("build: looking for nvrtc: %w", context.Cause(ctx))
	}
	return installedNVRTC(ctx, opt, nf)
}

// installedNVRTC takes the wheels in the cache folder, installing them if allowed.
func installedNVRTC(ctx context.Context, opt Options, nf *NotFoundError) (*NVRTC, error) {
	in := newInstaller(nvrtcPack(), opt, opt.CacheDir)
	passed := slices.Clone(nf.Tried)
	if err := in.ensure(ctx, nf); err != nil {
		return nil, err
	}
	n, err := probeNVRTC(in.path(), originInstalled, opt)
	if err != nil {
		if err := in.reinstall(ctx, nf, err); err != nil {
			return nil, err
		}
		if n, err = probeNVRTC(in.path(), originInstalled, opt); err != nil {
			nf.Err = err
			return nil, nf
		}
	}
	n.chosen(passed)
	n.healer = &healer{in: in}
	return n, nil
}

// rtcCandidates lists the places outside the cache folder; a reason marks those that cannot be it.
func rtcCandidates(ctx context.Context, opt Options) []candidate {
	if p := os.Getenv(EnvNVRTC); p != "" {
		c := candidate{origin: EnvNVRTC, path: p}
		if !filepath.IsAbs(p) {
			c.reason, c.wanted = notAbsolute, true
		} else if _, err := os.Stat(p); err != nil {
			c.reason = err.Error()
		}
		return []candidate{c}
	}
	var list []candidate
	below := func(origin, root string, folders ...string) {
		if root == "" {
			list = append(list, candidate{origin: origin, reason: notSet})
			return
		}
		if !filepath.IsAbs(root) {
			list = append(list, candidate{origin: origin, path: root, reason: notAbsolute, wanted: true})
			return
		}
		var found []string
		for _, f := range folders {
			for _, name := range rtcNames {
				// Only a pattern that is wrong gives an error.
				m, _ := filepath.Glob(filepath.Join(root, f, name))
				found = append(found, m...)
			}
		}
		if len(found) == 0 {
			c := candidate{origin: origin, path: root, reason: "no libnvrtc in " + strings.Join(folders, ", ")}
			if _, err := os.Stat(root); err != nil && origin != systemCUDA { // a variable that points nowhere
				c.reason, c.wanted = c.reason+": "+err.Error(), true
			}
			list = append(list, c)
		}
		for _, path := range found {
			list = append(list, candidate{origin: origin, path: path})
		}
	}
	toolkit := []string{"lib64", "lib", "targets/*/lib"}
	below("CUDA_HOME", os.Getenv("CUDA_HOME"), toolkit...)
	below("CUDA_PATH", os.Getenv("CUDA_PATH"), toolkit...)
	wheels := []string{"nvidia/cu*/lib", "nvidia/cuda_nvrtc/lib"}
	for _, env := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		below(env, os.Getenv(env), "lib/python3*/site-packages/"+wheels[0], "lib/python3*/site-packages/"+wheels[1], "lib")
	}
	folders, err := sitePackages(ctx, opt)
	if err != nil {
		c := candidate{origin: "python3"}
		if c.reason = "it does not say where its wheels are: " + err.Error(); !errors.Is(err, exec.ErrNotFound) {
			c.wanted = true
		}
		list = append(list, c)
	}
	for _, dir := range folders {
		if _, err := os.Stat(dir); err == nil { // Python names folders that it would use
			below("python3", dir, wheels...)
		}
	}
	below(systemCUDA, opt.system, toolkit...)
	if opt.system == systemCUDA { // the loader's own folders are the machine's too
		for _, name := range rtcNames {
			list = append(list, candidate{origin: originLoader, path: name})
		}
	}
	return list
}

// sitePackages are the folders that python3 has its wheels in.
func sitePackages(ctx context.Context, opt Options) ([]string, error) {
	const query = `import site; print('\n'.join([*site.getsitepackages(), site.getusersitepackages()]))`
	text, err := ask(ctx, opt, "python3", []string{"-c", query}, []string{proc.ModulesBySafePath})
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), nil
}

// probeNVRTC loads a library, asks for its version and targets and refuses an unusable one.
func probeNVRTC(path, origin string, opt Options) (*NVRTC, error) {
	lib, err := openRTC(path)
	if err != nil {
		if errors.Is(err, dl.ErrUnsupported) {
			return nil, err
		}
		return nil, fmt.Errorf("it does not load: %w", err)
	}
	v, err := lib.release()
	if err != nil {
		return nil, err
	}
	if v.less(Version{Major: minMajor, Minor: minMinor}) {
		return nil, fmt.Errorf("expected NVRTC %d.%d or newer, but got %d.%d", minMajor, minMinor, v.Major, v.Minor)
	}
	n := &NVRTC{Library: path, Include: toolkitHeaders(path, opt.CacheDir), lib: lib, Common: newCommon(NameNVRTC, path, origin, v, opt)}
	if n.Targets, err = lib.targets(); err != nil {
		return nil, err
	}
	if err := n.checkTargets(); err != nil {
		return nil, err
	}
	// A first program shows that the helper library is there, and its PTX says which build this is.
	out, err := lib.program("probe.cu", []byte("__global__ void probe() {}\n"), nil, []string{"-arch=compute_80"})
	if err != nil {
		return nil, fmt.Errorf("it does not compile: %w: %s", err, lastLines(out.log, 2))
	}
	if err := CheckPTX(out.ptx, "compute_80"); err != nil {
		return nil, fmt.Errorf("it compiles to what is no PTX: %w", err)
	}
	if n.Version, err = parseVersion(string(out.ptx)); err != nil {
		n.Version = v // an older or newer release may say it in other words
	}
	n.warnNewer()
	first, _, _ := bytes.Cut(out.ptx, []byte(".visible"))
	n.identity = "nvrtc\n" + string(first) + headersDigest(n.Include)
	if origin != originInstalled {
		n.identity += fileIdentity(path)
	}
	return n, nil
}

// toolkitHeaders finds the folder with cuda_fp16.h: that of the library's own toolkit, or gocute's.
func toolkitHeaders(library, cache string) string {
	var list []string
	if filepath.IsAbs(library) {
		if real, err := filepath.EvalSymlinks(library); err == nil {
			library = real
		}
		lib := filepath.Dir(library)
		list = append(list, filepath.Join(lib, "../include"), filepath.Join(lib, "../../cuda_runtime/include"))
	}
	for _, env := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if root := os.Getenv(env); filepath.IsAbs(root) {
			list = append(list, filepath.Join(root, "include"))
		}
	}
	list = append(list, filepath.Join(cache, nvrtcInstallName, wheelRoot, "include"),
		filepath.Join(cache, installName, wheelRoot, "include"), filepath.Join(systemCUDA, "include"))
	for _, dir := range list {
		if _, err := os.Stat(filepath.Join(dir, "cuda_fp16.h")); err == nil {
			return dir
		}
	}
	return ""
}

// headersDigest is of the headers right in the folder: those that kernels include are there, and all change together.
func headersDigest(dir string) string {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "no headers"
	}
	var parts [][]byte
	for _, f := range files {
		if !slices.Contains([]string{".h", ".hpp"}, filepath.Ext(f.Name())) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			data = []byte(err.Error())
		}
		parts = append(parts, []byte(f.Name()), data)
	}
	return keyOf(parts...)
}
