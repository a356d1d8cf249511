package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPictures draws the pictures of docs/pictures.md and compares them with the files there. UPDATE=1 rewrites them.
func TestPictures(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(repository(t), "docs", "pictures.md"))
	require.NoError(t, err)
	dir := t.TempDir()
	if os.Getenv("UPDATE") != "" {
		dir = repository(t)
	}
	commands := regexp.MustCompile(`(?m)^gocute show .*$`).FindAllString(string(doc), -1)
	require.NotEmpty(t, commands)
	for _, line := range commands {
		words, err := shellWords(line)
		require.NoError(t, err)
		o := gocute(t, dir, words[1:]...).ok(t)
		require.Empty(t, o.stdout)
	}
	page := gocute(t, repository(t), "show", "page", filepath.Join("docs", "pictures.md")).ok(t).stdout
	require.Equal(t, len(commands), strings.Count(page, "<svg "))
	got, want := tree(t, filepath.Join(dir, "docs", "pictures")), tree(t, filepath.Join(repository(t), "docs", "pictures"))
	require.Equal(t, names(got), names(want), "the pictures of the page, and those in docs/pictures")
	require.Len(t, names(got), len(commands))
	for name, svg := range got {
		if want[name] != svg { // without the texts, which are long
			t.Errorf("docs/pictures/%s is not what its command draws: run go test ./cmd/gocute -run TestPictures with UPDATE=1", name)
		}
		if svg != "" {
			require.Contains(t, string(doc), "](pictures/"+name+")")
		}
	}
}

const showAtom = "SM80_16x8x16_F32F16F16F32_TN"

func TestShowOutput(t *testing.T) {
	dir := t.TempDir()
	svg := gocute(t, dir, "show", "layout", "(4,8):(8,1)").ok(t).stdout
	require.True(t, strings.HasPrefix(svg, "<svg ") && strings.HasSuffix(svg, "</svg>\n"))
	require.True(t, strings.HasPrefix(gocute(t, dir, "show", "layout", "(4,8):(8,1)", "--html").ok(t).stdout, "<!DOCTYPE html>"))
	gocute(t, dir, "show", "layout", "(4,8):(8,1)", "-o", "a.svg").ok(t)
	gocute(t, dir, "show", "layout", "(4,8):(8,1)", "-o", "sub/a.html").ok(t)
	files := tree(t, dir)
	require.Equal(t, []string{"a.svg", "sub/a.html"}, names(files))
	require.Equal(t, svg, files["a.svg"])
	require.Contains(t, files["sub/a.html"], "<svg ")
	svg = gocute(t, dir, "show", "smem", "(1,8):(1,1)", "--elem", "f32", "--copy", "UniversalCopy<u32>", "--thr", "1:1", "--val", "1:1").ok(t).stdout
	require.Contains(t, svg, "phase 0, lanes 0 to 0: 1 word in 1 bank, no conflict")
}

// TestShowForms gives every command and flag once, in forms that mean the same.
func TestShowForms(t *testing.T) {
	dir := t.TempDir()
	for _, same := range [][][]string{
		{{"tv", "((8,4),4):((16,1),4)", "4,32"}, {"tv", "right_inverse(((1,4),(4,8)):((128,8),(32,1)))", "(4,32)"}},
		{{"tiled-mma", showAtom, "--warps", "2,2"}, {"tiled-mma", showAtom, "--warps", "(2,2,1):(1,2,0)"}, {"tiled-mma", showAtom, "-warps", "2,2,1", "-tile", "_,16,_"}},
		{{"tiled-mma", showAtom, "--tile", "16,(8,2,2):(1,16,8),16"}},
		{{"copy", "UniversalCopy<u128>", "--elem", "f32", "--thr", "(4,8):(8,1)", "--val", "(1,4):(4,1)"},
			{"copy", "UniversalCopy<u128>", "--elem", "f32", "--tv", "((8,4),4):((16,1),4)", "--tile", "4,32"},
			{"copy", "UniversalCopy<u128>", "--elem", "f32", "--thr", "(4,8):(8,1)", "--val", "(1,4):(4,1)", "--given", "source"},
			{"copy", "UniversalCopy<u128>", "--elem", "f32", "--thr", "(4,8):(8,1)", "--val", "(1,4):(4,1)", "--given", "destination"}},
		{{"smem", "(8,64):(64,1)"}, {"smem", "(8,64):(64,1)", "--elem", "bf16"}},
		{{"smem", "(4,64):(64,1)", "--copy", "SM80_CP_ASYNC_CACHEGLOBAL<u128>", "--thr", "(4,8):(8,1)", "--val", "(1,8):(8,1)"},
			{"smem", "(4,64):(64,1)", "--copy", "SM80_CP_ASYNC_CACHEGLOBAL<u128>", "--thr", "(4,8):(8,1)", "--val", "(1,8):(8,1)", "--side", "destination"}},
	} {
		cells := regexp.MustCompile(`(?s)<g id=.*`)
		first := ""
		for i, args := range same {
			svg := cells.FindString(gocute(t, dir, append([]string{"show"}, args...)...).ok(t).stdout)
			require.NotEmpty(t, svg)
			if i == 0 {
				first = svg
			}
			if i > 0 && args[0] != "tv" {
				require.Equal(t, len(first), len(svg), "%v", args)
			}
		}
	}
}

