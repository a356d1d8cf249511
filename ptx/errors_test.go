package ptx

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// body is a kernel of these statements, the first of which is on line 5.
func body(statements string) string {
	return head + ".entry k(.param .u32 n) { .reg .b32 %r<9>; .reg .pred %p<3>; .reg .f32 %f<3>; .shared .b8 tile[8];\n" + statements + "\nret; }\n"
}

// TestErrors has text that is no PTX, with the line and the message.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{"", "1: expected PTX, which begins with .version"},
		{".version 9.0\nfoo", "2: expected a declaration, but got foo"},
		{".version 9.0\n\n/* a\nb", "3: expected */ to end the comment that begins here"},
		{".version 9.0\n.address_size x", "2: expected the size of an address, but got x"},
		{".version 9.0\n.alias a, b;", "2: .alias is not supported"},
		{".version 9.0\n.file 1 name", "2: expected the name of a file in quotes, but got name"},
		{".version 9.0\n.loc 1 2", "2: expected .loc FILE LINE COLUMN"},
		{".version 9.0\n.loc 1 a 2", `2: expected .loc FILE LINE COLUMN, but got "a"`},
		{".version 9.0\n.section .debug\n{ .b8 1", "2: expected } to close the section that begins here"},
		{".version 9.0\n.pragma \"x\"", "2: expected ; to end the directive that begins here"},
		{".version 9.0\n.global .u32\n\nx", "4: expected ; after a variable, but got the end of the text"},
		{".version 9.0\n.global x;", "2: expected a type such as .u32, but got x"},
		{".version 9.0\n.global .u33 x;", "2: expected a type such as .u32, but got .u33"},
		{".version 9.0\n.global .align 3 .u32 x;", "2: expected an alignment that is a power of two, but got 3"},
		{".version 9.0\n.global .u32 x[2] = {1,\n2,\n3};", "2: expected at most 2 initial values of x, but got 3"},
		{".version 9.0\n.global .u32 x = mask(y);", "2: the operator mask is not supported in initial values"},
		{".version 9.0\n.global .u32 x = {1 2};", "2: expected , or } after an initial value, but got 2"},
		{".version 9.0\n.global .u8 x[274877906944][16];", "2: expected an array of at most 2^40 elements"},
		{".version 9.0\n.global .u32 x = " + strings.Repeat("{", 200), "2: expected at most 100 open parentheses or braces"},
		{".version 9.0\n.reg .b32 r;", "2: expected a declaration, but got .reg"},
		{head + ".entry k() {\n\nret;", "4: expected } to close the body of k"},
		{head + ".entry k(.param .u32 a,\n.param .u32 a) { }", "5: a is declared twice"},
		{head + ".entry 5", "4: expected the name of a function, but got 5"},
		{body("add.s32 %r1, %r2, %r10;"), "5: the register %r10 is not declared"},
		{body("add.s32 %r1, %r2, %r01;"), "5: the register %r01 is not declared"},
		{body("\n\nadd.s32 %r1, %r2"), "8: expected , or ; after an operand of add.s32, but got ret"},
		{body("@%r1 bra L;\nL:"), "5: expected a predicate after @, but %r1 is of type .b32"},
		{body("@%q1 bra L;\nL:"), "5: the register %q1 is not declared"},
		{body("@%p1 L:"), "5: expected an instruction after the predicate, but got the label L"},
		{body("L:\n L:"), "6: the label L is declared twice"},
		{body("\nbra M;"), "6: M is neither a label nor declared"},
		{body("bra L;\n{ L: bra L; }"), "5: L is neither a label nor declared"},
		{body("{ .shared .b32 s; }\nmov.u64 %r1, s;"), "6: s is neither a label nor declared"},
		{body("T: .branchtargets L, M;"), "5: .branchtargets is not supported"},
		{body(".reg .b32 a, a;"), "5: a is declared twice"},
		{body(".reg .b32 a<4>, a<5>;"), "5: a is declared twice"},
		{body(".reg .v2 .b32 a;"), "5: registers of vectors are not supported"},
		{body(".maxntid 4;"), "5: the directive .maxntid is not supported here"},
		{body("mov.b32 {%r1, %r2 %r3}, 1;"), "5: expected , or } between operands, but got %r3"},
		{body("mov.b32 {{{{{{%r1}}}}}}, 1;"), "5: operands are nested too deeply"},
		{body("ld.b32 %r1, [%f1, %r2;"), "5: expected ] after an address, but got ;"},
		{body("ld.b32 %r1, [0f3F800000];"), "5: expected a register, a name or a number in brackets"},
		{body("ld.b32 %r1, [!%p1];"), "5: expected a register, a name or a number in brackets, but got a predicate"},
		{body("add.s32 %r1, %r2, 0xG;"), "5: expected an integer of at most 64 bits, but got 0xG"},
		{body("add.s32 %r1, %r2, 09;"), "5: expected an integer of at most 64 bits, but got 09"},
		{body("add.s32 %r1, %r2, 18446744073709551616;"), "5: expected an integer of at most 64 bits, but got 18446744073709551616"},
		{body("add.s32 %r1, %r2, 3 / (1 - 1);"), "5: expected a divisor that is not zero"},
		{body("add.s32 %r1, %r2, " + strings.Repeat("(", 200) + ";"), "5: expected at most 100 open parentheses or braces"},
		{body("add.s32 %r1, %r2, " + strings.Repeat("-", 200) + "1;"), "5: expected at most 100 operators in a row"},
		{body("add.s32 %r1, %r2, *;"), "5: expected an integer, but got *"},
		{body("add.s32 %r1, %r2, \"text\";"), `5: expected an integer, but got "text"`},
		{body("add.f32 %f1, %f2, 0f3F80000;"), "5: expected 0f with 8 hexadecimal digits, but got 0f3F80000"},
		{body("add.f32 %f1, %f2, 0d3F800000;"), "5: expected 0d with 16 hexadecimal digits, but got 0d3F800000"},
		{body("add.f32 %f1, %f2, 1.5.2;"), "5: expected a number, but got 1.5.2"},
		{body("mov.u32 %r1, %nosuch;"), "5: the register %nosuch is not declared"},
		{body("/* a\nb */ // c\nadd.s32 %q, 1, 2;"), "7: the register %q is not declared"},
	} {
		_, err := Parse("a.ptx", []byte(c.text))
		assert.EqualError(t, err, "a.ptx:"+c.want, c.text)
	}
}

