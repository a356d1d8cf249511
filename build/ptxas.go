package build

import (
	"regexp"
	"strconv"
	"strings"
)

// Report is what ptxas says about one cubin.
type Report struct {
	Kernels  []KernelReport // in the order of ptxas' report
	Gmem     int            // bytes of global memory the module's variables take
	Warnings []string       // ptxas' warnings and performance remarks, one line each
}

// KernelReport is what ptxas says about one kernel. Sizes are bytes; frame and
// spills are of each thread.
type KernelReport struct {
	Name            string      // as in the cubin: mangled, unless it is extern "C"
	Arch            string      // such as sm_80
	Registers       int         // 32-bit registers of each thread
	StackFrame      int         // stack frame of the kernel itself
	CumulativeStack int         // with what it calls; 0 where ptxas does not say
	SpillStores     int         // bytes stored by spills
	SpillLoads      int         // bytes loaded by spills
	StaticSmem      int         // shared memory of the block known at compile time
	Barriers        int         // named barriers, bar.sync 0 among them
	Cmem            map[int]int // constant memory by bank; empty on sm_90, which does not say
}

// Spills reports whether any register went to local memory.
func (k KernelReport) Spills() bool { return k.SpillStores != 0 || k.SpillLoads != 0 }

// Kernel returns the report of the kernel of that name.
func (r Report) Kernel(name string) (KernelReport, bool) {
	for _, k := range r.Kernels {
		if k.Name == name {
			return k, true
		}
	}
	return KernelReport{}, false
}

// ParseReport reads what nvcc -Xptxas -v printed. Lines it does not know are
// skipped: it is a report for people whose words change between releases, so
// callers check that the kernel they expect is there.
func ParseReport(text string) Report {
	compiling := regexp.MustCompile(`^Compiling entry function '([^']+)' for '([^']+)'`)
	var r Report
	var function string
	current := -1 // the kernel that "Used N registers" speaks of
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if isWarning(line) {
			r.Warnings = append(r.Warnings, line)
			continue
		}
		if rest, ok := strings.CutPrefix(line, "ptxas info"); ok {
			line = strings.TrimLeft(rest, " :")
		}
		switch {
		case strings.HasPrefix(line, "Compiling entry function"):
			if m := compiling.FindStringSubmatch(line); m != nil {
				current = len(r.Kernels)
				r.Kernels = append(r.Kernels, KernelReport{Name: m[1], Arch: m[2]})
			}
		case strings.HasPrefix(line, "Function properties for "):
			function = strings.TrimPrefix(line, "Function properties for ")
		case strings.Contains(line, "bytes stack frame"):
			if current >= 0 && r.Kernels[current].Name == function {
				r.Kernels[current].frame(line)
			}
		case strings.HasPrefix(line, "Used "):
			if current >= 0 {
				r.Kernels[current].usage(line)
			}
		case strings.Contains(line, "bytes gmem"):
			r.Gmem, _ = strconv.Atoi(strings.Fields(line)[0])
		}
	}
	return r
}

func isWarning(line string) bool {
	return strings.HasPrefix(line, "ptxas warning") ||
		strings.HasPrefix(line, "ptxas info") && strings.Contains(line, "Potential Performance Loss")
}

// frame reads "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads".
func (k *KernelReport) frame(line string) {
	for n, what := range amounts(line) {
		switch what {
		case "bytes stack frame":
			k.StackFrame = n
		case "bytes spill stores":
			k.SpillStores = n
		case "bytes spill loads":
			k.SpillLoads = n
		}
	}
}

// usage reads "Used 20 registers, used 1 barriers, 256 bytes smem, 388 bytes cmem[0]".
func (k *KernelReport) usage(line string) {
	for n, what := range amounts(line) {
		switch what {
		case "registers":
			k.Registers = n
		case "barriers":
			k.Barriers = n
		case "bytes smem":
			k.StaticSmem = n
		case "bytes cumulative stack size":
			k.CumulativeStack = n
		default:
			bank, ok := strings.CutPrefix(what, "bytes cmem[")
			if !ok {
				continue
			}
			if b, err := strconv.Atoi(strings.TrimSuffix(bank, "]")); err == nil {
				if k.Cmem == nil {
					k.Cmem = map[int]int{}
				}
				k.Cmem[b] = n
			}
		}
	}
}

// amounts yields the comma-separated "N what" of a line.
func amounts(line string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for part := range strings.SplitSeq(line, ",") {
			part = strings.TrimSpace(part)
			part = strings.TrimPrefix(strings.TrimPrefix(part, "Used "), "used ")
			num, what, ok := strings.Cut(part, " ")
			n, err := strconv.Atoi(num)
			if !ok || err != nil {
				continue
			}
			if !yield(n, what) {
				return
			}
		}
	}
}
