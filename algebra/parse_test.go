package algebra

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// TestParse: every form of the text, read and printed.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		" ( 2 , 3 ) : ( 1 , 2 ) ":           "(2,3):(1,2)",
		"_16:_1":                            "16:1",
		"(_0_9,_10):(1,9)":                  "",
		"(_9,_0010):(1,9)":                  "(9,10):(1,9)",
		"S<1,0,1> o 0 o 4:1":                "Sw<1,0,1> o 0 o 4:1",
		"Sw<2,1,-3> o 4 o 128:1":            "Sw<2,1,-3> o 4 o 128:1",
		"(4):(1)":                           "(4):(1)",
		"(2*3):(1)":                         "(6):(1)",
		"(2*3)*4:1":                         "24:1",
		"(2+3)/2:1":                         "2:1",
		"(7)%4:1":                           "3:1",
		"(7)%4+1:1":                         "4:1",
		"((7)):((1))":                       "((7)):((1))",
		"(4,2):((1)@0,1@1)":                 "(4,2):(1@0,1@1)",
		"(4,(2,2)):(1@0,(3@0@1,1@1@1))":     "(4,(2,2)):(1@0,(3@0@1,1@1@1))",
		"2:3@7":                             "2:3@7",
		"ceil_div(M,4):1":                   "ceil_div(M,4):1",
		"ceil_div(9,4):1":                   "3:1",
		"ceil_div(8,4):1":                   "2:1",
		"min(9,4):1":                        "4:1",
		"max(9,4):1":                        "9:1",
		"xor(9,4,1):1":                      "12:1",
		"xor(9,4):1":                        "13:1",
		"min(M,4):1":                        "min(M,4):1",
		"8:max(2,K)":                        "8:max(K,2)",
		"max(min(9,7),2)*2:1":               "14:1",
		"min:max":                           "min:max",
		"ceil_div:xor":                      "ceil_div:xor",
		"(Az,zA,_x,x_,x0,x9):(Z,z,a,A,1,1)": "(Az,zA,_x,x_,x0,x9):(Z,z,a,A,1,1)",
		"7-3-2:1":                           "2:1",
		"2*3 + 1:1":                         "",
		"--3:1":                             "3:1",
		"M/1:1":                             "M:1",
		"M%1+1:1":                           "1:1",
		"8:-(2)":                            "8:-2",
		"8 * 2:1":                           "16:1",
		"8 / 2:1":                           "4:1",
		"8 % 3:1":                           "2:1",
	} {
		l, err := Parse(text)
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, l.String(), text)
	}
	s, off, err := ParseSlice("(4,8):(8,1) + 3*K")
	require.NoError(t, err)
	require.Equal(t, "(4,8):(8,1) + 3*K", s.String()+" + "+off.String())
	for text, want := range map[string]string{"(3,(_,2),_)": "(3,(_,2),_)", "_": "_", "M": "M"} {
		c, err := ParseCoord(text)
		require.NoError(t, err)
		require.Equal(t, want, c.String())
	}
	for text, want := range map[string]string{"(3:3,(2,4):(1,8),_)": "(3:3,(2,4):(1,8),_)", "8": "8", "_": "_", "((2,3),4)": "((2,3),4)"} {
		tl, err := ParseTiler(text)
		require.NoError(t, err)
		require.Equal(t, want, tl.String())
	}
}

