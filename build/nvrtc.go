package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// NVRTC is NVIDIA's run-time compiler, a library: no process, no host compiler and no temporary files, and one step
// from source to cubin. It is safe for concurrent use; at most GOMAXPROCS compiles run at a time.
//
// It is given no C++ library: of its headers only <cstdint> and <stdint.h> exist, and CUDA's own from the toolkit that
// the library belongs to. A compile cannot be stopped: where the context ends, Compile returns and lets it run out.
type NVRTC struct {
	Library string // what was loaded: a path, or a name that the loader knows
	Include string // the folder with CUDA's headers; empty if there is none
	Common

	lib *rtcLib
}

// stdint is the standard header that NVRTC lacks, with the types that CUDA's own <cuda/std/cstdint> gives them there.
const stdint = `#pragma once
using int8_t = signed char;
using int16_t = signed short;
using int32_t = signed int;
using int64_t = signed long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t;
}
`

// Compile compiles the source for all its chips, in parallel, through the cache. A source that NVRTC refuses gives a
// *CompileError.
func (n *NVRTC) Compile(ctx context.Context, src Source) (*Result, error) {
	if bytes.IndexByte(src.Code, 0) >= 0 {
		return nil, fmt.Errorf("build: kernel %s: expected source text, but got a zero byte", src.Name)
	}
	return n.compile(ctx, src, n.run)
}

// run makes the PTX of one virtual chip and the cubin of its chip, of which there is one at most, in one step.
func (n *NVRTC) run(ctx context.Context, j *job) error {
	arch := j.ptx.Arch
	if len(j.archs) > 0 {
		arch = j.archs[0]
	}
	options := n.options(j, arch)
	parts := [][]byte{j.src.Code, []byte(j.includes), []byte(strings.Join(options, "\x00"))}
	keyPTX, keyCubin := j.key("nvrtc ptx", parts...), j.key("nvrtc cubin", parts...)
	ptx, hit := j.cached(keyPTX, j.checkPTX)
	var cubin entry
	if hit && len(j.archs) > 0 {
		cubin, hit = j.cached(keyCubin, func(e entry) error { return j.checkCubin(e, ptx.payload, arch) })
	}
	if !hit {
		var err error
		if ptx, cubin, err = n.make(ctx, j, arch, options); err != nil {
			return err
		}
		if err := j.look(ptx, cubin, arch); err != nil {
			return n.healer.explain(ctx, err)
		}
		j.keep(keyPTX, ptx)
		if len(j.archs) > 0 {
			j.keep(keyCubin, cubin)
		}
	}
	j.ptx.Code, j.ptx.Hit, j.ptx.Seconds = ptx.payload, hit, ptx.Seconds
	j.warn(ptx.Log)
	if len(j.archs) > 0 {
		b := Binary{Arch: arch, Cubin: cubin.payload, Report: ParseReport(cubin.Log), Hit: hit}
		j.binaries = append(j.binaries, b)
		j.warnings = append(j.warnings, b.Report.Warnings...)
		j.unreported(b.Report, ptx.payload, arch)
	}
	return nil
}

// look says what is wrong with the results of one step.
func (j *job) look(ptx, cubin entry, arch string) error {
	if problem := j.checkPTX(ptx); problem != nil {
		return j.bad("PTX", j.ptx.Arch, problem)
	}
	if len(j.archs) == 0 {
		return nil
	}
	if problem := j.checkCubin(cubin, ptx.payload, arch); problem != nil {
		return j.bad("cubin", arch, problem)
	}
	return nil
}

func (n *NVRTC) options(j *job, arch string) []string {
	opts := append([]string{"-arch=" + arch}, j.standard()...)
	if strings.HasPrefix(arch, "sm_") {
		opts = append(opts, "--ptxas-options=-v")
	}
	if j.src.LineInfo {
		opts = append(opts, "-lineinfo")
	}
	return append(opts, j.src.Flags...)
}

