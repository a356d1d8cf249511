package build

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gocute/gocute/templates"
)

// machineCUDA is EM_CUDA, which package elf has no name for.
const machineCUDA = elf.Machine(190)

// The two layouts of e_flags have the architecture's number in different bytes: that of CUDA 12 (as its cubins of sm_80,
// 0x00500550) in the first, that of CUDA 13 (0x06005004) in the second.
const (
	osabiCUDA12 = elf.OSABI(51)
	osabiCUDA13 = elf.OSABI(65)
)

// CheckCubin reports why data is no cubin of the architecture, such as sm_90, with these kernels; nil means that it is.
// The architecture's suffix is not compared: a cubin of CUDA 13 does not say it.
func CheckCubin(data []byte, arch string, kernels ...string) error {
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return fmt.Errorf("expected an ELF file, but got %s", sample(data))
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("expected an ELF file, but got a damaged one of %d bytes: %w", len(data), err)
	}
	if f.Class != elf.ELFCLASS64 || f.Machine != machineCUDA {
		return fmt.Errorf("expected a 64-bit ELF file for CUDA (machine %d), but got %v for machine %d (%v)", machineCUDA, f.Class, f.Machine, f.Machine)
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && (s.Offset > uint64(len(data)) || s.FileSize > uint64(len(data))-s.Offset) {
			return fmt.Errorf("expected a whole ELF file, but got one of %d bytes that is cut off in its section %s", len(data), s.Name)
		}
	}
	// e_flags, which package elf does not hand on; NewFile has seen that the header is whole.
	if want, got := number(arch), cubinArchs(f, f.ByteOrder.Uint32(data[48:])); !slices.Contains(got, want) {
		return fmt.Errorf("expected a cubin of %s, but got one of sm_%s", arch, strings.Join(got, " or sm_"))
	}
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return fmt.Errorf("expected a symbol table, but got a damaged one: %w", err)
	}
	for _, k := range kernels {
		code := f.Section(".text." + k)
		named := slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == k && elf.ST_TYPE(s.Info) == elf.STT_FUNC })
		if code == nil || code.FileSize == 0 || !named {
			return fmt.Errorf("expected code of the kernel %s, but got %s", k, kernelsIn(symbols))
		}
	}
	return nil
}

// cubinArchs are the numbers that a cubin's flags can mean: one, unless its layout is not known here.
func cubinArchs(f *elf.File, flags uint32) []string {
	first, second := fmt.Sprint(flags&0xff), fmt.Sprint(flags>>8&0xff)
	switch f.OSABI {
	case osabiCUDA12:
		return []string{first}
	case osabiCUDA13:
		return []string{second}
	}
	return []string{first, second}
}

// number is 90 of sm_90a and compute_90a.
func number(arch string) string {
	_, n, _ := strings.Cut(arch, "_")
	return strings.TrimRight(n, "af")
}

func kernelsIn(symbols []elf.Symbol) string {
	var names []string
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && elf.ST_BIND(s.Info) != elf.STB_LOCAL {
			names = append(names, s.Name)
		}
	}
	if names == nil {
		return "no kernel"
	}
	return "only " + strings.Join(names, ", ")
}

var (
	ptxVersion = regexp.MustCompile(`^\s*\.version\s+[0-9]+\.[0-9]+\s`)
	ptxTarget  = regexp.MustCompile(`\s\.target\s+(sm_[0-9]+[af]?)[\s,]`)
)

// CheckPTX reports why data is no PTX of the virtual architecture, such as compute_90a, with these kernels and at least
// one; nil means that it is. It is about the text's frame: what the instructions are is for ptxas.
func CheckPTX(data []byte, arch string, kernels ...string) error {
	if bytes.IndexByte(data, 0) >= 0 {
		return fmt.Errorf("expected the text of PTX, but got %s", sample(data))
	}
	text := ptxCode(data)
	if !ptxVersion.MatchString(text) {
		return fmt.Errorf("expected PTX, which begins with .version, but got %s", sample(data))
	}
	want := strings.Replace(arch, "compute_", "sm_", 1)
	switch m := ptxTarget.FindStringSubmatch(text); {
	case m == nil:
		return fmt.Errorf("expected PTX with .target %s, but got none", want)
	case m[1] != want:
		return fmt.Errorf("expected PTX with .target %s, but got %s", want, m[1])
	}
	if open, closed := strings.Count(text, "{"), strings.Count(text, "}"); open != closed {
		return fmt.Errorf("expected whole PTX, but got one with %d opening and %d closing braces: it is cut off", open, closed)
	}
	names := entryNames(data)
	if len(names) == 0 {
		return errors.New("expected PTX with a kernel (.entry), but got none")
	}
	for _, k := range kernels {
		if !slices.Contains(names, k) {
			return fmt.Errorf("expected PTX with the kernel %s, but got only %s", k, strings.Join(names, ", "))
		}
	}
	return nil
}

var (
	ptxNoise = regexp.MustCompile(`(?s)"[^"\n]*"|//[^\n]*|/\*.*?\*/`)
	ptxEntry = regexp.MustCompile(`\.entry\s+([A-Za-z0-9_$%]+)`)
)

// ptxCode is PTX with its comments and the contents of its strings blanked. It takes any text: what package ptx does not
// read is no reason to refuse what a compiler wrote.
func ptxCode(data []byte) string { return ptxNoise.ReplaceAllString(string(data), " ") }

// entryNames are the kernels of a PTX text, those declared among them.
func entryNames(data []byte) []string {
	var names []string
	for _, m := range ptxEntry.FindAllStringSubmatch(ptxCode(data), -1) {
		names = append(names, m[1])
	}
	return names
}

// sample shows how something begins that is not what it should be.
func sample(data []byte) string {
	if len(data) == 0 {
		return "nothing (0 bytes)"
	}
	return fmt.Sprintf("%d bytes that begin with %.40q", len(data), data[:min(len(data), 40)])
}

// checkPTX looks at a front end's result. Printed source has the kernel that it is named for; what is in other people's is
// theirs, so any kernel will do.
func (j *job) checkPTX(e entry) error {
	if templates.Sealed(j.src.Code) {
		return CheckPTX(e.payload, j.ptx.Arch, j.src.Name)
	}
	return CheckPTX(e.payload, j.ptx.Arch)
}

// checkCubin looks at a cubin, which has all kernels of the PTX that it was made of.
func (j *job) checkCubin(e entry, ptx []byte, arch string) error {
	return CheckCubin(e.payload, arch, entryNames(ptx)...)
}

// unreported warns of kernels whose registers are not known, as ptxas printed something else than expected.
func (j *job) unreported(r Report, ptx []byte, arch string) {
	for _, name := range entryNames(ptx) {
		if k, ok := r.Kernel(name); !ok || k.Registers == 0 {
			j.warnings = append(j.warnings, fmt.Sprintf("%s: expected ptxas' report on the kernel %s with its registers, but got none; they are not known", arch, name))
		}
	}
}

// bad makes an error of what a compiler returned.
func (j *job) bad(what, arch string, problem error) error {
	return &OutputError{Compiler: j.from.Describe(), Variable: j.from.variable(), Kernel: j.src.Name, What: what, Arch: arch, Err: problem}
}
