package alu

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/ptx"
)

// declared has three registers or more of each type: b32_0, b32_1 and so on.
const declared = `.reg .pred pred_<8>; .reg .b8 b8_<8>; .reg .b16 b16_<8>; .reg .b32 b32_<8>; .reg .b64 b64_<8>;
.reg .u16 u16_<8>; .reg .u32 u32_<8>; .reg .u64 u64_<8>; .reg .s16 s16_<8>; .reg .s32 s32_<8>; .reg .s64 s64_<8>;
.reg .f16 f16_<8>; .reg .f16x2 f16x2_<8>; .reg .f32 f32_<8>; .reg .f64 f64_<8>; .reg .b128 b128_<8>; .reg .u8 u8_<8>; .reg .s8 s8_<8>;
`

const head = ".version 9.0\n.target sm_100a\n.address_size 64\n.shared .align 4 .b8 tile[64];\n.visible .entry k() {\n"

// parse reads instructions.
func parse(t testing.TB, text string) *ptx.Func {
	t.Helper()
	m, err := ptx.Parse("t.ptx", []byte(head+declared+text+"\nret;\n}\n"))
	require.NoError(t, err, text)
	return m.Funcs[0]
}

// compile compiles one instruction that must fit.
func compile(t testing.TB, text string) *Op {
	t.Helper()
	f := parse(t, text)
	op, ok, err := Compile(f, &f.Body[0])
	require.NoError(t, err, text)
	require.True(t, ok, text)
	return op
}

// on makes an instruction on registers of their own, b64 ones for conversions excepted; operands as in a row.
func on(t testing.TB, op string, operands ...string) *Op {
	t.Helper()
	count := map[string]int{}
	for i, o := range operands {
		if strings.HasSuffix(o, "_") {
			operands[i] = fmt.Sprint(o, count[o])
			count[o]++
		}
	}
	return compile(t, op+" "+strings.Join(operands, ", ")+";")
}

// eval is the first result.
func (op *Op) eval(in ...uint64) uint64 {
	var out [4]uint64
	op.Eval(in, out[:])
	return out[0]
}

func typeNamed(name string) ptx.Type {
	t, ok := ptx.TypeOf(name)
	if !ok {
		panic(name)
	}
	return t
}
