package cuda_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/gen/cuda"
)

// hostile texts end a comment, or take the next line into it, for some reader of the emitted file.
var hostile = []string{
	"a\rint evil = 1;", "a\nint evil = 1;", "a\r\n#error evil", "a\vint evil;", "a\fint evil;", "a\u0085int evil;",
	"a\u2028int evil;\u2029int evil;", `C:\`, "C:\\ \t", "C:\\\v", "C:\\\f", "C:\\\x00", "C:\\\u00a0", `what??/`, "what??/ ", `what??/\`, `what\??/ \`,
	"*/ int evil; /*", "/* ", `" R"(`, "')\"", "nul\x00\nint evil;", "\xff\xfe\nint evil;", "\u202e;live tni\u2066", "\x1b[2J",
	"%s %d %n", "{{.Name}}", "#include \"/etc/passwd\"", "\n#include \"/etc/passwd\"", "\\u000aint evil;", "??/u000aint evil;", "\ufeff",
}

// commented is a kernel with a text wherever a user's stands.
func commented(text string) *cir.Kernel {
	k := vectorCopy()
	k.Doc = []string{text, text}
	k.Body = append([]cir.Stmt{cir.Comment{Text: text}}, k.Body...)
	k.Body = append(k.Body, cir.Comment{Text: text})
	return k
}

func printed(t *testing.T, text string) string {
	t.Helper()
	code, err := cuda.Print(commented(text), cuda.Options{})
	require.NoError(t, err)
	return string(code)
}

var (
	newlines = regexp.MustCompile("\r\n|[\r\v\f\u0085\u2028\u2029]") // more than C++ knows of
	spliced  = regexp.MustCompile("\\\\[ \t\x00\u00a0]*\n")
	blanks   = regexp.MustCompile(`\s+`)
)

// tokens is the code of a C++ file without its comments, as the first phases of translation read it: trigraphs, lines
// spliced by a backslash, comments and literals.
func tokens(code string) string {
	code = newlines.ReplaceAllString(code, "\n")
	code = spliced.ReplaceAllString(strings.ReplaceAll(code, "??/", `\`), "")
	var b strings.Builder
	for i := 0; i < len(code); {
		rest, end := code[i:], 1
		switch {
		case strings.HasPrefix(rest, "//"):
			end = strings.IndexByte(rest+"\n", '\n')
		case strings.HasPrefix(rest, "/*"):
			if end = strings.Index(rest[2:], "*/"); end < 0 {
				return "a comment that does not end"
			}
			end += 4
		case rest[0] == '"' || rest[0] == '\'':
			for end < len(rest) && rest[end] != rest[0] {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(rest))
			b.WriteString(rest[:end])
		default:
			b.WriteByte(rest[0])
		}
		i += end
	}
	return blanks.ReplaceAllString(b.String(), " ")
}

func TestHostileComments(t *testing.T) {
	want := tokens(printed(t, "harmless"))
	require.Contains(t, want, `asm volatile`, "the code is there")
	require.NotContains(t, want, "harmless")
	for _, text := range hostile {
		code := printed(t, text)
		require.Equal(t, want, tokens(code), "%q", text)
		require.NotRegexp(t, "[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", code, "%q", text)
	}
}

// TestCompilerReadsComments asks gcc what is code: with trigraphs, as -std=c++14 has them.
func TestCompilerReadsComments(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	code := func(text string) string {
		file := regexp.MustCompile(`(?m)^#include <.*>$`).ReplaceAllString(printed(t, text), "")
		cmd := exec.Command(gcc, "-std=c++14", "-E", "-P", "-x", "c++", "-")
		cmd.Stdin = strings.NewReader(file)
		out, err := cmd.Output()
		require.NoError(t, err, "%q", text)
		return blanks.ReplaceAllString(string(out), " ")
	}
	want := code("harmless")
	for _, text := range hostile {
		require.Equal(t, want, code(text), "%q", text)
	}
}

func FuzzComments(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	want := ""
	f.Fuzz(func(t *testing.T, text string) {
		if want == "" {
			want = tokens(printed(t, "harmless"))
		}
		require.Equal(t, want, tokens(printed(t, text)))
	})
}

// FuzzNames gives the printer any name for a kernel and an argument: refused, or an identifier and nothing more.
func FuzzNames(f *testing.F) {
	for _, name := range append(hostile, "copy", "x; int evil", "a b", "ä", "", "if", "_", "1x", "a\n", strings.Repeat("x", 10000)) {
		f.Add(name)
	}
	named := func(kernel, arg string) ([]byte, error) {
		k := vectorCopy()
		k.Name, k.Doc = kernel, nil
		k.Params[0].Name, k.Params[0].Mem.Name = arg, arg
		return cuda.Print(k, cuda.Options{})
	}
	identifier := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	f.Fuzz(func(t *testing.T, name string) {
		for _, pair := range [][2]string{{name, "src"}, {"kernel", name}} {
			code, err := named(pair[0], pair[1])
			if err != nil {
				require.ErrorContains(t, err, "internal error", "dsl lets no such name through")
				require.NotRegexp(t, "[\x00-\x1f\x7f]", err.Error())
				continue
			}
			require.Regexp(t, identifier, name)
			require.NotContains(t, string(code), "evil;")
		}
	})
}
