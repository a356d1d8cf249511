package alu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/ptx"
)

// spelled is every choice of words of a row's form.
func (r *row) spelled() [][]string {
	out := [][]string{nil}
	for _, g := range r.groups {
		var next [][]string
		for _, head := range out {
			if g.optional {
				next = append(next, head)
			}
			for _, w := range g.words {
				next = append(next, append(slices.Clone(head), w))
			}
		}
		out = next
	}
	return out
}

// registersOf names a register type for each kind of value.
func registersOf(t ptx.Type) string {
	switch {
	case t.Class == ptx.Predicate, t.Name == "f32", t.Name == "f64", t.Name == "f16", t.Name == "f16x2":
		return t.Name + "_"
	}
	return fmt.Sprintf("b%d_", max(t.Bits, 8))
}

// written is the instruction of a form on fitting registers.
func (r *row) written(op string, words []string) string {
	c := &call{in: &ptx.Instr{Words: append([]string{op}, words...)}, words: words}
	c.types()
	var args []string
	for i, w := range strings.Fields(r.operands) {
		first, second, both := strings.Cut(strings.TrimSuffix(w, "?"), "|")
		switch first {
		case "P":
			args = append(args, "pred_0|pred_1")
			continue
		case "#":
			args = append(args, "0xe8")
			continue
		case "vector":
			first = "T"
		}
		arg := registersOf(c.typeOf(first)) + strconv.Itoa(i)
		if both {
			arg += "|" + second + "_1"
		}
		args = append(args, arg)
	}
	return op + "." + strings.Join(words, ".") + " " + strings.Join(args, ", ") + ";"
}

// unlike are instructions that ptxas takes and the package refuses: those of 128 bits, and conversions between f16 and
// bf16 that say no rounding, of which the ISA knows nothing.
var unlike = []string{"mov.b128 ", "cvt.f16.bf16 ", "cvt.bf16.f16 "}

// TestFormsAgainstPtxas writes every instruction of the table and compares with ptxas, which of them are PTX.
func TestFormsAgainstPtxas(t *testing.T) {
	tc, err := build.Find(t.Context(), build.Options{NoInstall: true})
	if err != nil {
		t.Skip("no nvcc")
	}
	ptxas := filepath.Join(filepath.Dir(tc.NVCC), "ptxas")
	if _, err := os.Stat(ptxas); err != nil {
		t.Skip("no ptxas")
	}
	lines := strings.Split(head+declared, "\n")
	lines = lines[:len(lines)-1]
	ours := map[string]error{}
	first := len(lines)
	for op, rows := range table {
		for i := range rows {
			for _, words := range rows[i].spelled() {
				text := rows[i].written(op, words)
				if _, again := ours[text]; again {
					continue
				}
				f := parse(t, text)
				_, ok, err := Compile(f, &f.Body[0])
				require.True(t, ok)
				ours[text] = err
				lines = append(lines, text)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "t.ptx")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\nret;\n}\n"), 0o644))
	out, _ := exec.Command(ptxas, "-arch", "sm_100a", "-O0", "-o", os.DevNull, file).CombinedOutput()
	refused := map[string]string{}
	for _, m := range regexp.MustCompile(`line (\d+); error\s*: (.*)`).FindAllStringSubmatch(string(out), -1) {
		n, _ := strconv.Atoi(m[1])
		refused[lines[n-1]] = m[2]
	}
	t.Logf("%d instructions, of which ptxas refuses %d", len(lines)-first, len(refused))
	for _, text := range lines[first:] {
		why, bad := refused[text]
		switch {
		case bad && ours[text] == nil:
			t.Errorf("%s compiles, but ptxas says %s", text, why)
		case !bad && ours[text] != nil && !slices.ContainsFunc(unlike, func(u string) bool { return strings.HasPrefix(text, u) }):
			t.Errorf("%s is refused with %v, but ptxas takes it", text, ours[text])
		}
	}
}

// TestAnyOperand puts each form of operand at each place of each opcode: all are taken or refused with an error, and what
// is taken can be run.
func TestAnyOperand(t *testing.T) {
	forms := strings.Split("b32_1 f64_2 pred_3 !pred_3 !b32_1 pred_1|pred_2 _|pred_1 _ %tid.x tile tile+4 WARP_SZ 5 -1 0f3F800000 1.5 [b64_1] [tile] {b16_1,b16_2} {b8_1,_,5,b8_2} {} (b32_1) () b128_1", " ")
	for op, rows := range table {
		for i := range rows {
			spelled := rows[i].spelled()
			text := rows[i].written(op, spelled[len(spelled)-1])
			name, rest, _ := strings.Cut(strings.TrimSuffix(text, ";"), " ")
			args := strings.Split(rest, ", ")
			for place := range args {
				for _, form := range append(forms, "") {
					changed := slices.Clone(args)
					if changed[place] = form; form == "" {
						changed = slices.Delete(changed, place, place+1)
					}
					f := parse(t, name+" "+strings.Join(changed, ", ")+";")
					op, ok, err := Compile(f, &f.Body[0])
					require.True(t, ok)
					if err == nil {
						op.Eval(make([]uint64, len(op.In)), make([]uint64, len(op.Out)))
					} else {
						require.True(t, strings.HasPrefix(err.Error(), name+": "), err)
						require.NotContains(t, err.Error(), "internal")
					}
				}
			}
		}
	}
}
