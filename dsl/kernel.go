// Package dsl is what users write kernels in: typed tensors and instructions, in CuTe's vocabulary.
//
// A kernel is an ordinary Go function that runs while generating. Go's own loops and conditions run then too;
// K.Loop, K.Unroll and K.If record loops and branches of the kernel. Errors carry the line of the user's code,
// accumulate, and silence what depends on them; Kernel.Err returns them.
package dsl

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/internal/text"
)

// Kernel is a kernel that has been recorded, with the errors met on the way.
type Kernel struct {
	ir      *ir.Kernel
	errs    []error
	pos     cir.Pos
	expects []Expectation
	budgets []Budget
}

// Name is the name of the emitted function.
func (k *Kernel) Name() string {
	if k == nil || k.ir == nil {
		return ""
	}
	return k.ir.Name
}

// Err returns every mistake found while recording, a line each, or nil.
func (k *Kernel) Err() error {
	if k == nil || k.ir == nil {
		return errors.New("expects a kernel that Define made, but got nil or the zero Kernel")
	}
	return errors.Join(k.errs...)
}

// IR is the recorded tile IR; it means nothing where Err is not nil.
func (k *Kernel) IR() *ir.Kernel {
	if k == nil {
		return nil
	}
	return k.ir
}

// Position is the line that called Define.
func (k *Kernel) Position() cir.Pos {
	if k == nil {
		return cir.Pos{}
	}
	return k.pos
}

// K records the body of a kernel.
type K struct {
	Thread                 Expr // the thread's index in its block; set by Threads
	BlockX, BlockY, BlockZ Expr // the block's index in the grid; set by Grid

	kernel  *Kernel
	body    *[]ir.Op
	names   map[string]bool
	symbols map[string]*scope      // of loop variables and Vars
	helpers map[string]bool        // functions whose lines are skipped in errors
	library string                 // the function that called Define, where errors belong to its caller
	closed  bool                   // Define has returned
	facts   map[string]*sym.Symbol // what the branch being recorded knows of Dims, by name
	arrived Tensor[Smem, elem.U32] // where Arrive tells its block the result

	batches [][]*ir.Storage // the accumulators of products of warpgroups, by batch; the last one is open
}

