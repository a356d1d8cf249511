package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cuda"
)

// bareMachine is a PATH with a fake nvcc, a host compiler and the go command, and an empty cache.
func bareMachine(t *testing.T) (bin, cache string) {
	t.Helper()
	bin, cache = t.TempDir(), t.TempDir()
	goTool, err := findGo()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(goTool, filepath.Join(bin, "go")))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "gcc"), []byte("#!/bin/sh\necho gcc 12\n"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "nvcc"), []byte("#!/bin/sh\ncase $1 in --version) echo V13.0.88;; *) echo sm_80 sm_90;; esac\n"), 0o777))
	t.Setenv("PATH", bin)
	t.Setenv("GOCUTE_CACHE", cache)
	for _, name := range []string{"GOCUTE_NVCC", "GOCUTE_NVRTC", "GOCUTE_CACHE_LIMIT", "CUDA_HOME", "CUDA_PATH", "NVCC_CCBIN", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		t.Setenv(name, "")
	}
	t.Setenv("GOCUTE_NO_INSTALL", "1")
	return bin, cache
}

func findGo() (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, "go"))
		if err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", os.ErrNotExist
}

func TestEnv(t *testing.T) {
	bin, cache := bareMachine(t)
	o := gocute(t, repository(t), "env", "--json")
	var r report.Env
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &r))
	require.Equal(t, "nvcc", r.Compilers[0].Name)
	require.Equal(t, filepath.Join(bin, "nvcc"), r.Compilers[0].Path)
	require.Equal(t, "PATH", r.Compilers[0].Origin)
	require.Equal(t, report.EnvPlace{Origin: "CUDA_HOME", Reason: "not set"}, r.Compilers[0].Places[0])
	require.Equal(t, cache, r.Cache.Dir)
	require.Equal(t, int64(2<<30), r.Cache.LimitBytes)
	require.Equal(t, "1", r.Variables["GOCUTE_NO_INSTALL"])
	for _, e := range r.Errors { // a machine may have no NVRTC, and here none may be installed
		require.Contains(t, e.Message, "broken: nvrtc: ")
	}

	t.Setenv("CUDA_HOME", "/nonexistent")
	t.Setenv("GOCUTE_CACHE", "/proc/nothing")
	o = gocute(t, repository(t), "env")
	require.Equal(t, 1, o.status)
	require.Contains(t, o.stdout, "nvcc           13.0.88 at "+filepath.Join(bin, "nvcc")+" (PATH)\n")
	require.Contains(t, o.stderr, "broken: nvcc: CUDA_HOME (/nonexistent/bin/nvcc) cannot be used: no such file; correct it, or unset or remove it\n")
	require.Contains(t, o.stderr, "broken: build: the cache folder /proc/nothing cannot be written (set GOCUTE_CACHE to another)")

	t.Setenv("GOCUTE_CACHE_LIMIT", "much")
	o = gocute(t, repository(t), "env")
	require.Equal(t, 1, o.status)
	require.Contains(t, o.stderr, `GOCUTE_CACHE_LIMIT: expected a size such as 500MB, 2GB or 0, but got "much"`)
	entries, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.Empty(t, entries, "it changes nothing")
}

func TestCleanCommand(t *testing.T) {
	_, cache := bareMachine(t)
	key := strings.Repeat("ab", 32)
	writeFiles(t, cache, map[string]string{"objects/ab/" + key: "an object"})
	o := gocute(t, cache, "clean").ok(t)
	require.Equal(t, "removed 1 object from "+cache+"; 9 B freed\n", o.stdout)
	require.NoFileExists(t, filepath.Join(cache, "objects/ab", key))
}

// TestBuildTellsTheCompiler: which one is used and why is said before it is.
func TestBuildTellsTheCompiler(t *testing.T) {
	bin, _ := bareMachine(t)
	dir := filepath.Join(repository(t), "out/copy_4x32")
	o := gocute(t, dir, "build", "--no-install", ".")
	require.Equal(t, 1, o.status, "the fake writes nothing")
	require.Contains(t, o.stderr, "gocute: nvcc 13.0.88 at "+filepath.Join(bin, "nvcc")+" (found on PATH; CUDA_HOME is not set)\n")
	require.Contains(t, o.stderr, "expected the file copy_4x32.ptx, but got")
}

// A value of several lines stays in its column, and the reason for no GPU has one line.
func TestEnvColumns(t *testing.T) {
	var out bytes.Buffer
	printEnv(&session{stdout: &out}, &report.Env{NoGPU: "a\nb", Cache: report.EnvCache{Objects: 1}})
	require.Contains(t, out.String(), "GPU            none: a\n               b\n")
	require.Contains(t, out.String(), ": 1 object, 0 B, no limit\n")
	if _, err := cuda.Open(0); err != nil {
		require.NotContains(t, err.Error(), "\n")
	}
}