// operand parses one operand.
func operand(t *testing.T, text string) Operand {
	t.Helper()
	m := mustParse(t, body("L: mov.b32 "+text+";"))
	return m.Funcs[0].Body[0].Args[0]
}

// TestNumbers reads integers of every base, constant expressions, and floating-point numbers.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "42": 42, "42U": 42, "0x2A": 42, "0X2au": 42, "052": 42, "0b101010": 42, "-1": -1, "- 1": -1, "+7": 7, "~0": -1, "!5": 0, "!0": 1,
		"0xFFFFFFFFFFFFFFFF": -1, "18446744073709551615U": -1, "-9223372036854775808": math.MinInt64,
		"1 + 2 * 3": 7, "(1 + 2) * 3": 9, "10 - 4 - 3": 3, "100 / 7 % 5": 4, "1 << 4 | 1": 17, "6 & 3 ^ 1": 3, "5 > 3": 1, "5 <= 3": 0, "2 == 2 && 0": 0, "0 || 3": 1,
		"1 << 64": 0, "-8 >> 1": -4, "-(3)": -3, "-9223372036854775808 / -1": math.MinInt64, "5 % -1": 0, "7 != 7": 0, "1 < 2": 1, "3 >= 4": 0,
	} {
		require.Equal(t, Operand{Kind: NumberOperand, Bits: uint64(want)}, operand(t, text), text)
	}
	for text, want := range map[string]uint32{"0f3F800000": 0x3f800000, "0F3f800000": 0x3f800000, "-0f3F800000": 0xbf800000, "0f7FC00000": 0x7fc00000} {
		require.Equal(t, Operand{Kind: FloatOperand, Bits: uint64(want), Single: true}, operand(t, text), text)
	}
	for text, want := range map[string]float64{"0d3FF0000000000000": 1, "1.0": 1, "1e3": 1000, "1.5E-3": 0.0015, "-2.5": -2.5, "1.": 1, "-0.0": math.Copysign(0, -1)} {
		require.Equal(t, Operand{Kind: FloatOperand, Bits: math.Float64bits(want)}, operand(t, text), text)
	}
}

