package ptx

import "strings"

// Class says how the bits of a type are read.
type Class uint8

// The classes of types.
const (
	Untyped Class = iota // .b8 to .b128
	Unsigned
	Signed
	Float
	Predicate
)

// Type is a fundamental type or one of the formats that instructions name, such as .e4m3.
type Type struct {
	Name  string // without the dot; empty for none
	Class Class
	Bits  int
	Lanes int // 2 for packed pairs such as f16x2, else 1
}

var types = func() map[string]Type {
	m := map[string]Type{"pred": {"pred", Predicate, 1, 1}}
	for prefix, class := range map[string]Class{"b": Untyped, "u": Unsigned, "s": Signed} {
		for name, bits := range map[string]int{"8": 8, "16": 16, "32": 32, "64": 64} {
			m[prefix+name] = Type{prefix + name, class, bits, 1}
		}
	}
	m["b1"], m["b128"] = Type{"b1", Untyped, 1, 1}, Type{"b128", Untyped, 128, 1}
	m["s4"], m["u4"] = Type{"s4", Signed, 4, 1}, Type{"u4", Unsigned, 4, 1}
	m["u16x2"], m["s16x2"] = Type{"u16x2", Unsigned, 32, 2}, Type{"s16x2", Signed, 32, 2}
	for name, bits := range map[string]int{
		"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "e2m1": 4, "e2m3": 6, "e3m2": 6, "ue8m0": 8,
	} {
		m[name] = Type{name, Float, bits, 1}
	}
	for name, bits := range map[string]int{"f16x2": 32, "bf16x2": 32, "f32x2": 64,
		"e4m3x2": 16, "e5m2x2": 16, "e2m1x2": 8, "e2m3x2": 16, "e3m2x2": 16, "ue8m0x2": 16} {
		m[name] = Type{name, Float, bits, 2}
	}
	return m
}()

// TypeOf looks up a type by its name without the dot.
func TypeOf(name string) (Type, bool) {
	t, ok := types[name]
	return t, ok
}

// String is the name with its dot, as PTX writes it.
func (t Type) String() string { return "." + t.Name }

// Bytes is the size in memory, of types that are whole bytes there.
func (t Type) Bytes() int { return t.Bits / 8 }

// Space is a state space.
type Space uint8

// The state spaces. Generic is that of an access which names none.
const (
	Generic Space = iota
	Reg
	SReg
	Const
	Global
	Local
	Param
	Shared
)

var spaces = map[string]Space{"reg": Reg, "sreg": SReg, "const": Const, "global": Global, "local": Local, "param": Param, "shared": Shared}

var spaceNames = [...]string{"generic", "reg", "sreg", "const", "global", "local", "param", "shared"}

// String is the name without the dot.
func (s Space) String() string { return spaceNames[s] }

// SpaceOf looks up a state space by its name without the dot: shared and shared::cta are the same, and sub tells a
// qualifier such as cluster or entry.
func SpaceOf(name string) (s Space, sub string, ok bool) {
	name, sub, _ = strings.Cut(name, "::")
	s, ok = spaces[name]
	return s, sub, ok
}
