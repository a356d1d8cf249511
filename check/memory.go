package check

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// memoryUse says what a plan's tensors are for, and with that how much memory an element takes.
type memoryUse uint8

const (
	inEmulator memoryUse = iota
	onDevice
	inField // exact mode
)

var memoryWhere = [...]string{inEmulator: "in the emulator", onDevice: "on the host", inField: "in exact mode"}

const (
	cellBytes  = 8 // of the emulator's cell, of a float64 and of a note who touched an element
	fieldBytes = 8 * (limbs + 4)

	// memoryUnknown is allowed where the machine's memory is not known.
	memoryUnknown = 8 << 30
)

// perElement is how many bytes of memory an element of a tensor takes at most at a time: its contents before and
// after the run, its value for the references, and in the emulator its cell and who wrote and read it first and last.
func (use memoryUse) perElement(t *tensor) float64 {
	n := 2*t.width + cellBytes + 1
	if use == onDevice {
		return float64(n)
	}
	n += cellBytes
	if t.p.Write {
		n += 2 * cellBytes
	}
	if t.p.Write && t.p.Read {
		n += 2 * cellBytes
	}
	if use == inField {
		n += fieldBytes
	}
	return float64(n)
}

// places is the number of elements of a tensor's memory, gaps included, in floating point for sizes that do not fit
// an integer.
func (t *tensor) places() float64 {
	last := 1.0
	for i, e := range t.extents {
		if e == 0 {
			return 0
		}
		last += float64(e-1) * math.Abs(float64(t.strides[i]))
	}
	return last
}

// affordable refuses sizes that need more memory than allowed, before any of it is taken.
func (p *plan) affordable(use memoryUse, limit float64, whose string) error {
	var all, most float64
	var largest *tensor
	for _, t := range p.tensors {
		b := t.places() * use.perElement(t)
		if all += b; largest == nil || b > most {
			most, largest = b, t
		}
	}
	if all <= limit {
		return nil
	}
	rest := ""
	if len(p.tensors) > 1 {
		rest = fmt.Sprintf(", all tensors together %s", gigabytes(all))
	}
	return fmt.Errorf("%s: %s needs %s %s%s; at most %s are allowed, %s: choose smaller sizes",
		p.c.Name, largest.p.Name, gigabytes(most), memoryWhere[use], rest, gigabytes(limit), whose)
}

func gigabytes(b float64) string { return fmt.Sprintf("%.3g GB", b/1e9) }

// memoryLimit is how much memory a run may take, and what that is.
func memoryLimit() (bytes float64, whose string) {
	total := math.Inf(1)
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		total = totalMemory(data)
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		data, err := os.ReadFile(path)
		if err != nil { // there is no such limit
			continue
		}
		if n, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64); err == nil && n > 0 {
			total = min(total, n)
		}
	}
	if math.IsInf(total, 1) {
		return memoryUnknown, "for the machine's memory is not known"
	}
	return total / 2, "half of this machine's memory"
}

// totalMemory reads a meminfo file; it is infinite where that does not say.
func totalMemory(meminfo []byte) float64 {
	for lines := bufio.NewScanner(bytes.NewReader(meminfo)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "MemTotal:" && fields[2] == "kB" {
			if n, err := strconv.ParseFloat(fields[1], 64); err == nil {
				return n * 1024
			}
		}
	}
	return math.Inf(1)
}
