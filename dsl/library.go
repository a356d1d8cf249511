package dsl

import (
	"path/filepath"
	"runtime"

	"github.com/gocute/gocute/gen/cir"
)

// Library marks the function that called Define as a library's, which others call for a kernel: errors in its package are
// reported at the line that called it, and keep the library's line as Error.Within. Operations keep their lines.
func (k *K) Library() {
	given("Library", k)
	frames, defined := runtime.CallersFrames(calls()), false
	for {
		f, more := frames.Next()
		if defined {
			k.library = f.Function
			break
		}
		if defined = f.Function == thisPackage+"Define"; !more {
			return
		}
	}
	k.kernel.pos = k.blamed(calls())
}

// calls are those that are under way.
func calls() []uintptr {
	pcs := make([]uintptr, 64)
	return pcs[:runtime.Callers(2, pcs)]
}

// blamed is the user's line among calls. What the kernel's function calls is the library's where its file lies beside that
// function; its name does not tell, for the compiler names closures of inlined functions by their callers.
func (k *K) blamed(calls []uintptr) cir.Pos {
	if k.library == "" {
		return lineOf(calls, k.helpers)
	}
	var own []runtime.Frame // the user's or the library's
	frames := runtime.CallersFrames(calls)
	for {
		f, more := frames.Next()
		if f.Function == k.library {
			own = append(own, f)
			break
		}
		if !isOurs(f) && !k.helpers[f.Function] {
			own = append(own, f)
		}
		if !more {
			return lineOf(calls, k.helpers)
		}
	}
	dir := filepath.Dir(own[len(own)-1].File)
	for _, f := range own {
		if filepath.Dir(f.File) != dir { // the user's function, called by the library
			return cir.Pos{File: f.File, Line: f.Line}
		}
	}
	for {
		f, more := frames.Next()
		if f.Function != "" && !isOurs(f) && !k.helpers[f.Function] || !more {
			return cir.Pos{File: f.File, Line: f.Line}
		}
	}
}
