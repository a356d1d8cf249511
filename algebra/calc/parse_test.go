package calc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNUL: a NUL byte is an unexpected character and not the end of the text.
func TestNUL(t *testing.T) {
	for _, text := range []string{"1\x00", "1\x00+2", "\x00", "(4,\x008):(8,1)", "A=4:1\x00; A", "size(4:1\x00)", "1+\x00"} {
		v, err := Eval(text)
		require.ErrorContains(t, err, `"\x00"`, "%q = %s", text, v)
	}
}

// TestUnbindable: what is no free name is refused where it stands, and says why.
func TestUnbindable(t *testing.T) {
	for text, want := range map[string]string{
		"size=3; size(4)": "column 1: size is an operation and cannot be bound", "rank=2": "column 1: rank is an operation and cannot be bound",
		"xor = 4": "column 1: xor is an operation and cannot be bound", "A=1; min=2; A": "column 6: min is an operation and cannot be bound",
		"S=4": "column 1: S is reserved and cannot be bound", "Sw=3": "column 1: Sw is reserved and cannot be bound", "o=3": "column 1: o is reserved and cannot be bound",
		"_=4": "column 1: _ is reserved and cannot be bound", "Swizzle=1": "column 1: Swizzle is reserved and cannot be bound", "Int=2": "column 1: Int is reserved and cannot be bound",
		"LayoutRight=1": "column 1: LayoutRight is reserved and cannot be bound", "__=4": "column 1: \"__\" is not a name and cannot be bound",
		"1=2": "column 1: \"1\" is not a name and cannot be bound", "_1=2": "column 1: \"_1\" is not a name and cannot be bound", "=": "column 1: expected a value, but found \"=\"",
		"A=": "column 3: expected a value, but the text ends", "size=": "column 1: size is an operation and cannot be bound", "A==2": "column 3: expected a value, but found \"=\"",
	} {
		v, err := Eval(text)
		require.EqualError(t, err, want, "%q = %s", text, v)
	}
}

// TestWholeCharacters: a message quotes a character and not a part of its bytes.
func TestWholeCharacters(t *testing.T) {
	for _, text := range []string{"4:1 é", "(4,é)"} {
		_, err := Eval(text)
		require.ErrorContains(t, err, `"é"`, text)
	}
}