// scope is the body in which a staged value lives.
type scope struct {
	open   bool
	unroll bool
	thread bool // its value may depend on the thread
	pos    cir.Pos
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// MaxExtent bounds every Dim, so that coordinates rounded up to whole tiles stay within 32 bits.
const MaxExtent = 1 << 30

// Define records a kernel. The name becomes the emitted C function and a folder; it must be an identifier.
func Define(name string, body func(k *K)) *Kernel {
	k := &K{names: map[string]bool{}, symbols: map[string]*scope{}, helpers: map[string]bool{}}
	k.kernel = &Kernel{ir: &ir.Kernel{Name: name}}
	k.kernel.pos = k.position()
	k.body = &k.kernel.ir.Body
	for n := range reserved {
		k.names[n] = true
	}
	if k.function("Define", body == nil) {
		k.run(body)
	}
	if why := kernelName(name); why != "" { // now that it is known whose line has the name
		k.fail(k.kernel.pos, "Define", "expects a name that is an identifier in C and Go, but got %q: %s", text.Short(name, 60), why)
	}
	k.finish()
	k.closed = true
	return k.kernel
}

// run turns a panic in the user's function into an error at the line that panicked.
func (k *K) run(body func(*K)) {
	defer func() {
		if r := recover(); r != nil {
			switch r := r.(type) {
			case never:
				k.errorf(r.op, "%s", r)
				return
			case referenceError:
				k.errorf("Ref", "%s", r)
				return
			}
			pos, ours := k.panicPosition()
			if err, ok := r.(error); ok && nilReceiver(err) { // the compiler's wrapper panics, not our code
				k.errorf("Define", "%v", err)
				return
			}
			if ours {
				k.kernel.errs = append(k.kernel.errs, fmt.Errorf("internal error: %s: %v\n%s", k.kernel.ir.Name, r, stack()))
				return
			}
			k.fail(pos, "Define", "the kernel's function panicked: %v", r)
		}
	}()
	body(k)
}

func stack() string {
	buf := make([]byte, 4096)
	return string(buf[:runtime.Stack(buf, false)])
}

// finish checks what can only be known at the end.
func (k *K) finish() {
	if len(k.kernel.errs) > 0 {
		return
	}
	if k.kernel.ir.Threads == 0 {
		k.fail(k.kernel.pos, "Define", "expects a call of Threads, but the kernel has none")
	}
	if k.kernel.ir.Grid[0].Is(0) {
		k.kernel.ir.Grid = [3]sym.Expr{sym.Int(1), sym.Int(1), sym.Int(1)}
	}
	if len(k.kernel.ir.Params) == 0 {
		k.fail(k.kernel.pos, "Define", "expects at least one argument (In, Out, InOut), but the kernel has none")
	}
}

// Fail records a mistake that a function which makes kernels finds in what it was given; op is the function's name.
func (k *K) Fail(op string, err error) {
	given("Fail", k)
	if err != nil {
		k.errorf(op, "%v", err)
	}
}

// Doc adds a line to the comment at the top of the emitted file, which has at most 64 KiB. What cannot be printed stands
// there as <U+0007>.
func (k *K) Doc(line string) {
	given("Doc", k)
	before := 0
	for _, l := range k.kernel.ir.Doc {
		before += len(l)
	}
	if k.fits("Doc", line, before) {
		k.kernel.ir.Doc = append(k.kernel.ir.Doc, line)
	}
}

// Threads sets the number of threads of a block, 1 to 1024, and makes k.Thread. Call it before anything that
// needs a thread.
func (k *K) Threads(n int) {
	given("Threads", k)
	switch {
	case n < 1 || n > 1024:
		k.errorf("Threads", "expects 1 to 1024 threads, but got %d", n)
		n = 1024 // silences what depends on it
	case k.kernel.ir.Threads != 0:
		k.errorf("Threads", "expects one call, but the block already has %d threads", k.kernel.ir.Threads)
		return
	}
	k.kernel.ir.Threads = n
	k.Thread = Expr{e: sym.New(&sym.Symbol{Name: "tid", Class: sym.Thread, Hi: int64(n - 1)}), k: k}
}

// MinBlocks states how many blocks an SM should hold at once: it bounds the registers that nvcc may use.
func (k *K) MinBlocks(n int) {
	given("MinBlocks", k)
	if n < 1 || n > 32 {
		k.errorf("MinBlocks", "expects 1 to 32 blocks, but got %d", n)
		return
	}
	k.kernel.ir.MinBlocks = n
}

// Grid sets the number of blocks in one to three directions and makes k.BlockX, k.BlockY and k.BlockZ.
// Extents are integers or expressions of Dims.
func (k *K) Grid(extents ...any) {
	given("Grid", k)
	if len(extents) < 1 || len(extents) > 3 {
		k.errorf("Grid", "expects 1 to 3 extents, but got %d", len(extents))
		return
	}
	if !k.kernel.ir.Grid[0].Is(0) {
		k.errorf("Grid", "expects one call, but the grid is already %s", k.kernel.ir.Grid[0])
		return
	}
	blocks := []*Expr{&k.BlockX, &k.BlockY, &k.BlockZ}
	for i := range 3 {
		n := sym.Int(1)
		if i < len(extents) {
			e, ok := k.expr("Grid", extents[i])
			if !ok {
				return
			}
			if lo, _ := e.Range(); lo < 0 {
				k.errorf("Grid", "extent %d expects a positive number, but got %s", i, e)
				return
			}
			n = e
		}
		if !ofDims(n) {
			k.errorf("Grid", "extent %d expects an expression of Dims, but got %s", i, n)
			return
		}
		k.kernel.ir.Grid[i] = n
		_, hi := n.Range()
		hi = min(hi, gridLimits[i])
		*blocks[i] = Expr{e: sym.New(&sym.Symbol{Name: "b" + string("xyz"[i]), Class: sym.Block, Hi: max(hi-1, 0)}), k: k}
	}
}

// gridLimits are the most blocks in each direction; the launcher refuses more.
var gridLimits = [3]int64{1<<31 - 1, 1<<16 - 1, 1<<16 - 1}

// Helper marks the calling function: errors in what it calls are reported at the line that called it.
func (k *K) Helper() {
	given("Helper", k)
	var pc [1]uintptr
	if runtime.Callers(2, pc[:]) == 1 {
		f, _ := runtime.CallersFrames(pc[:]).Next()
		k.helpers[f.Function] = true
	}
}

// thisPackage is the prefix of the functions whose frames are never the user's.
const thisPackage = "github.com/gocute/gocute/dsl."

// position is the innermost line that is neither this package's nor a helper's.
func (k *K) position() cir.Pos { return userLine(k.helpers) }

func userLine(helpers map[string]bool) cir.Pos {
	var pcs [64]uintptr
	return lineOf(pcs[:runtime.Callers(2, pcs[:])], helpers)
}

func lineOf(pcs []uintptr, helpers map[string]bool) cir.Pos {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if !isOurs(f) && !helpers[f.Function] {
			return cir.Pos{File: f.File, Line: f.Line}
		}
		if !more {
			return cir.Pos{}
		}
	}
}