// make compiles in a goroutine of its own, which outlives a context that ends, for a call of C cannot be interrupted.
func (n *NVRTC) make(ctx context.Context, j *job, arch string, options []string) (ptx, cubin entry, err error) {
	headers, err := j.headers()
	if err != nil {
		return ptx, cubin, err
	}
	release, err := j.slot(ctx)
	if err != nil {
		return ptx, cubin, err
	}
	all := options
	if n.Include != "" { // not among the options that the key is made of: where the toolkit lies must not matter
		all = append(slices.Clone(options), "-I"+n.Include)
	}
	type result struct {
		out     rtcOutput
		err     error
		seconds float64
	}
	defer j.waiting(arch)()
	done := make(chan result, 1)
	code := j.src.Code
	go func() {
		defer release()
		start := time.Now()
		out, err := n.lib.program(j.src.Name+".cu", code, headers, all)
		done <- result{out, err, time.Since(start).Seconds()}
	}()
	select {
	case <-ctx.Done():
		return ptx, cubin, fmt.Errorf("nvrtc for %s stopped: %w", arch, context.Cause(ctx))
	case r := <-done:
		if r.err != nil {
			return ptx, cubin, n.healer.explain(ctx, j.refused(r.out, r.err, arch, options))
		}
		front, asm := splitLog(r.out.log)
		ptx = entry{payload: r.out.ptx, entryHead: entryHead{Log: front, Seconds: r.seconds}}
		cubin = entry{payload: r.out.cubin, entryHead: entryHead{Log: asm}}
		return ptx, cubin, nil
	}
}

// refused makes a *CompileError, in nvcc's terms, of what is the source's fault.
func (j *job) refused(out rtcOutput, err error, arch string, options []string) error {
	var e *NVRTCError
	if !errors.As(err, &e) || e.Op != "nvrtcCompileProgram" {
		return err
	}
	if e.Code != rtcCompilation && e.Code != rtcInvalidOption {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(out.log))
	}
	if len(out.ptx) == 0 { // the front end's refusal: ptxas never saw it
		arch = virtual(arch)
	}
	text := strings.ReplaceAll(out.log, "ptxas application ptx input", "ptxas "+j.src.Name+".ptx")
	return &CompileError{Compiler: NameNVRTC, Kernel: j.src.Name, Arch: arch, Args: options, Output: text, Err: err}
}

// splitLog tells the front end's remarks from ptxas' report.
func splitLog(log string) (front, asm string) {
	var f, a strings.Builder
	for line := range strings.Lines(log) {
		if rest, ok := strings.CutPrefix(line, "ptxas"); ok {
			// A line that goes on is "ptxas         .     0 bytes stack frame", where nvcc prints only blanks.
			if r, more := strings.CutPrefix(strings.TrimLeft(rest, " "), ".  "); more {
				line = "    " + strings.TrimLeft(r, " ")
			}
			a.WriteString(line)
		} else {
			f.WriteString(line)
		}
	}
	return f.String(), a.String()
}

// headers reads the include folders, so that __FILE__ shows no path of this machine. Of two files with the same name
// the first folder's counts.
func (j *job) headers() ([]rtcHeader, error) {
	list := []rtcHeader{{"cstdint", []byte(stdint)}, {"stdint.h", []byte(stdint)}}
	for _, dir := range j.src.IncludeDirs {
		root, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("include folder %s: %w", dir, err)
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if d.Name() == ".git" {
					return filepath.SkipDir
				}
				return nil
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			name := filepath.ToSlash(rel)
			text, err := os.ReadFile(path)
			if err != nil || bytes.IndexByte(text, 0) >= 0 || // not a header
				slices.ContainsFunc(list, func(h rtcHeader) bool { return h.name == name }) {
				return err
			}
			list = append(list, rtcHeader{name, text})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("include folder %s: %w", dir, err)
		}
	}
	return list, nil
}
