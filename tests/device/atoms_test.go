package device

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/kernels/selftest"
)

// TestAtoms runs every instruction that the GPU has and compares every register of every lane with what the row's
// layouts predict, there and in the emulator; it prints what became of each.
func TestAtoms(t *testing.T) {
	dev := open(t)
	tests, err := selftest.Everything()
	require.NoError(t, err)
	var mu sync.Mutex
	became := map[string]string{}
	note := func(name, format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		became[name] = fmt.Sprintf(format, args...)
	}
	var wg sync.WaitGroup
	queue := make(chan selftest.Test)
	for range max(1, min(8, runtime.NumCPU())) {
		wg.Go(func() {
			for x := range queue {
				if have := dev.Info().Major*10 + dev.Info().Minor; x.Arch > have {
					note(x.Atom, "not on this chip: needs sm_%d", x.Arch)
					continue
				}
				note(x.Atom, "%s", outcome(t, x))
			}
		})
	}
	for _, x := range tests {
		queue <- x
	}
	close(queue)
	wg.Wait()
	for _, name := range selftest.Names() {
		if why := selftest.WhyNot(name); why != "" {
			note(name, "not run: %s", why)
		}
		require.NotEmpty(t, became[name], "%s has neither a test nor a reason", name)
	}
	passed := 0
	for _, name := range slices.Sorted(maps.Keys(became)) {
		t.Logf("%-48s %s", name, became[name])
		if became[name] == "passed" {
			passed++
		}
		if strings.HasPrefix(became[name], "FAILED") {
			t.Errorf("%s: %s", name, became[name])
		}
	}
	t.Logf("%d of %d passed on %s", passed, len(became), dev)
}

// outcome runs one test on the GPU and in the emulator.
func outcome(t *testing.T, x selftest.Test) string {
	for _, on := range []check.Where{check.CPU, check.GPU} {
		res, err := check.Run(t.Context(), x.Kernel, check.Args{Tensors: x.Inputs}, check.Options{On: on})
		if err == nil {
			err = res.Err()
		}
		if err != nil {
			return fmt.Sprintf("FAILED on the %s: %v", on, err)
		}
	}
	return "passed"
}
