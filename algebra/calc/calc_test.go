package calc

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
)

type row struct {
	ID          string   `json:"id"`
	Op          string   `json:"op"`
	Args        []string `json:"args"`
	Result      string   `json:"result"`
	Truth       string   `json:"truth"`
	Expressible any      `json:"expressible"`
}

func (r row) text() string { return r.Op + "(" + strings.Join(r.Args, ", ") + ")" }

func rows(t testing.TB, file string) []row {
	t.Helper()
	dir := os.Getenv("GOCUTE_GOLDEN")
	if dir == "" {
		dir = filepath.Join("..", "testdata", "golden")
	}
	f, err := os.Open(filepath.Join(dir, file))
	require.NoError(t, err)
	defer f.Close()
	var out []row
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var r row
		require.NoError(t, json.Unmarshal(sc.Bytes(), &r))
		out = append(out, r)
	}
	require.NoError(t, sc.Err())
	return out
}

// sameSlice compares slices of swizzled layouts by value.
func sameSlice(a, b string) bool {
	la, oa, err := algebra.ParseSlice(a)
	lb, ob, err2 := algebra.ParseSlice(b)
	if err != nil || err2 != nil {
		return false
	}
	x, _ := oa.IsConst()
	y, _ := ob.IsConst()
	n, _ := la.IntSize()
	m, _ := lb.IntSize()
	for i := range n {
		if la.AtInt(i)+x != lb.AtInt(i)+y {
			return false
		}
	}
	return n == m
}

// TestGolden: every golden row as an expression gives the row's text.
func TestGolden(t *testing.T) {
	for _, r := range rows(t, "algebra.jsonl") {
		v, err := Eval(r.text())
		if err != nil {
			t.Errorf("%s %s: %v, want %s", r.ID, r.text(), err, r.Result)
			continue
		}
		if got := v.String(); got != r.Result && !sameSlice(got, r.Result) && !strings.HasSuffix(r.Result, ":() + "+got) {
			t.Errorf("%s %s\n  got  %s\n  want %s", r.ID, r.text(), got, r.Result)
		}
	}
}

// TestGoldenRefusals: what has no layout is refused by the operation, not by the reader.
func TestGoldenRefusals(t *testing.T) {
	for _, file := range []string{"algebra_divergences.jsonl", "algebra_errors.jsonl"} {
		for _, r := range rows(t, file) {
			v, err := Eval(r.text())
			none := r.Truth == "none" || file == "algebra_errors.jsonl" && r.Expressible != true
			if none && err == nil {
				t.Errorf("%s %s = %s, and no layout is that", r.ID, r.text(), v)
			} else if !none && r.Truth != "unknown" && err != nil {
				t.Errorf("%s %s: %v", r.ID, r.text(), err)
			}
			var bad *SyntaxError
			if errors.As(err, &bad) {
				t.Errorf("%s %s: %v", r.ID, r.text(), err)
			}
		}
	}
}
