package cuda

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/templates"
)

// headerNames says which files hold the instructions of a class, by architecture.
var headerNames = map[cir.OpClass]string{
	cir.MMA:        "gocute/mma_sm%d.cuh",
	cir.LdMatrix:   "gocute/copy_sm%d.cuh",
	cir.CpAsync:    "gocute/copy_sm%d.cuh",
	cir.Dot:        "gocute/mma_sm%d.cuh",
	cir.StMatrix:   "gocute/copy_sm%d.cuh",
	cir.WarpMove:   "gocute/copy_sm%d.cuh",
	cir.TensorCopy: "gocute/copy_sm%d.cuh",
	cir.GMMA:       "gocute/mma_sm%da.cuh", // no other architecture has these
}

// headerOf is the file that holds the wrapper of an instruction.
func headerOf(op *cir.Op) string { return fmt.Sprintf(headerNames[op.Class], op.Arch) }

// asyncHelpers are CuTe's names for what a kernel prints as asm statements, for code written by hand.
const asyncHelpers = `// Closes the thread's open group of asynchronous copies.
__device__ __forceinline__ void cp_async_fence() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most N of the thread's groups are still in flight.
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
}`

// Headers makes the header files that kernels printed with Options.Header include, and that CUDA written by
// hand may include too: the wrappers of ops, grouped by class and architecture, and the helpers. The keys
// are paths such as gocute/mma_sm80.cuh, to be put below a folder on the include path.
func Headers(ops []*cir.Op) (map[string][]byte, error) {
	groups := map[string]*usage{}
	for _, op := range ops {
		if op == nil || headerNames[op.Class] == "" || !identifier.MatchString(op.Name) {
			return nil, fmt.Errorf("internal error: gen/cuda: expected an instruction with a name and a class, but got %v", op)
		}
		for _, o := range []cir.Operand{op.D, op.A, op.B, op.C} {
			if _, ok := operandTypes[o.Type]; !ok && o.Count > 0 {
				return nil, fmt.Errorf("internal error: gen/cuda: %s has the unknown register type %q", op.Name, o.Type)
			}
		}
		file := headerOf(op)
		if groups[file] == nil {
			groups[file] = newUsage()
		}
		if err := groups[file].instr(op, allForms); err != nil {
			return nil, fmt.Errorf("internal error: gen/cuda: %w", err)
		}
	}
	groups[helperFile] = newUsage()
	for _, h := range helpers {
		groups[helperFile].helper(h.name)
	}
	out := map[string][]byte{}
	for _, file := range slices.Sorted(maps.Keys(groups)) {
		wrappers := groups[file].wrappers()
		if file == helperFile {
			wrappers = append(wrappers, asyncHelpers)
		}
		text, err := templates.Execute("header.cuh", struct {
			Name               string
			Includes, Wrappers []string
		}{file, groups[file].includes(), wrappers})
		if err != nil {
			return nil, err
		}
		out[file] = text
	}
	return out, nil
}
