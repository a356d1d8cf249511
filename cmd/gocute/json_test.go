package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cmd/gocute/report"
)

// decoded reads the one object that standard output holds, strictly, and holds it against the exit status.
func decoded[T any](t *testing.T, o outcome) T {
	t.Helper()
	var v T
	strictly(t, o, &v)
	return v
}

func strictly(t *testing.T, o outcome, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(into), o.stdout)
	require.False(t, d.More(), "one object, but got %s", o.stdout)
	require.Equal(t, o.status != 0, strings.Contains(o.stdout, "\n  \"errors\": ["), "status %d: %s", o.status, o.stdout)
	require.NotContains(t, o.stdout, "null")
}

// changing are the numbers and names in the objects that are another machine's, compiler's or day's.
var changing = regexp.MustCompile(`"(seconds|cached|compilerVersion|compilerOrigin|registersPerThread|version|revision|go|os)": [^\n]*?(,?)\n`)

func masked(command, text string) string {
	text = changing.ReplaceAllString(text, `"$1": …$2`+"\n")
	switch {
	case strings.Contains(command, " build "):
		text = regexp.MustCompile(`: [0-9.e-]+(,?)\n`).ReplaceAllString(text, ": …$1\n")
	case strings.Contains(command, " version "):
		text = regexp.MustCompile(`"arch": .*`).ReplaceAllString(text, `"arch": …`)
		text = regexp.MustCompile(`  "revision": …,\n`).ReplaceAllString(text, "")
	}
	return text
}

// TestJSONDocs runs each command of docs/json.md and compares; with UPDATE=1 it writes the page anew.
func TestJSONDocs(t *testing.T) {
	_, noCompiler := build.Find(t.Context(), build.Options{NoInstall: true})
	page := filepath.Join("..", "..", "docs", "json.md")
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	saxpy, err := os.ReadFile(filepath.Join("..", "..", "examples", "saxpy", "saxpy.go"))
	require.NoError(t, err)
	dir := foreign(t, map[string]string{"saxpy/saxpy.go": string(saxpy), "faulty/faulty.go": faulty(t), "copies/copies.go": copies})
	head, _, ok := strings.Cut(string(data), "\n# Keys\n")
	require.True(t, ok)
	parts := strings.Split(head, "```console\n$ gocute ")
	var out strings.Builder
	out.WriteString(parts[0])
	require.Greater(t, len(parts), 12)
	for _, part := range parts[1:] {
		block, rest, ok := strings.Cut(part, "```\n")
		require.True(t, ok)
		command, want, _ := strings.Cut(block, "\n")
		words, err := shellWords(command)
		require.NoError(t, err)
		if noCompiler != nil && (words[0] == "build" || words[0] == "check") {
			t.Logf("not run without a compiler: %s", command)
			out.WriteString("```console\n$ gocute " + part)
			continue
		}
		o := gocute(t, dir, words...)
		name := words[0]
		if name == "find" {
			name += " " + words[1]
		}
		strictly(t, o, objects[name]())
		require.NotContains(t, o.stdout, dir)
		if os.Getenv("UPDATE") == "" {
			require.Equal(t, masked(" "+command+" ", want), masked(" "+command+" ", o.stdout), "UPDATE=1 writes the page anew")
		} else if masked(" "+command+" ", want) != masked(" "+command+" ", o.stdout) {
			want = o.stdout
		}
		out.WriteString("```console\n$ gocute " + command + "\n" + want + "```\n" + rest)
	}
	golden(t, page, out.String()+"\n# Keys\n"+keys(t))
}

// keys are the tables of keys: the fields of package report with their comments.
func keys(t *testing.T) string {
	var b strings.Builder
	for _, file := range []string{"report", "kernels", "check", "tune", "algebra", "env"} {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("report", file+".go"), nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			spec := g.Specs[0].(*ast.TypeSpec)
			s, ok := spec.Type.(*ast.StructType)
			if !ok || spec.Name.Name == "Unknown" {
				continue
			}
			require.NotEmpty(t, g.Doc.Text(), spec.Name.Name)
			fmt.Fprintf(&b, "\n## %s\n%s\n| Key | Type | |\n|---|---|---|\n", spec.Name.Name, g.Doc.Text())
			for _, field := range s.Fields.List {
				b.WriteString(keyRow(t, field))
			}
		}
	}
	return b.String()
}

