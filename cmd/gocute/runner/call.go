package runner

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gocute/gocute/dsl"
)

// UnderWay ends the name of the file, beside the response, that names the function of the user's that is running: one that ends
// the program cannot be reported in any other way.
const UnderWay = ".running"

// called calls a function of the user's. A panic is an error, and so is runtime.Goexit, which would end the goroutine.
func called[T any](pos, name string, f func() *T) (out *T, err error) {
	err = fmt.Errorf("%s: %s ended its goroutine (runtime.Goexit, or FailNow of a test?): expected it to return", pos, name)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				out, err = nil, fmt.Errorf("%s: %s panicked: %s", pos, name, strings.ReplaceAll(fmt.Sprint(r), "\n", " "))
			}
		}()
		out = f()
		err = nil
	}()
	<-done
	return out, err
}

// marked are the packages with functions that are named in the file while they run, those of families' candidates too.
func marked(file string, pkgs []Package) []Package {
	out := slices.Clone(pkgs)
	for i, p := range out {
		out[i].Funcs, out[i].Families = slices.Clone(p.Funcs), slices.Clone(p.Families)
		for j, f := range p.Funcs {
			out[i].Funcs[j].New = marking(file, f.Pos+": "+f.Name, f.New)
		}
		for j, f := range p.Families {
			out[i].Families[j].New = func() *dsl.Family {
				fam := marking(file, f.Pos+": "+f.Name, f.New)()
				if fam == nil {
					return nil
				}
				own := *fam // the user may return the same one again
				own.Candidates = slices.Clone(fam.Candidates)
				for n, c := range own.Candidates {
					if c.Kernel != nil {
						own.Candidates[n].Kernel = marking(file, f.Pos+": "+f.Name+": candidate "+c.Config, c.Kernel)
					}
				}
				return &own
			}
		}
	}
	return out
}

// marking is a function that is named in the file while it runs. The file is of use only if the program ends then.
func marking[T any](file, name string, f func() *T) func() *T {
	return func() *T {
		_ = os.WriteFile(file, []byte(name), 0o600)
		defer os.Remove(file)
		return f()
	}
}