// TestOperands has all forms of operands.
func TestOperands(t *testing.T) {
	reg := func(i int) Operand { return Operand{Kind: RegisterOperand, Reg: i, Second: -1} }
	name := Operand{Kind: NameOperand, Name: "tile", Second: -1}
	r := reg(0)
	for text, want := range map[string]Operand{
		"%r1":             reg(0),
		"%r1.x":           {Kind: RegisterOperand, Field: "x", Second: -1},
		"!%p1":            {Kind: RegisterOperand, Not: true, Second: -1},
		"%p1|%p2":         {Kind: RegisterOperand, Pair: true, Second: 1},
		"%p1|_":           {Kind: RegisterOperand, Pair: true, Second: -1},
		"_|%p1":           {Kind: SinkOperand, Pair: true, Second: 0},
		"_":               {Kind: SinkOperand, Second: -1},
		"%tid.x":          {Kind: SpecialOperand, Name: "%tid.x", Second: -1},
		"%clock64":        {Kind: SpecialOperand, Name: "%clock64", Second: -1},
		"WARP_SZ":         {Kind: NameOperand, Name: "WARP_SZ", Second: -1},
		"tile":            name,
		"tile+8":          {Kind: NameOperand, Name: "tile", Offset: 8, Second: -1},
		"tile - 8":        {Kind: NameOperand, Name: "tile", Offset: -8, Second: -1},
		"L":               {Kind: NameOperand, Name: "L", Second: -1},
		"[%r1]":           {Kind: AddressOperand, Base: &r, Second: -1},
		"[%r1+-16]":       {Kind: AddressOperand, Base: &r, Offset: -16, Second: -1},
		"[%r1-0x10]":      {Kind: AddressOperand, Base: &r, Offset: -16, Second: -1},
		"[tile+4]":        {Kind: AddressOperand, Base: &name, Offset: 4, Second: -1},
		"[4096]":          {Kind: AddressOperand, Base: &Operand{Kind: NumberOperand, Bits: 4096}, Second: -1},
		"[%r1, {%r2, 3}]": {Kind: AddressOperand, Base: &r, Second: -1, List: []Operand{{Kind: VectorOperand, List: []Operand{reg(1), {Kind: NumberOperand, Bits: 3}}}}},
		"{%r1, _}":        {Kind: VectorOperand, List: []Operand{reg(0), {Kind: SinkOperand, Second: -1}}},
		"(%r1, tile)":     {Kind: TupleOperand, List: []Operand{reg(0), name}},
		"()":              {Kind: TupleOperand, List: []Operand{}},
	} {
		require.Equal(t, want, operand(t, text), text)
	}
}

// TestDeclarations has variables with initial values, functions with parameters, and source lines.
func TestDeclarations(t *testing.T) {
	m := mustParse(t, everything)
	require.Equal(t, []any{"9.0", []string{"sm_90a", "debug"}, 64}, []any{m.Version, m.Targets, m.AddressSize})
	require.Equal(t, map[int]string{1: "a dir/kernel.cu", 2: "b//c.h"}, m.Files)
	byName := map[string]*Var{}
	for _, v := range m.Vars {
		byName[v.Name] = v
	}
	require.True(t, byName["dynamic"].Extern)
	require.Equal(t, []any{Shared, 128, 0}, []any{byName["dynamic"].Space, byName["dynamic"].Align, byName["dynamic"].Count})
	require.Equal(t, 24, byName["table"].Bytes())
	require.Equal(t, []Init{{Bits: 1}, {Bits: 2}, {Bits: 3}, {Bits: 16}, {Bits: 16}, {Bits: math.MaxUint64}}, byName["table"].Init)
	require.Equal(t, []Init{{Bits: 0xbf800000}, {Bits: 0x3f800000}, {Bits: 0x40000000}, {Bits: 0x447a0000}}, byName["bias"].Init, "all of f32")
	require.Equal(t, 4, byName["bias"].Count)
	require.Equal(t, []Init{{Bits: 0x3ff0000000000000}}, byName["scale"].Init)
	require.Equal(t, []Init{{Symbol: "table", Bits: 4}, {Symbol: "bias", Bits: math.MaxUint64 - 7, Generic: true}}, byName["pointers"].Init)
	require.Equal(t, 32, byName["quads"].Bytes())
	require.Len(t, m.Entries(), 1)
	helper := m.Funcs[0]
	require.Nil(t, helper.Body)
	require.Equal(t, []int{1, 2}, []int{len(helper.Results), len(helper.Params)})
	f, ok := m.Func("kernel")
	require.True(t, ok)
	require.True(t, f.Params[0].Ptr)
	require.Equal(t, []int{64, 128}, []int{f.Params[2].Align, f.Params[2].Bytes()})
	require.Equal(t, map[string][]int{"maxntid": {128, 1, 1}, "minnctapersm": {2}, "explicitcluster": {}, "reqnctapercluster": {2, 1, 1}}, f.Directives)
	require.Equal(t, []Loc{{1, 5, 3}, {2, 7, 1}}, []Loc{f.Body[0].Loc, f.Body[4].Loc})
	require.Equal(t, 27, f.Body[4].Line)
	end, ok := f.Label("$END")
	require.True(t, ok)
	require.Equal(t, len(f.Body), end)
	require.Equal(t, []string{"$L", "$M"}, f.Labels(end-1))
}

// TestManyScopes takes time in proportion to the text, however often braces declare a name.
func TestManyScopes(t *testing.T) {
	m := mustParse(t, body(strings.Repeat("{ .reg .pred q; W: @q bra D; bra W; D: }\n", 20000)))
	f := m.Funcs[0]
	require.Equal(t, "q$19999", f.Registers[19999].Name)
	require.Equal(t, "D$19999", f.Body[39998].Args[0].Name)
	m = mustParse(t, body(".reg .b32 %a<2000000000>; mov.b32 %a1999999999, 1;"))
	require.Equal(t, []Register{{"%a1999999999", Type{"b32", Untyped, 32, 1}}}, m.Funcs[0].Registers)
}
