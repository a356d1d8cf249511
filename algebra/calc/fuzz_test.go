package calc

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzEval: no text makes the calculator panic or hang, and a value's text reads as the same value.
func FuzzEval(f *testing.F) {
	for _, s := range []string{"right_inverse(((1,4),(4,8)):((128,8),(32,1)))", "A=(4,8):(8,1); A(2,_)", "upcast<16>((256,128):(1,256))",
		"Sw<3,3,3> o 0 o (8,64):(64,1)", "zipped_divide((M,K):(K,1),(_,32))", "(1):(48) + 24", "xor(M,3)*(K+1)%4", "4:1@0@1", "(:", "-2", "get<0,1>(((1,2),3))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		from := time.Now()
		v, err := Eval(s)
		if d := time.Since(from); d > 5*time.Second {
			t.Fatalf("%q took %s", s, d)
		}
		var bad *SyntaxError
		if errors.As(err, &bad) {
			_ = bad.Caret()
		}
		if err != nil {
			return
		}
		switch v.(type) {
		case Picture, Cover, Bool: // no literals
			return
		}
		text := v.String()
		again, err := Eval(text)
		if err != nil {
			t.Fatalf("%q gives %q, which does not read: %v", s, text, err)
		}
		if again.String() != text {
			t.Fatalf("%q gives %q, which reads as %q", s, text, again)
		}
	})
}

// TestHostile: texts that are made to be too deep, too long or too large are refused at once.
func TestHostile(t *testing.T) {
	for name, s := range map[string]string{
		"parentheses": strings.Repeat("(", 60000),
		"signs":       strings.Repeat("-", 60000) + "1",
		"calls":       strings.Repeat("size(", 10000),
		"sum":         "1" + strings.Repeat("+1", 40000),
		"powers":      "(M+N+K+L)" + strings.Repeat("*(M+N+K+L)", 500),
		"doubling":    "A=M" + strings.Repeat(";A=A/(A+1)+A%(A+2)", 300),
		"layouts":     "A=(4,8):(1,4)" + strings.Repeat(";A=make_layout(A,A)", 300),
		"basis":       "4:1@99999999",
		"integer":     "123456789012345678901234567890:1",
		"product":     "4611686018427387904*4611686018427387904",
		"huge layout": "size(complement((4611686018427387904,4):(1,4611686018427387904)))",
		"append":      "append(4:1, 60000)",
	} {
		from := time.Now()
		_, err := Eval(s)
		require.Error(t, err, name)
		require.Less(t, time.Since(from), 3*time.Second, name)
		require.Less(t, len(err.Error()), 1<<18, name)
	}
}