// keyRow is a field's row.
func keyRow(t *testing.T, field *ast.Field) string {
	kind := typeText(field.Type)
	if field.Tag == nil {
		return fmt.Sprintf("| | | the keys of %s |\n", strings.TrimPrefix(kind, "*"))
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	require.NoError(t, err)
	key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	require.Regexp(t, "^[a-z][a-zA-Z]*$", key)
	text := strings.Join(strings.Fields(field.Doc.Text()+" "+field.Comment.Text()), " ")
	return fmt.Sprintf("| `%s` | %s | %s |\n", key, strings.TrimPrefix(kind, "*"), strings.ReplaceAll(text, "|", "\\|"))
}

// typeText is a Go type in the words of JSON.
func typeText(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		if word := map[string]string{"int": "integer", "int64": "integer", "uint64": "integer", "bool": "boolean", "Number": "number"}[x.Name]; word != "" {
			return word
		}
		return x.Name
	case *ast.StarExpr:
		return typeText(x.X)
	case *ast.ArrayType:
		return "list of " + typeText(x.Elt)
	case *ast.MapType:
		return typeText(x.Value) + " by name"
	}
	return fmt.Sprintf("%T", e)
}

// TestJSONNumbers: what JSON has no number for is a string, and comes back.
func TestJSONNumbers(t *testing.T) {
	for _, v := range []float64{0, -1.5, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)} {
		data, err := json.Marshal(report.Number(v))
		require.NoError(t, err)
		var back report.Number
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, math.Float64bits(v), math.Float64bits(float64(back)), string(data))
	}
	var n report.Number
	require.Error(t, json.Unmarshal([]byte(`"inf"`), &n))
}

// TestJSONErrors: a failure is in the object, with its place, and on standard error as without --json.
func TestJSONErrors(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale,
		"prints/k.go":  strings.Replace(edit(t, "package scale", "package prints", "return scaled(\"scale\")", "fmt.Println(\"from the package\")\n\treturn scaled(\"scale\")"), "import (", "import (\n\t\"fmt\"\n", 1),
		"broken/k.go":  edit(t, "package scale", "package broken", "load.Slice(k.Thread).PartitionS(src", "load.Slise(k.Thread).PartitionS(src"),
		"wrong/k.go":   edit(t, "package scale", "package wrong", "dsl.FragmentLike(t)", "dsl.FragmentLike(t.At(0))"),
		"missing/k.go": edit(t, "package scale", "package missing", "dsl.Expect(dst, 0", "dsl.Expect(dst, 0.0")})
	at := func(args ...string) []report.Error {
		t.Helper()
		plain := gocute(t, dir, args...)
		o := gocute(t, dir, append(args, "--json")...)
		require.Equal(t, plain.status, o.status)
		require.Equal(t, plain.stderr, o.stderr)
		require.NotZero(t, o.status)
		var f struct{ Errors []report.Error }
		require.NoError(t, json.Unmarshal([]byte(o.stdout), &f), o.stdout)
		require.NotEmpty(t, f.Errors)
		return f.Errors
	}
	undefined := "load.Slise undefined (type dsl.TiledCopy[dsl.Gmem, dsl.Rmem, elem.F32] has no field or method Slise)"
	for _, args := range [][]string{{"list"}, {"gen"}, {"build"}, {"run", "scale"}, {"check", "scale"}, {"tune", "scale", "--dry-run", "--arch=sm_90"}} {
		require.Equal(t, []report.Error{{Message: undefined, Position: report.Position{File: "broken/k.go", Line: 22}}}, at(append(args, "./broken")...), args)
	}
	refusal := report.Error{Message: "scale: At: expects 3 coordinates, one for each mode of tAgA ((4,1),1,1), but got 1", Position: report.Position{File: "wrong/k.go", Line: 23}}
	for _, args := range [][]string{{"list"}, {"gen"}, {"run", "scale", "-on", "cpu"}, {"check", "scale"}} {
		require.Equal(t, []report.Error{refusal}, at(append(args, "./wrong")...), args)
	}
	require.Contains(t, at("run", "scael", "./scale", "-on", "cpu")[0].Message, "there is no kernel scael")
	require.Contains(t, at("gen", "./scale", "--check")[0].Message, "out/scale/bin/README: missing")
	require.Contains(t, at("run", "scale", "./scale", "-on", "tpu")[0].Message, "--on must be one of")
	require.Contains(t, at("eval", "nosuch(")[0].Message, "there is no operation nosuch")
	require.Contains(t, at("genn")[0].Message, "unexpected argument genn")

	o := gocute(t, dir, "list", "./prints", "--json").ok(t)
	require.Equal(t, "scale", decoded[report.List](t, o).Kernels[0].Name)
	require.Contains(t, o.stderr, "from the package\n")
	require.Contains(t, gocute(t, dir, "list", "./prints").ok(t).stdout, "from the package\n")
}

