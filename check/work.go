package check

import (
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

const (
	groupLanes   = 128     // of a warpgroup
	longWork     = 1 << 33 // operations of the emulator from which on it tells that it is at work
	stillRunning = 5 * time.Second
	warpLanes    = 32
	asyncElems   = 8 // of a copy or matrix instruction, about
)

// work estimates how many operations on single elements the emulator has to do in one run: those of the first block's
// first thread, for all.
func (p *plan) work() float64 {
	env := maps.Clone(p.dims)
	blocks := float64(p.grid.X) * float64(p.grid.Y) * float64(p.grid.Z)
	return blocks * float64(p.c.Threads) * workOf(p.c.Body, env)
}

// workOf is the work of one thread; what is not in env counts as 0.
func workOf(body []cir.Stmt, env map[string]int64) float64 {
	value := func(s *sym.Symbol) (int64, bool) { return env[s.Name], true }
	bind := func(s *sym.Symbol, e sym.Expr) int64 {
		n, err := e.Eval(value)
		if err == nil {
			env[s.Name] = n
		}
		return env[s.Name]
	}
	total := 0.0
	for _, s := range body {
		switch s := s.(type) {
		case cir.Comment:
		case cir.Let:
			bind(s.Sym, s.Value)
		case cir.Var:
			bind(s.Sym, s.Init)
		case cir.For:
			trips := 1.0
			lo := bind(s.Sym, s.Lo)
			if hi, err := s.Hi.Eval(value); err == nil {
				trips = float64(max(hi-lo, 0))
			}
			total += trips * workOf(s.Body, env)
		case cir.If:
			total += max(workOf(s.Then, env), workOf(s.Else, env))
		default:
			total += elements(s)
		}
	}
	return total
}

var mmaShape = regexp.MustCompile(`\.m([0-9]+)n([0-9]+)k([0-9]+)\.`)

// elements is the work of one statement, for one thread.
func elements(s cir.Stmt) float64 {
	switch s := s.(type) {
	case cir.Load:
		return float64(s.Dst.Elems)
	case cir.Store:
		return float64(s.Src.Elems)
	case cir.Fill:
		return float64(s.Reg.Count)
	case cir.MMAStmt:
		return products(s.Op, warpLanes)
	case cir.WarpgroupMMA:
		return products(s.Op, groupLanes)
	case cir.TensorLoad: // one thread does it for all
		return float64(s.Map.Elems()) / groupLanes
	case cir.LdMatrixStmt, cir.StMatrixStmt, cir.CpAsyncStmt:
		return asyncElems
	}
	return 1
}

// products is the work of a matrix instruction for one of the lanes that it takes.
func products(op *cir.Op, lanes float64) float64 {
	m := mmaShape.FindStringSubmatch(op.PTX)
	if m == nil { // an instruction of single threads
		return asyncElems
	}
	n := 1.0
	for _, extent := range m[1:] {
		if e, err := strconv.Atoi(extent); err == nil {
			n *= float64(e)
		}
	}
	return n / lanes
}

// progress is where lines about what takes long go.
func (o Options) progress() io.Writer {
	if o.Progress != nil {
		return o.Progress
	}
	return os.Stderr
}

// watch tells now and then that the emulator is at work, if it has much to do, until stop is called.
func watch(to io.Writer, kernel string, work float64, every time.Duration) (stop func()) {
	if work <= longWork {
		return func() {}
	}
	start := time.Now()
	fmt.Fprintf(to, "%s: the emulator has about %.2g element operations to run, which takes long; smaller sizes check the same code\n", kernel, work)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				fmt.Fprintf(to, "%s: the emulator is still running, %v so far\n", kernel, time.Since(start).Round(time.Second))
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}