// TestParseRefusals: what is no layout, shape, stride, coordinate or tiler, and the place.
func TestParseRefusals(t *testing.T) {
	read := map[string]func(string) error{
		"layout": func(s string) error { return second(Parse(s)) },
		"shape":  func(s string) error { return second(ParseShape(s)) },
		"stride": func(s string) error { return second(ParseStride(s)) },
		"coord":  func(s string) error { return second(ParseCoord(s)) },
		"tiler":  func(s string) error { return second(ParseTiler(s)) },
		"slice":  func(s string) error { _, _, err := ParseSlice(s); return err },
	}
	deep := func(n int) string { return strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	for _, c := range [][3]string{
		{"layout", "4", `expected a layout: the stride after ":" is missing at position 1`},
		{"layout", "4:1 5", `unexpected "5" at position 4`},
		{"layout", "4:1 + 5", `unexpected "+ 5" at position 4`},
		{"layout", "(4,2):1", `shape (4,2) and stride 1 do not have the same profile at position 7`},
		{"layout", "4:(1,2)", `shape 4 and stride (1,2) do not have the same profile`},
		{"layout", "(4,(2)):(1,2)", `do not have the same profile`},
		{"layout", "(4,2):(1,(2))", `do not have the same profile`},
		{"layout", "(2,3)*4:1", `the stride after ":" is missing at position 5`},
		{"layout", "((2,3))*4:1", `the stride after ":" is missing at position 7`},
		{"layout", "(_)*4:1", `the stride after ":" is missing at position 3`},
		{"layout", "(2:1)*4:1", `the stride after ":" is missing at position 5`},
		{"layout", "(1@0)*4:1", `the stride after ":" is missing at position 5`},
		{"layout", "()*4:1", `the stride after ":" is missing at position 2`},
		{"layout", "Sw<2,0,1> o 0 o 4:", "Sw<2,0,1>: |S| = 1 must be at least B = 2"},
		{"layout", "Sw<0,0,0> o 3 o 4:", "expected an integer or a name"},
		{"layout", "4:()", "do not have the same profile"},
		{"layout", "():4", "do not have the same profile"},
		{"layout", "_:1", "expected a shape"},
		{"layout", "4:_", "expected a stride"},
		{"layout", "1@0:1", "expected a shape"},
		{"layout", "(4:1,2):(1,2)", "expected a shape"},
		{"layout", "(4,2):(1:1,2)", "expected a stride"},
		{"layout", "4:1@64", "a basis is a path of mode numbers below 64"},
		{"layout", "4:1@M", "a basis is a path of mode numbers below 64"},
		{"layout", "4:1@-1", "a basis is a path of mode numbers below 64"},
		{"layout", "4:1" + strings.Repeat("@1", 65), "a basis is a path of mode numbers below 64"},
		{"layout", "4/0:1", "the divisor 0 must be positive at position 3"},
		{"layout", "4%0:1", "the divisor 0 must be positive at position 3"},
		{"layout", "4/-1:1", "the divisor -1 must be positive"},
		{"layout", "4/(M-1):1", "the divisor M-1 must be positive"},
		{"layout", "ceil_div(4,0):1", "the divisor 0 must be positive"},
		{"layout", "ceil_div(4,M-1):1", "the divisor M-1 must be positive"},
		{"layout", "ceil_div(4):1", "ceil_div takes two arguments"},
		{"layout", "min(4,3,2):1", "min takes two arguments"},
		{"layout", "max(4,3,2):1", "max takes two arguments"},
		{"layout", "xor(4):1", "xor takes two arguments"},
		{"layout", "ceil_div(4,3,2):1", "ceil_div takes two arguments"},
		{"layout", "ceil_div(9223372036854775807,2):1", "the result is too large for 63 bits, or for an expression"},
		{"layout", "9223372036854775808:1", "the integer 9223372036854775808 does not fit 63 bits at position 19"},
		{"layout", "9223372036854775807+1:1", "the result is too large for 63 bits"},
		{"layout", "4x:1", `"4x" is not an integer`},
		{"layout", "xor(1" + strings.Repeat(",1", 64) + "):1", `expected ")"`},
		{"layout", "min(2,):1", "expected an integer or a name at position 6"},
		{"layout", "4:{", "expected an integer or a name at position 2"},
		{"layout", "4:[", "expected an integer or a name at position 2"},
		{"layout", "4:@", "expected an integer or a name at position 2"},
		{"layout", "4:`", "expected an integer or a name at position 2"},
		{"layout", "4:/", "expected an integer or a name at position 2"},
		{"layout", "(4,2", `expected ")" at position 4`},
		{"layout", "Sw<1,0> o 0 o 4:1", `expected "," at position 6`},
		{"layout", "Sw<2,0,1> o 0 o 4:1", "Sw<2,0,1>: |S| = 1 must be at least B = 2"},
		{"layout", "Sw<M,0,1> o 0 o 4:1", "expected an integer at position 4"},
		{"layout", "Sw<0,0,0> o 3 o 4:1", "the offset 3 has no swizzle to stand in"},
		{"layout", deep(65) + ":1", "it nests deeper than 64 levels"},
		{"layout", "2*" + deep(65) + ":1", "it nests deeper than 64 levels"},
		{"shape", "(4,_)", "expected a shape"},
		{"shape", "4:1", "expected a shape"},
		{"shape", "(4,1@0)", "expected a shape"},
		{"stride", "(4,_)", "expected a stride"},
		{"stride", "4:1", "expected a stride"},
		{"coord", "4:1", "expected a coordinate"},
		{"coord", "(4,1@0)", "expected a coordinate"},
		{"coord", "(4,1:2)", "expected a coordinate"},
		{"tiler", "(4,1@0)", "expected a tiler"},
		{"slice", "4:1 + ", "expected an integer or a name"},
		{"slice", "4:1 + 2 3", `unexpected "3"`},
	} {
		require.ErrorContains(t, read[c[0]](c[1]), c[2], "%s %s", c[0], c[1])
	}
	for _, text := range []string{deep(64) + ":" + deep(64), "4:1" + strings.Repeat("@1", 64), "4:1@63", "xor(1" + strings.Repeat(",1", 63) + ")+1:1"} {
		_, err := Parse(text)
		require.NoError(t, err)
	}
	_, err := ParseWith("(M,N):(1,2)", func(name string) (sym.Expr, bool) { return sym.Int(3), name == "M" })
	require.ErrorContains(t, err, `the name "N" is not known at position 4`)
	_, err = ParseWith("max(M,1):1", func(name string) (sym.Expr, bool) { return sym.Int(3), false })
	require.ErrorContains(t, err, `the name "M" is not known at position 5`)
	_, err = ParseSwizzle("4")
	require.ErrorContains(t, err, "expected Sw<B,M,S> at position 0")
}
