package build

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/internal/fakecubin"
)

// fakeNVCC behaves like nvcc as far as this package looks. Its PTX is one kernel with the source, without its comment
// lines, as its body; its cubin is an ELF file of that kernel with the PTX after it. Words in the source make it go wrong.
const fakeNVCC = `#!/bin/sh
case "$*" in
--version) echo "Cuda compilation tools, release X, V@VERSION@"; exit 0;;
--list-gpu-code) echo @TARGETS@; exit 0;;
esac
echo "$*" >> "@LOG@"
for a in "$@"; do
  case "$prev" in -o) out=$a;; esac
  case "$a" in -arch=*) arch=${a#-arch=};; esac
  prev=$a
done
if grep -q REFUSE "$prev"; then echo "$PWD/$prev(1): error: refused"; exit 2; fi
if grep -q NO_PRELUDE "$prev"; then case "$*" in *prelude*) echo "$prev(1): error: identifier is undefined"; exit 2;; esac; fi
if grep -q LATE "$prev"; then sleep 0.3; fi
if grep -q SLOW "$prev"; then sleep 30; fi
name=${out%.*}
target=sm_${arch#*_}
has() { grep -q "$1" "$prev"; }
case "$out" in
*.ptx)
  entry=$name
  if has PTX_TARGET; then target=sm_70; fi
  if has PTX_KERNEL; then entry=stranger; fi
  if has PTX_NOTHING; then exit 0; fi
  if has PTX_NONE; then : > "$out"; exit 0; fi
  if has PTX_GARBAGE; then echo "I am no compiler" > "$out"; exit 0; fi
  if ! has PTX_VERSION; then echo ".version 9.0"; fi > "$out"
  { echo ".target $target"; echo ".address_size 64"; } >> "$out"
  if has PTX_ENTRY; then exit 0; fi
  { echo ".visible .entry $entry()"; echo "{"; grep -v '^//' "$prev"; echo "ret;"; } >> "$out"
  if ! has PTX_CUT; then echo "}"; fi >> "$out";;
*)
  entry=$(grep -o 'entry [^(]*' "$prev"); entry=${entry#entry }
  if has CUBIN_ARCH; then target=sm_100; fi
  if has CUBIN_KERNEL; then entry=stranger; fi
  if has CUBIN_HOST; then target=host; fi
  if has CUBIN_NONE; then : > "$out"; exit 0; fi
  if has CUBIN_GARBAGE; then echo "I am no compiler" > "$out"; exit 0; fi
  cat "@ELF@/$target.$entry" "$prev" > "$out" || exit 9
  if has CUBIN_CUT; then head -c 400 "@ELF@/$target.$entry" > "$out"; fi
  if has NO_REPORT; then exit 0; fi
  echo "ptxas info    : Compiling entry function '$entry' for '$arch'"
  echo "ptxas info    : Used 7 registers";;
esac
`

// fakePython answers for pip, which unpacks the machine's wheels; @MODE@ chooses how it fails.
const fakePython = `#!/bin/sh
if [ "@MODE@" = nopip ]; then echo "python3: No module named pip" >&2; exit 1; fi
case "$*" in *--version) echo "pip 99"; exit 0;; esac
case "$1" in -c) exit 0;; esac
echo "$*" >> "@LOG@"
while [ $# -gt 0 ]; do case "$1" in --target) shift; t=$1;; -r) shift; cat "$1" > "@LOG@.wheels";; esac; shift; done
echo "Downloading some_wheel.whl (1.0 MB)"
mkdir -p "$t/@ROOT@/bin"
cp "@TREE@/@ROOT@/bin/nvcc" "$t/@ROOT@/bin/nvcc"
case "@MODE@" in
offline) echo "WARNING: Retrying"; echo "ERROR: No matching distribution found"; exit 1;;
hashes) echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"; echo "Expected sha256 1"; echo "     Got        2"; exit 1;;
hang) echo $$ > "@LOG@.pid"; sleep 50 & echo $! >> "@LOG@.pid"; wait; exit 1;;
partial) exit 0;;
esac
sleep 0.2
cp -R "@TREE@/." "$t"
case "@MODE@" in
other) echo "echo I ran >> '@LOG@.ran'" >> "$t/@ROOT@/bin/nvcc";;
more) echo "#error" > "$t/@ROOT@/include/math.h";;
esac
`

