package build

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/gocute/gocute/internal/dl"
)

// NVRTCError is a result other than success of one of NVRTC's functions.
type NVRTCError struct {
	Op   string // such as nvrtcCompileProgram
	Code int    // nvrtcResult
	Name string // such as NVRTC_ERROR_COMPILATION
}

// Error names the function and its result.
func (e *NVRTCError) Error() string { return fmt.Sprintf("%s: %s", e.Op, e.Name) }

// The results that are the source's or the flags' fault.
const (
	rtcInvalidOption = 5
	rtcCompilation   = 6
)

// rtcLib is the addresses of libnvrtc's functions.
type rtcLib struct {
	path string

	errorString, version, numArchs, archs     uintptr
	create, destroy, compile, logSize, getLog uintptr
	ptxSize, getPTX, cubinSize, getCubin      uintptr
}

func (l *rtcLib) symbols() []dl.Sym {
	return []dl.Sym{
		{Name: "nvrtcGetErrorString", Addr: &l.errorString},
		{Name: "nvrtcVersion", Addr: &l.version},
		{Name: "nvrtcGetNumSupportedArchs", Addr: &l.numArchs},
		{Name: "nvrtcGetSupportedArchs", Addr: &l.archs},
		{Name: "nvrtcCreateProgram", Addr: &l.create},
		{Name: "nvrtcDestroyProgram", Addr: &l.destroy},
		{Name: "nvrtcCompileProgram", Addr: &l.compile},
		{Name: "nvrtcGetProgramLogSize", Addr: &l.logSize},
		{Name: "nvrtcGetProgramLog", Addr: &l.getLog},
		{Name: "nvrtcGetPTXSize", Addr: &l.ptxSize},
		{Name: "nvrtcGetPTX", Addr: &l.getPTX},
		{Name: "nvrtcGetCUBINSize", Addr: &l.cubinSize},
		{Name: "nvrtcGetCUBIN", Addr: &l.getCubin},
	}
}

// openRTC loads the library. It loads its helper library by a bare name, which the loader finds only if it is loaded
// already or lies in a system folder; so the one beside it goes first.
func openRTC(path string) (*rtcLib, error) {
	if filepath.IsAbs(path) {
		helpers, err := filepath.Glob(filepath.Join(filepath.Dir(path), "libnvrtc-builtins.so*"))
		if err == nil && len(helpers) > 0 {
			if _, err := dl.Open(helpers[0]); err != nil {
				return nil, err
			}
		}
	}
	lib, err := dl.Open(path)
	if err != nil {
		return nil, err
	}
	l := &rtcLib{path: path}
	return l, lib.Bind(l.symbols())
}

// call runs one function.
//
//go:uintptrescapes
func (l *rtcLib) call(op string, fn uintptr, args ...uintptr) error {
	r := int32(dl.Call(fn, args...))
	if r == 0 {
		return nil
	}
	return &NVRTCError{Op: op, Code: int(r), Name: goString(dl.Call(l.errorString, uintptr(r)))}
}

// goString copies a C string that the library owns.
func goString(p uintptr) string {
	if p == 0 {
		return "unknown error"
	}
	// The address comes from C; reading it through a variable keeps it one expression.
	s := *(**byte)(unsafe.Pointer(&p))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}

// release is the library's version: major and minor only.
func (l *rtcLib) release() (v Version, err error) {
	var major, minor int32
	err = l.call("nvrtcVersion", l.version, uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor)))
	return Version{Major: int(major), Minor: int(minor)}, err
}

// targets lists the chips as nvcc does: sm_80, ….
func (l *rtcLib) targets() ([]string, error) {
	var n int32
	if err := l.call("nvrtcGetNumSupportedArchs", l.numArchs, uintptr(unsafe.Pointer(&n))); err != nil || n == 0 {
		return nil, err
	}
	list := make([]int32, n)
	err := l.call("nvrtcGetSupportedArchs", l.archs, uintptr(unsafe.Pointer(&list[0])))
	var out []string
	for _, a := range list {
		out = append(out, fmt.Sprintf("sm_%d", a))
	}
	return out, err
}

// rtcHeader is a header that exists in memory only.
type rtcHeader struct {
	name string // as in #include
	text []byte
}

// rtcOutput is what a compile gives.
type rtcOutput struct {
	ptx, cubin []byte // cubin is empty for a virtual chip
	log        string
}

// program compiles one source. What came of a failed compile, such as the log, is returned beside the error.
func (l *rtcLib) program(name string, code []byte, headers []rtcHeader, options []string) (out rtcOutput, err error) {
	var texts, names []string
	for _, h := range headers {
		texts, names = append(texts, string(h.text)), append(names, h.name)
	}
	cTexts, cNames, cOptions := cStrings(texts), cStrings(names), cStrings(options)
	source, title := cStrings([]string{string(code)}), cStrings([]string{name})
	// Lists of pointers hide what they point to from the rule that keeps a call's arguments alive.
	defer runtime.KeepAlive([][]*byte{cTexts, cNames, cOptions, source, title})
	var prog uintptr
	err = l.call("nvrtcCreateProgram", l.create, uintptr(unsafe.Pointer(&prog)), uintptr(unsafe.Pointer(source[0])),
		uintptr(unsafe.Pointer(title[0])), uintptr(len(headers)), uintptr(unsafe.Pointer(unsafe.SliceData(cTexts))), uintptr(unsafe.Pointer(unsafe.SliceData(cNames))))
	if err != nil {
		return out, err
	}
	defer func() {
		if e := l.call("nvrtcDestroyProgram", l.destroy, uintptr(unsafe.Pointer(&prog))); err == nil {
			err = e
		}
	}()
	failed := l.call("nvrtcCompileProgram", l.compile, prog, uintptr(len(options)), uintptr(unsafe.Pointer(unsafe.SliceData(cOptions))))
	text, err := l.fetch("nvrtcGetProgramLog", prog, l.logSize, l.getLog)
	if err != nil {
		return out, err
	}
	out.log = strings.TrimRight(string(text), "\x00")
	if out.ptx, err = l.fetch("nvrtcGetPTX", prog, l.ptxSize, l.getPTX); err != nil {
		return out, err
	}
	out.ptx = slices.DeleteFunc(out.ptx, func(b byte) bool { return b == 0 })
	if failed != nil {
		return out, failed
	}
	out.cubin, err = l.fetch("nvrtcGetCUBIN", prog, l.cubinSize, l.getCubin)
	return out, err
}

// fetch reads one of a program's results: its size, then its bytes.
func (l *rtcLib) fetch(op string, prog, size, get uintptr) ([]byte, error) {
	var n uint
	if err := l.call(op+"Size", size, prog, uintptr(unsafe.Pointer(&n))); err != nil || n == 0 {
		return nil, err
	}
	b := make([]byte, n)
	return b, l.call(op, get, prog, uintptr(unsafe.Pointer(&b[0])))
}

// cStrings makes C strings, each with its 0.
func cStrings(list []string) []*byte {
	out := make([]*byte, len(list))
	for i, s := range list {
		b := append([]byte(s), 0)
		out[i] = &b[0]
	}
	return out
}