// TestJSONFails: a wrong result, found in the emulator, is a finding with the line of the store, and an error.
func TestJSONFails(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": edit(t, "a.At(at...) * al", "a.At(at...)*al + 1")})
	run := decoded[report.Run](t, gocute(t, dir, "run", "scale", "./scale", "-on", "cpu", "-set", "M=8,alpha=nan", "--json"))
	require.Equal(t, "pass", run.Verdict, "all is NaN, as expected")
	require.True(t, math.IsNaN(float64(run.Scalars["alpha"])))
	o := gocute(t, dir, "run", "scale", "./scale", "-on", "cpu", "-set", "M=8,alpha=2", "--json")
	run = decoded[report.Run](t, o)
	require.Equal(t, 1, o.status)
	require.Equal(t, "fail", run.Verdict)
	require.Equal(t, "wrong-value", run.Findings[0].Kind)
	require.Equal(t, report.Position{File: "scale/scale.go", Line: 25}, run.Findings[0].Position)
	require.Equal(t, run.Findings[0].Position, run.Errors[0].Position)
	checked := decoded[report.Check](t, gocute(t, dir, "check", "scale", "./scale", "-set", "M=8", "--json"))
	require.Equal(t, checked.Kernels[0].Exact.Compared, checked.Kernels[0].Exact.Wrong)
}

// TestJSONEvalLines: a value for each line of standard input, a refusal among them.
func TestJSONEvalLines(t *testing.T) {
	var out report.Eval
	require.NoError(t, evaluatedLines(&out, strings.NewReader("(4,8):(8,1)\nnosuch(\n\"\x00<\n1+1")))
	require.Len(t, out.Results, 4)
	require.Equal(t, report.Value{Expression: "(4,8):(8,1)", Line: 1, Kind: "layout", Value: "(4,8):(8,1)"}, out.Results[0])
	require.Contains(t, out.Results[1].Error, "there is no operation nosuch")
	require.Empty(t, out.Results[2].Value)
	require.Equal(t, report.Value{Expression: "1+1", Line: 4, Kind: "integer", Value: "2"}, out.Results[3])
	data, err := report.Bytes(&out)
	require.NoError(t, err)
	require.True(t, json.Valid(data))
	require.True(t, bytes.Contains(data, []byte("<")), "not escaped for HTML")
}

// TestJSONEverywhere: every command with --json has an object, and the object is there before anything else is known.
func TestJSONEverywhere(t *testing.T) {
	seen := 0
	for _, path := range commands(t) {
		name := strings.Join(path, " ")
		help := gocute(t, t.TempDir(), append(path, "--help")...).ok(t).stdout
		require.Equal(t, objects[name] != nil, strings.Contains(help, "      --json "), name)
		if objects[name] == nil {
			continue
		}
		seen++
		data, err := report.Bytes(objects[name]())
		require.NoError(t, err)
		require.NotContains(t, string(data), "null")
	}
	require.Len(t, objects, seen)
}