// machine is a PATH of nothing but the fakes and a few Unix tools, and a cache.
type machine struct {
	t     *testing.T
	dir   string // holds the scripts and logs
	bin   string // all of PATH
	cache string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, dir: t.TempDir(), cache: t.TempDir()}
	m.bin = filepath.Join(m.dir, "path")
	require.NoError(t, os.Mkdir(m.bin, 0o777))
	for _, tool := range []string{"sh", "cat", "cp", "mkdir", "sleep", "grep", "head"} {
		real, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("the fakes need the Unix tool %s: %v", tool, err)
		}
		require.NoError(t, os.Symlink(real, filepath.Join(m.bin, tool)))
	}
	m.write(filepath.Join(m.bin, "gcc"), "#!/bin/sh\necho gcc 12\n")
	for _, arch := range []string{"sm_80", "sm_90", "sm_90a", "sm_100", "host"} {
		for _, kernel := range []string{"k", "k2", "gemm", "gocute_check", "stranger"} {
			m.write(filepath.Join(m.dir, "elf", arch+"."+kernel), string(fakecubin.New(arch, kernel)))
		}
	}
	t.Setenv("PATH", m.bin)
	t.Setenv(EnvCache, m.cache)
	for _, name := range []string{EnvNVCC, EnvLimit, EnvNoInstall, "CUDA_HOME", "NVCC_CCBIN"} {
		t.Setenv(name, "")
	}
	return m
}

func (m *machine) write(path, text string) string {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o777))
	return path
}

// nvcc writes a fake nvcc of that version; its calls are logged.
func (m *machine) nvcc(path, version string) string {
	m.t.Helper()
	return m.write(path, strings.NewReplacer("@VERSION@", version, "@TARGETS@", "sm_80 sm_90", "@LOG@", m.log("nvcc"), "@ELF@", filepath.Join(m.dir, "elf")).Replace(fakeNVCC))
}

// python writes a fake python3 whose pip behaves by mode and installs nvcc 13.0.88.
func (m *machine) python(mode string) {
	m.t.Helper()
	m.wheels("13.0.88")
	m.write(filepath.Join(m.bin, "python3"),
		strings.NewReplacer("@MODE@", mode, "@TREE@", m.tree(), "@ROOT@", wheelRoot, "@LOG@", m.log("pip")).Replace(fakePython))
}

// tree is the folder of what the fake wheels unpack to.
func (m *machine) tree() string { return filepath.Join(m.dir, "wheels") }

// wheels writes it, with a compiler of that version.
func (m *machine) wheels(version string) {
	m.t.Helper()
	m.nvcc(filepath.Join(m.tree(), wheelRoot, "bin/nvcc"), version)
	for _, f := range []string{
		"bin/ptxas", "bin/nvcc.profile", "nvvm/bin/cicc", "include/cuda_runtime.h", "include/cuda_fp16.h", "include/cuda_bf16.h",
		"include/crt/host_defines.h", "lib/libnvrtc.so.13", "lib/libnvrtc-builtins.so.13.0",
	} {
		m.write(filepath.Join(m.tree(), wheelRoot, f), "whole "+f)
	}
}

// digest is what is pinned for them.
func (m *machine) digest() string {
	m.t.Helper()
	files, err := listFiles(m.tree())
	if errors.Is(err, fs.ErrNotExist) {
		return "none"
	}
	require.NoError(m.t, err)
	return digest(listText(files))
}

func (m *machine) log(name string) string { return filepath.Join(m.dir, name+".log") }

// calls counts the logged calls of nvcc (compiles only) or pip (installs only).
func (m *machine) calls(name string) int {
	data, err := os.ReadFile(m.log(name))
	if err != nil {
		return 0
	}
	return bytes.Count(data, []byte("\n"))
}

// options look at no toolkit of the real machine.
func (m *machine) options() Options {
	return Options{Progress: m.t.Output(), system: filepath.Join(m.dir, "no-such-toolkit"), tree: m.digest()}
}
