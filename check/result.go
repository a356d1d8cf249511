package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/internal/text"
)

// Result is what a run did.
type Result struct {
	Kernel   string
	Dims     map[string]int64
	Scalars  map[string]float64
	Defaults []string // the dims and scalars that the caller left open
	Seed     int64
	Where    string        // the GPU, or "emulator"
	Note     string        // why it was not the GPU, where one was wished for
	Image    string        // what was loaded on the GPU, such as "sm_90 cubin"
	Time     time.Duration // of the kernel: the median on a GPU, wall time of the emulator
	Runs     int           // that Time is the median of
	Empty    bool          // the sizes make an empty grid: there was nothing to do
	Outputs  []*Output     // what the kernel writes, and what it wrote although it must not

	EmuSeeds []uint64 // schedules of the emulator
	Findings []*emu.Finding
	More     int64       // occurrences of further findings
	Unstable []string    // outputs that depend on the schedule
	Report   *emu.Report // of the first schedule; nil on a GPU

	params  []*cir.Param
	expects int     // references that the kernel has
	work    float64 // estimated operations of the emulator
}

// Output is what became of one tensor.
type Output struct {
	Name      string
	Kind      elem.Kind
	Extents   []int64
	Elements  int64
	Written   bool  // the kernel is to write it
	Reference bool  // it has an Expect
	Compared  int64 // elements compared with the reference; fewer than Elements is a sample
	Wrong     int64 // of those, how many miss the tolerance

	NaNs, Infinities int64 // expected values of these kinds; a NaN is met by any NaN, an infinity by one of its sign

	Tolerance float64 // relative to RMS
	RMS       float64 // root mean square of the expected values
	MaxAbs    float64 // the greatest error
	Relative  float64 // Frobenius norm of the errors over that of the expected values
	At        []int64 // coordinate of the greatest error
	Got, Want float64 // there
	Nearest   Element // the one that used the greatest share of what it is allowed

	Unwritten      int64 // elements that nobody wrote
	FirstUnwritten []int64
	Outside        int64 // elements beside the tensor (bytes of the guards around it) that were changed
	FirstOutside   int64 // offset of the first one

	writer cir.Pos // the statement that wrote the element with the greatest error; zero where it is not known
}

// Element is how one element of an output compares with the reference.
type Element struct {
	At        []int64 // coordinate
	Got, Want float64
	Error     float64 // |Got - Want|
	Allowed   float64 // for this element: the tolerance, or the step to the next number of its type if that is more
}

// Share is the error as a part of what is allowed: more than 1 is wrong.
func (e Element) Share() float64 {
	if e.Error == 0 {
		return 0
	}
	return e.Error / e.Allowed // infinite where nothing is allowed
}

// meet replaces the element by one that is nearer to its limit.
func (e *Element) meet(f Element) {
	if e.At == nil || f.Share() > e.Share() || f.Share() == e.Share() && f.Error > e.Error {
		*e = f
	}
}

// String says what was compared with what.
func (e Element) String() string {
	s := fmt.Sprintf("%s: got %.8g, expected %.8g, error %.3g", coord(e.At), e.Got, e.Want, e.Error)
	if e.Allowed == 0 {
		return s + ", none allowed"
	}
	return s + fmt.Sprintf(" of %.3g allowed there (%.0f %%)", e.Allowed, 100*e.Share())
}

// Err is nil if all is well.
func (r *Result) Err() error {
	var errs []error
	for _, f := range r.Findings {
		errs = append(errs, f)
	}
	if r.More > 0 {
		errs = append(errs, fmt.Errorf("%s: %d further occurrences of findings", r.Kernel, r.More))
	}
	for _, u := range r.Unstable {
		errs = append(errs, fmt.Errorf("%s: %s", r.Kernel, u))
	}
	for _, o := range r.Outputs {
		for _, problem := range o.problems(r.missed(o.Name)) {
			errs = append(errs, fmt.Errorf("%s: %s: %s", r.Kernel, o.Name, problem.text))
		}
	}
	return errors.Join(errs...)
}

// missed reports whether the emulator has said already, with the line, that elements of an output were not written.
func (r *Result) missed(name string) bool {
	return slices.ContainsFunc(r.Findings, func(f *emu.Finding) bool { return f.Check == emu.NotWritten && f.Mem == name })
}

