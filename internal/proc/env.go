package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// treat says what happens to a variable's relative paths, which mean something else in each folder.
type treat int

const (
	searched treat = iota // a list of folders that are searched: relative and empty entries are left out
	dropped               // one path to what is run or loaded: left out if it is relative
	resolved              // one path that the user named on purpose: made absolute, as the child's folder is another
	each                  // several such paths or addresses, with blanks between them
	program               // a program's path, made absolute, or its name, which PATH resolves
)

// variables are those by which our children (nvcc, its host compiler, python3 with pip, the go command, and the dynamic
// loader and the C library below all of them) find what they run, load or include.
var variables = map[string]treat{
	"PATH": searched,
	// The loader's. LD_PRELOAD and LD_AUDIT name files, not folders to search: those are the user's own will.
	"LD_LIBRARY_PATH": searched, "DYLD_LIBRARY_PATH": searched, "DYLD_FALLBACK_LIBRARY_PATH": searched,
	"GCONV_PATH": searched, // the C library loads code from it
	// gcc's, which nvcc calls: headers, libraries, and its own programs.
	"CPATH": searched, "C_INCLUDE_PATH": searched, "CPLUS_INCLUDE_PATH": searched, "OBJC_INCLUDE_PATH": searched,
	"LIBRARY_PATH": searched, "COMPILER_PATH": searched, "GCC_EXEC_PREFIX": dropped,
	// nvcc's own: a host compiler given by a path is wanted; one without a slash is looked up on PATH.
	"NVCC_CCBIN": program, "NVVMIR_LIBRARY_DIR": dropped,
	// Python's: modules, the standard library, the user's site-packages, and compiled modules.
	"PYTHONPATH": searched, "PYTHONHOME": dropped, "PYTHONUSERBASE": dropped, "PYTHONPYCACHEPREFIX": dropped,
	// A shell reads these before a script; OpenSSL loads code that these name.
	"BASH_ENV": dropped, "ENV": dropped, "OPENSSL_CONF": dropped, "OPENSSL_MODULES": dropped, "OPENSSL_ENGINES": dropped,
	// What pip and the go command read but never run. The hashes of the wheels decide whether what came is right.
	"PIP_CONFIG_FILE": resolved, "PIP_CERT": resolved, "PIP_CLIENT_CERT": resolved, "PIP_CACHE_DIR": resolved, "PIP_FIND_LINKS": each, "PIP_INDEX_URL": each, "PIP_EXTRA_INDEX_URL": each,
	"SSL_CERT_FILE": resolved, "SSL_CERT_DIR": resolved, "REQUESTS_CA_BUNDLE": resolved, "CURL_CA_BUNDLE": resolved,
	"NETRC": resolved, "TMPDIR": resolved,
}

// ModulesBySafePath makes a Python from 3.11 on search no folder for modules but its own and those of PYTHONPATH. It is
// for children that are known to be Python: a script that another one calls may have its modules beside it.
const ModulesBySafePath = "PYTHONSAFEPATH=1"

// defaultPath is PATH where nothing of the user's is left: with none at all, some programs search the current folder.
const defaultPath = "/usr/bin:/bin"

// Environ is the environment for children: this process's own, in which nothing that is run or loaded is looked for in
// the current folder.
func Environ() []string {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // then nothing can be made absolute, and what is relative is left out
	}
	return clean(os.Environ(), dir)
}

// clean does that for an environment and a current folder.
func clean(env []string, dir string) []string {
	out := make([]string, 0, len(env)+2)
	path := ""
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		how, known := variables[name]
		if !known || value == "" && how != searched {
			out = append(out, e)
			continue
		}
		if name == "LD_LIBRARY_PATH" { // the loader takes either separator
			value = strings.ReplaceAll(value, ";", ":")
		}
		switch value = how.apply(value, dir); {
		case name == "PATH":
			path = value
		case value != "":
			out = append(out, name+"="+value)
		}
	}
	if path == "" && runtime.GOOS != "windows" {
		path = defaultPath
	}
	return append(out, "PATH="+path)
}

func (t treat) apply(value, dir string) string {
	switch t {
	case searched:
		return strings.Join(absoluteOnly(value), string(os.PathListSeparator))
	case dropped:
		if !filepath.IsAbs(value) {
			return ""
		}
		return value
	case each:
		fields := strings.Fields(value)
		for i, f := range fields {
			fields[i] = absolute(f, dir)
		}
		return strings.Join(fields, " ")
	}
	if t == program && !strings.ContainsRune(value, filepath.Separator) {
		return value
	}
	return absolute(value, dir)
}

// absolute leaves addresses and the user's home folder as they are.
func absolute(path, dir string) string {
	if filepath.IsAbs(path) || strings.Contains(path, "://") || strings.HasPrefix(path, "file:") || strings.HasPrefix(path, "~") {
		return path
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, path)
}

// absoluteOnly are the entries of a search path that mean the same in every folder.
func absoluteOnly(list string) []string {
	entries := strings.Split(list, string(os.PathListSeparator))
	if runtime.GOOS == "windows" {
		entries = filepath.SplitList(list)
	}
	return slices.DeleteFunc(entries, func(e string) bool { return !filepath.IsAbs(e) })
}

// Path is PATH without the entries that mean the current folder.
func Path() string {
	return strings.Join(absoluteOnly(os.Getenv("PATH")), string(os.PathListSeparator))
}
