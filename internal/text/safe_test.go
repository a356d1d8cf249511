package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestComment(t *testing.T) {
	for in, want := range map[string][]string{
		"":                             {""},
		"one":                          {"one"},
		"one\n":                        {"one"},
		"one\n\ntwo":                   {"one", "", "two"},
		"one\rtwo\r\nthree":            {"one", "two", "three"},
		"a\vb\fc\u0085d\u2028e\u2029f": {"a", "b", "c", "d", "e", "f"},
		`path C:\`:                     {"path C:"},
		"splice \\ \t":                 {"splice"},
		`really??/`:                    {"really"},
		`both \??/\ ??/`:               {"both"},
		"nul\x00":                      {"nul<U+0000>"},
		"\x1b[31mred":                  {"<U+001B>[31mred"},
		"a\u202eb\u2066c\u200bd":       {"a<U+202E>b<U+2066>c<U+200B>d"},
		"bad \xff\xc3":                 {"bad <0xFF><0xC3>"},
		"a\u00a0b\\\u00a0":             {"a b"},
		"Größe α×β, 100 % */ /* \"":    {"Größe α×β, 100 % */ /* \""},
		"tab\there":                    {"tab\there"},
	} {
		require.Equal(t, want, Comment(in), "%q", in)
	}
}

func TestShort(t *testing.T) {
	require.Equal(t, "gemm", Short("gemm", 10))
	require.Equal(t, "a b<U+001B>", Short("a\nb\x1b\n", 20))
	require.Equal(t, "xxxx…", Short(strings.Repeat("x", 1<<20), 5))
	require.Equal(t, "ää…", Short("ääää", 3))
}

// FuzzComment holds Comment to its promises for any bytes.
func FuzzComment(f *testing.F) {
	for _, s := range []string{"", "a\rb", "\\", "??/", "\\ ", "\xff", "\u2028", "a\x00b", "?\\?/", "??\\/", "\\\u00a0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, l := range Comment(s) {
			require.True(t, utf8.ValidString(l))
			require.NotRegexp(t, `(\\|\?\?/)\s*$`, l)
			for _, r := range l {
				require.True(t, r == '\t' || unicode.IsPrint(r), "%q", l)
			}
			require.Equal(t, []string{l}, Comment(l), "it changes no more")
		}
	})
}