func TestShowPage(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"list.sh": "#!/bin/sh\ngocute show layout '(4,8):(8,1)' -o x.svg\n  gocute show mma " + showAtom + "\n# gocute show nothing\n",
		"none.sh": "echo\n", "bad.sh": "\ngocute show mma X\n", "open.sh": "gocute show layout '(4,8)\n",
		"page.sh": "gocute show page none.sh\n", "other.sh": "gocute show layout 8:1 --colour red\n",
	})
	gocute(t, dir, "show", "page", "list.sh", "--title", "Two", "-o", "p.html").ok(t)
	files := tree(t, dir)
	require.NotContains(t, files, "x.svg")
	require.Equal(t, 2, strings.Count(files["p.html"], "<svg "))
	require.Contains(t, files["p.html"], "<h1>Two</h1>")
	require.Equal(t, files["p.html"], gocute(t, dir, "show", "page", "list.sh", "--title", "Two").ok(t).stdout)
	for file, want := range map[string]string{
		"none.sh": "none.sh: no line begins with gocute show\n", "open.sh": "open.sh:1: a quote ' is not closed\n",
		"page.sh": "page.sh:1: gocute show draws one picture, not a page\n", "other.sh": "other.sh:1: unknown flag --colour\n",
	} {
		gocute(t, dir, "show", "page", file).fails(t, 1, want)
	}
	o := gocute(t, dir, "show", "page", "bad.sh")
	require.Equal(t, 1, o.status)
	require.Contains(t, o.stderr, "bad.sh:2: there is no MMA atom X; ")
	gocute(t, dir, "show", "page", "list.sh", "-o", "p.svg").fails(t, 2, "-o p.svg: the name of a page ends in .html\n")
}

func TestShowRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		status int
		want   string // what the line contains
		args   []string
	}{
		{1, "layout (257,8): 257 x 8 cells are too many to draw; the limit is 256 a side and 32768 in all", []string{"layout", "(257,8):(8,1)"}},
		{1, "LAYOUT: expected a layout, but 7 is none", []string{"layout", "7"}},
		{2, "LAYOUT: ", []string{"layout", "(4,8"}},
		{1, "at(3:4611686018427387904, 2): 0 + 2*4611686018427387904 does not fit 63 bits", []string{"layout", "3:4611686018427387904"}},
		{2, "TILE: ", []string{"tv", "(4,2):(1,4)", "4,x("}},
		{1, "there is no MMA atom SM80_16x8x16_F32F16F16F32; did you mean " + showAtom, []string{"mma", "SM80_16x8x16_F32F16F16F32"}},
		{1, "there is no copy atom LDSM; ", []string{"copy", "LDSM", "--mma", showAtom, "--operand", "A"}},
		{1, "--tile: the tile's extent in mode M is 24", []string{"tiled-mma", showAtom, "--tile", "24"}},
		{1, "--tile: expects up to three modes", []string{"tiled-mma", showAtom, "--tile", "16,8,16,1"}},
		{1, "--warps: append((0,2):(1,0), 1:0): the extent 0 must be at least 1", []string{"tiled-mma", showAtom, "--warps", "0,2"}},
		{1, "--warps: expects a static layout of the atoms over (M,N,K), but got (2,2,1,1):(1,2,0,0)", []string{"tiled-mma", showAtom, "--warps", "2,2,1,1"}},
		{1, "--warps: append((0,2)", []string{"copy", "SM75_U32x2_LDSM_N", "--mma", showAtom, "--operand", "A", "--warps", "0,2"}},
		{2, "--warps: ", []string{"tiled-mma", showAtom, "--warps", "2,("}},
		{1, `gc64, but got "f12"`, []string{"smem", "(8,8):(8,1)", "--elem", "f12"}},
		{1, "phase 9 is asked for", []string{"smem", "(16,64):(64,1)", "--copy", "SM75_U32x4_LDSM_N", "--mma", showAtom, "--operand", "A", "--phase", "9"}},
		{2, "--phase: expected --copy ATOM too", []string{"smem", "(8,64):(64,1)", "--phase", "1"}},
		{2, "--warps: expected --copy ATOM too", []string{"smem", "(8,64):(64,1)", "--warps", "2,1"}},
		{2, "say how the copy is laid out", []string{"copy", "SM75_U32x2_LDSM_N"}},
		{2, "say how the copy is laid out", []string{"copy", "SM75_U32x2_LDSM_N", "--thr", "8:1"}},
		{2, "say how the copy is laid out", []string{"copy", "SM75_U32x2_LDSM_N", "--tv", "(8,1):(1,1)"}},
		{2, "--mma needs --operand A, B or C", []string{"copy", "SM75_U32x2_LDSM_N", "--mma", showAtom}},
		{2, "-o x.png: the name of a picture ends in .svg, that of a page in .html", []string{"mma", showAtom, "-o", "x.png"}},
		{2, "the name of a page ends in .html", []string{"mma", showAtom, "--html", "-o", "x.svg"}},
		{2, "expected one of", nil},
		{2, "--operand must be one of", []string{"copy", "SM75_U32x2_LDSM_N", "--operand", "D"}},
	} {
		o := gocute(t, dir, append([]string{"show"}, c.args...)...)
		require.Equal(t, c.status, o.status, "%v: %s", c.args, o.stderr)
		require.Contains(t, o.stderr, c.want)
		require.Empty(t, o.stdout)
		if c.status == 1 {
			require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
		}
	}
	require.Empty(t, names(tree(t, dir)))
}

// A file without an end is refused, wherever a text is read.
func TestEndless(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero here")
	}
	const refused = "/dev/zero: expected a text of at most 67108864 bytes, but it has more\n"
	gocute(t, t.TempDir(), "show", "page", "/dev/zero").fails(t, 1, refused)
	gocute(t, t.TempDir(), "gen", "--tuned", "/dev/zero").fails(t, 1, "--tuned: "+refused)
}
