// Package sarif holds what gocute check --sarif writes against the schema of the standard, as go-sarif carries it. It is a
// module of its own, so that nobody who uses gocute needs go-sarif or the validator.
package sarif

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // its source has the schema
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// schema compiles the JSON schema of SARIF 2.1.0, a constant of go-sarif that is not exported.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	require.NoError(t, err)
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	require.NoError(t, err)
	text := ""
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err = strconv.Unquote(lit.Value)
			require.NoError(t, err)
		}
		return true
	})
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("sarif.json", doc))
	s, err := c.Compile("sarif.json")
	require.NoError(t, err)
	return s
}

// check runs gocute check --sarif - in the root of the repository.
func check(t *testing.T, args ...string) (sarif []byte, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./cmd/gocute", "check", "--sarif", "-"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	require.NotEmpty(t, stdout.Bytes(), "%v: %s", err, stderr.String())
	return stdout.Bytes(), stderr.String()
}

// TestSchema validates logs of right kernels, of findings with and without related lines, and of errors with and without lines.
func TestSchema(t *testing.T) {
	s := schema(t)
	for name, args := range map[string][]string{
		"right":   {"copy_4x32", "./kernels"},
		"race":    {"turn", "./tests/sarif/faulty"},
		"mistake": {"-k", "turn", "-k", "unequal", "./tests/sarif/faulty"},
		"unknown": {"nosuch", "./kernels"},
	} {
		data, said := check(t, args...)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		require.NoError(t, err)
		require.NoError(t, s.Validate(doc), "%s: %s\n%s", name, data, said)
	}
	// The schema is one that refuses something.
	data, _ := check(t, "turn", "./tests/sarif/faulty")
	var log map[string]any
	require.NoError(t, json.Unmarshal(data, &log))
	log["runs"].([]any)[0].(map[string]any)["results"].([]any)[0].(map[string]any)["level"] = "fatal"
	require.Error(t, s.Validate(log))
}