// isOurs reports whether a call is this package's own, or one that Go's library makes between the user's and ours.
func isOurs(f runtime.Frame) bool {
	return strings.HasPrefix(f.Function, thisPackage) && !strings.HasPrefix(f.Function, thisPackage+"Example") &&
		!strings.HasPrefix(f.Function, thisPackage+"Test") || f.Function == "" || ofGo(f)
}

// goSource is the folder of the standard library's sources.
var goSource = func() string {
	f := runtime.FuncForPC(reflect.ValueOf(runtime.GC).Pointer())
	file, _ := f.FileLine(f.Entry())
	return strings.TrimSuffix(file, "runtime/"+path.Base(file))
}()

// ofGo reports whether a function is the standard library's. Built with -trimpath its file has no folder to tell by.
func ofGo(f runtime.Frame) bool {
	return strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "reflect.") ||
		goSource != "" && strings.HasPrefix(f.File, goSource)
}

// nilReceiver reports whether a method of values was called through a pointer that is nil.
func nilReceiver(err error) bool {
	return strings.HasPrefix(err.Error(), "value method ") && strings.HasSuffix(err.Error(), " pointer")
}

// panicPosition is the user's line nearest to a panic, and whether the panic was in our code rather than theirs.
func (k *K) panicPosition() (pos cir.Pos, ours bool) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	inPanic := false
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			inPanic = true
		case ofGo(f): // called by the function that is to blame
		case inPanic && ofPipeline(f.Function):
			return cir.Pos{File: f.File, Line: f.Line}, !strings.HasPrefix(f.Function, thisPackage+"Test")
		case inPanic:
			return cir.Pos{File: f.File, Line: f.Line}, false
		}
		if !more {
			return pos, true
		}
	}
}

// ofPipeline reports whether a function belongs to the packages that a user's kernel calls.
func ofPipeline(function string) bool {
	rest, ok := strings.CutPrefix(function, "github.com/gocute/gocute/")
	return ok && slices.ContainsFunc([]string{"dsl", "algebra", "atoms", "elem", "gen"}, func(pkg string) bool {
		return strings.HasPrefix(rest, pkg+".") || strings.HasPrefix(rest, pkg+"/")
	})
}

// Error is a mistake in a kernel, at a line of the user's code.
type Error struct {
	Pos    cir.Pos
	Within cir.Pos // the line of the Library that the line at Pos called, if there is one
	Kernel string
	Op     string
	Text   string
}

func (e *Error) Error() string {
	if e == nil {
		return "no error"
	}
	return fmt.Sprintf("%s:%d: %s: %s: %s", text.Visible(e.Pos.File), e.Pos.Line, e.Kernel, e.Op, e.Text)
}

func (k *K) errorf(op, format string, args ...any) {
	k.failAt(calls(), op, format, args...)
}

func (k *K) fail(pos cir.Pos, op, format string, args ...any) {
	k.report(&Error{Pos: pos, Op: op, Text: fmt.Sprintf(format, args...)})
}

// failAt is fail at the line that the calls blame, or at that of the mistake among the arguments.
func (k *K) failAt(calls []uintptr, op, format string, args ...any) {
	if slices.Contains(args, any(errReported)) {
		return // what it depends on has been reported
	}
	message := fmt.Sprintf(format, args...)
	for _, a := range args {
		if m, ok := a.(*mistake); ok {
			calls, op, message = m.pcs, m.op, m.text
		}
	}
	e := &Error{Pos: k.blamed(calls), Op: op, Text: message}
	if within := lineOf(calls, k.helpers); within != e.Pos {
		e.Within = within
	}
	k.report(e)
}

// report adds an error that has not been reported.
func (k *K) report(e *Error) {
	if e.Pos.File == "" { // of a call that no line of the user's made, such as in a goroutine of its own
		e.Pos = k.kernel.pos
	}
	e.Kernel, e.Text = text.Short(k.kernel.ir.Name, 60), text.Short(strings.ReplaceAll(e.Text, "\n", "; "), 4000)
	for _, old := range k.kernel.errs { // a constructor's mistake is met at every use
		if old, ok := old.(*Error); ok && *old == (Error{e.Pos, old.Within, e.Kernel, e.Op, e.Text}) {
			return
		}
	}
	k.kernel.errs = append(k.kernel.errs, e)
}

// add records an operation.
func (k *K) add(op ir.Op) {
	if k.recording("K") {
		*k.body = append(*k.body, op)
	}
}

// fresh makes a name that nothing in the kernel has yet.
func (k *K) fresh(name string) string {
	out := k.unused(name)
	k.names[out] = true
	return out
}

// unused is fresh without taking the name.
func (k *K) unused(name string) string {
	out := name
	for i := 1; k.names[out]; i++ {
		out = fmt.Sprintf("%s%d", name, i)
	}
	return out
}