// problems says what is wrong with an output, worst first; missed ones are left out.
func (o *Output) problems(missed bool) []problem {
	var out []problem
	if o.Unwritten > 0 && !missed {
		text := fmt.Sprintf("%d of %d elements were never written, the first at %s", o.Unwritten, o.Elements, coord(o.FirstUnwritten))
		out = append(out, problem{string(emu.NotWritten), text, o.Unwritten, o.FirstUnwritten})
	}
	if o.Outside > 0 {
		what := "beside the tensor"
		if !o.Written {
			what = "in or beside an input"
		}
		text := fmt.Sprintf("%d elements %s were written, the first at offset %d", o.Outside, what, o.FirstOutside)
		out = append(out, problem{OutsideWrite, text, o.Outside, nil})
	}
	if o.Wrong > 0 {
		text := fmt.Sprintf("%d of %d elements are wrong, the worst at %s: expected %g, but got %g", o.Wrong, o.Compared, coord(o.At), o.Want, o.Got)
		out = append(out, problem{WrongValue, text, o.Wrong, o.At})
	}
	return out
}

func coord(at []int64) string {
	parts := make([]string, len(at))
	for i, c := range at {
		parts[i] = fmt.Sprint(c)
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// noReference is the last line of a report on a kernel that nothing was found wrong with, but nothing compared either.
const noReference = "RAN  no reference to compare with (state one with Expect)"

// passed is the last line of a report on a kernel that nothing was found wrong with.
func (r *Result) passed() string {
	if r.expects == 0 {
		return noReference
	}
	return "PASS"
}

// String is a report of a few lines that ends in PASS or FAIL, or in RAN where the kernel has no reference.
func (r *Result) String() string {
	if r.Err() != nil {
		return r.body() + "FAIL"
	}
	return r.body() + r.passed()
}

// body is the report without its last line.
func (r *Result) body() string {
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s "+format+"\n", append([]any{what}, args...)...)
	}
	fmt.Fprintln(&b, r.Kernel)
	if s := r.sizes(); s != "" {
		line("args", "%s", s)
	}
	switch {
	case r.Empty:
		line("on", "nothing: these sizes make an empty grid")
	case r.Image != "":
		line("on", "%s, %s", r.Where, r.Image)
		line("time", "%v (median of %d)", r.Time, r.Runs)
	default:
		line("on", "%s", r.emulator())
		line("time", "%v (of the emulator)", r.Time.Round(time.Millisecond))
	}
	for _, o := range r.Outputs {
		line(o.Name, "%s", o.summary())
	}
	if err := r.Err(); err != nil {
		for problem := range strings.Lines(err.Error()) {
			b.WriteString("  " + problem)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (r *Result) emulator() string {
	s := "the emulator"
	if r.Report != nil {
		s += ", " + text.Count(r.Report.Counts.Blocks, "block")
	}
	if len(r.EmuSeeds) > 1 || len(r.EmuSeeds) == 1 && r.EmuSeeds[0] != 0 {
		s += fmt.Sprintf(", schedules %v", r.EmuSeeds)
	}
	if r.Note != "" {
		s += " (" + r.Note + ")"
	}
	return s
}

// sizes lists the arguments in the order of the parameters.
func (r *Result) sizes() string {
	var parts []string
	for _, q := range r.params {
		if v, ok := r.Dims[q.Name]; ok && q.Class == cir.Dim {
			parts = append(parts, fmt.Sprintf("%s=%d", q.Name, v))
		}
		if v, ok := r.Scalars[q.Name]; ok && q.Class == cir.Scalar {
			parts = append(parts, fmt.Sprintf("%s=%.6g", q.Name, v))
		}
	}
	s := strings.Join(parts, " ")
	if len(r.Defaults) > 0 {
		s += fmt.Sprintf(", by default: %s", strings.Join(r.Defaults, " "))
	}
	return s
}

// summary is one line about an output.
func (o *Output) summary() string {
	var extents []string
	for _, e := range o.Extents {
		extents = append(extents, fmt.Sprint(e))
	}
	s := fmt.Sprintf("%s (%s)", o.Kind, strings.Join(extents, ","))
	if !o.Reference {
		return s + ": not compared, for it has no Expect"
	}
	what := "all"
	if o.Compared < o.Elements {
		what = fmt.Sprintf("a sample of %d of", o.Compared)
	}
	s += fmt.Sprintf(": %s %s compared", what, text.Count(o.Elements, "element"))
	if o.MaxAbs == 0 {
		return s + ", largest error 0" + o.special()
	}
	return s + fmt.Sprintf(", nearest to its limit %s", o.Nearest) + o.special()
}

// special says how many of the expected values are no finite numbers, which have to be met in their places.
func (o *Output) special() string {
	if o.NaNs+o.Infinities == 0 {
		return ""
	}
	s := fmt.Sprintf("; the reference is NaN at %d and infinite at %d of them", o.NaNs, o.Infinities)
	if o.NaNs+o.Infinities == o.Compared {
		s += ", so that no finite value was compared"
	}
	return s
}
