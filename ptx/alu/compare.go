package alu

import (
	"fmt"
	"math"
	"strings"

	"github.com/gocute/gocute/elem"
)

// fail is an error that a row's make returns.
func fail(format string, args ...any) error { return fmt.Errorf(format, args...) }

const (
	comparisons = "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan"
	chosen      = "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"
)

// compareRows are the instructions that compare and choose.
func compareRows() map[string][]row {
	const logic = " and|or|xor"
	m := map[string][]row{}
	for _, b := range []string{"", logic} {
		last := ""
		if b != "" {
			last = " pred"
		}
		m["setp"] = append(m["setp"],
			row{form: comparisons + b + " ftz? " + chosen, operands: "P T T" + last, make: setp},
			row{form: comparisons + b + " ftz? f16|bf16", operands: "pred T T" + last, make: setp},
			row{form: comparisons + b + " ftz? f16x2|bf16x2", operands: "P T T" + last, make: setp2})
		m["set"] = append(m["set"],
			row{form: comparisons + b + " ftz? u32|s32 " + chosen + "|f16|bf16", operands: "D T T" + last, make: set},
			row{form: comparisons + b + " ftz? f32 " + chosen, operands: "D T T" + last, make: set},
			row{form: comparisons + b + " ftz? u16|s16 f16|bf16", operands: "D T T" + last, make: set},
			row{form: comparisons + b + " ftz? f16 " + chosen + "|f16", operands: "D T T" + last, make: set},
			row{form: comparisons + b + " bf16 bf16|" + chosen, operands: "D T T" + last, make: set},
			row{form: comparisons + b + " ftz? f16x2|u32|s32 f16x2", operands: "D T T" + last, make: set2},
			row{form: comparisons + b + " ftz? bf16x2|u32|s32 bf16x2", operands: "D T T" + last, make: set2})
	}
	m["selp"] = []row{{form: chosen, operands: "T T T pred", make: fixed(f3(func(a, b, p uint64) uint64 {
		if p != 0 {
			return a
		}
		return b
	}))}}
	m["slct"] = []row{
		{form: chosen + " s32", operands: "D D D T", make: fixed(f3(func(a, b, c uint64) uint64 {
			if int32(c) >= 0 {
				return a
			}
			return b
		}))},
		{form: "ftz? " + chosen + " f32", operands: "D D D T", make: func(c *call) any {
			ftz := c.has("ftz")
			return f3(func(a, b, c uint64) uint64 {
				if v := single(c); v >= 0 || ftz && subnormal32(c) {
					return a
				}
				return b
			})
		}},
	}
	m["testp"] = []row{{form: "finite|infinite|number|notanumber|normal|subnormal f32|f64", operands: "pred T", make: testp}}
	return m
}

// testp asks for the kind of a number by its exponent and mantissa.
func testp(c *call) any {
	man, exp := 23, uint64(0xff)
	if c.t.Bits == 64 {
		man, exp = 52, 0x7ff
	}
	kind := c.words[0]
	if _, typed := formats[kind]; typed || kind == c.t.Name {
		kind = c.words[1]
	}
	return f1(func(a uint64) uint64 {
		e, m := a>>man&exp, a&mask(man)
		switch kind {
		case "finite":
			return truth(e != exp)
		case "infinite":
			return truth(e == exp && m == 0)
		case "number":
			return truth(e != exp || m == 0)
		case "notanumber":
			return truth(e == exp && m != 0)
		case "normal":
			return truth(e != exp && e != 0)
		}
		return truth(e == 0 && m != 0)
	})
}

// The relations that may hold between two operands, one of which does.
const (
	less = 1 << iota
	equal
	greater
	unordered
)

// holds has the relations that make each comparison true.
var holds = map[string]int{
	"eq": equal, "ne": less | greater, "lt": less, "le": less | equal, "gt": greater, "ge": greater | equal,
	"lo": less, "ls": less | equal, "hi": greater, "hs": greater | equal,
	"equ": equal | unordered, "neu": less | greater | unordered, "ltu": less | unordered, "leu": less | equal | unordered,
	"gtu": greater | unordered, "geu": greater | equal | unordered, "num": less | equal | greater, "nan": unordered,
}

// order finds how two values of a type compare.
func order[V int64 | uint64 | float64](a, b V) int {
	switch {
	case a < b:
		return less
	case a == b:
		return equal
	case a > b:
		return greater
	}
	return unordered
}

// comparison is the truth of a comparison of two values of the named type.
func (c *call) comparison(name string) (func(a, b uint64) bool, error) {
	word := ""
	for _, w := range c.words {
		if _, ok := holds[w]; ok && word == "" {
			word = w
		}
	}
	h := holds[word]
	float := strings.Contains(name, "f")
	bad := false
	switch word {
	case "eq", "ne":
	case "lt", "le", "gt", "ge":
		bad = name[0] == 'b' && !float
	case "lo", "ls", "hi", "hs":
		bad = name[0] != 'u'
	default:
		bad = !float
	}
	if bad {
		return nil, fail(".%s does not compare values of .%s", word, name)
	}
	if c.has("ftz") && name != "f32" && name != "f16" {
		return nil, fail(".ftz does not fit .%s", name)
	}
	if f := quick32(word, name, c.has("ftz")); f != nil {
		return f, nil
	}
	switch {
	case float:
		value := c.value(name)
		return func(a, b uint64) bool { return h&order(value(a), value(b)) != 0 }, nil
	case name[0] == 's':
		extend := widen(true, c.t.Bits)
		return func(a, b uint64) bool { return h&order(int64(extend(a)), int64(extend(b))) != 0 }, nil
	}
	return func(a, b uint64) bool { return h&order(a, b) != 0 }, nil
}

// quick32 is the quick form of what loops and masks compare; nil for the rest.
func quick32(word, name string, ftz bool) func(a, b uint64) bool {
	if ftz {
		return nil
	}
	return quickly[name+word]
}

var quickly = map[string]func(a, b uint64) bool{
	"s32eq": same, "u32eq": same, "b32eq": same, "s64eq": same, "u64eq": same, "b64eq": same,
	"s32ne": differ, "u32ne": differ, "b32ne": differ, "s64ne": differ, "u64ne": differ, "b64ne": differ,
	"s32lt": func(a, b uint64) bool { return int32(a) < int32(b) },
	"s32le": func(a, b uint64) bool { return int32(a) <= int32(b) },
	"s32gt": func(a, b uint64) bool { return int32(a) > int32(b) },
	"s32ge": func(a, b uint64) bool { return int32(a) >= int32(b) },
	"f32eq": func(a, b uint64) bool { return single(a) == single(b) },
	"f32lt": func(a, b uint64) bool { return single(a) < single(b) },
	"f32le": func(a, b uint64) bool { return single(a) <= single(b) },
	"f32gt": func(a, b uint64) bool { return single(a) > single(b) },
	"f32ge": func(a, b uint64) bool { return single(a) >= single(b) },
	// Go's != holds for a NaN.
	"f32neu": func(a, b uint64) bool { return single(a) != single(b) },
}

func same(a, b uint64) bool { return a == b }

func differ(a, b uint64) bool { return a != b }

// value reads a floating-point number, with subnormals as zero if the instruction has .ftz.
func (c *call) value(name string) func(uint64) float64 {
	ftz := c.has("ftz")
	switch name {
	case "f64":
		return math.Float64frombits
	case "f32":
		if ftz {
			return func(a uint64) float64 { return float64(single(flush32(a))) }
		}
		return func(a uint64) float64 { return float64(single(a)) }
	case "bf16":
		return func(a uint64) float64 { return float64(elem.BF16(a).Float32()) }
	}
	if ftz {
		return func(a uint64) float64 { return float64(elem.F16(flush16(a)).Float32()) }
	}
	return func(a uint64) float64 { return float64(elem.F16(a).Float32()) }
}

// combine is the boolean operator of a comparison with a further predicate.
func (c *call) combine() f2 {
	switch c.one("and", "or", "xor") {
	case "and":
		return func(a, b uint64) uint64 { return a & b }
	case "or":
		return func(a, b uint64) uint64 { return a | b }
	}
	return func(a, b uint64) uint64 { return a ^ b }
}

// combined reports whether there is such an operator.
func (c *call) combined() bool { return c.one("and", "or", "xor") != "" }

func setp(c *call) any {
	f, err := c.comparison(c.t.Name)
	if err != nil {
		return err
	}
	both, with := c.in.Args[0].Pair, c.combine()
	switch {
	case !both && !c.combined():
		return f2(func(a, b uint64) uint64 { return truth(f(a, b)) })
	case !both:
		return f3(func(a, b, p uint64) uint64 { return with(truth(f(a, b)), p) })
	case !c.combined():
		return g2(func(a, b uint64) (uint64, uint64) { t := truth(f(a, b)); return t, t ^ 1 })
	}
	return g3(func(a, b, p uint64) (uint64, uint64) { t := truth(f(a, b)); return with(t, p), with(t^1, p) })
}

// setp2 compares the halves of two words, the lower ones for the first predicate.
func setp2(c *call) any {
	f, err := c.comparison(strings.TrimSuffix(c.t.Name, "x2"))
	if err != nil {
		return err
	}
	with := c.combine()
	compare := func(a, b uint64) (uint64, uint64) {
		return truth(f(a&0xffff, b&0xffff)), truth(f(a>>16, b>>16))
	}
	both := c.in.Args[0].Pair
	switch {
	case !both && !c.combined():
		return f2(func(a, b uint64) uint64 { x, _ := compare(a, b); return x })
	case !both:
		return f3(func(a, b, p uint64) uint64 { x, _ := compare(a, b); return with(x, p) })
	case !c.combined():
		return g2(compare)
	}
	return g3(func(a, b, p uint64) (uint64, uint64) { x, y := compare(a, b); return with(x, p), with(y, p) })
}

// yes is what set gives for true, by its type.
var yes = map[string]uint64{"u16": 0xffff, "s16": 0xffff, "u32": 0xffffffff, "s32": 0xffffffff, "f32": 0x3f800000, "f16": 0x3c00, "bf16": 0x3f80}

func set(c *call) any {
	f, err := c.comparison(c.t.Name)
	if err != nil {
		return err
	}
	v, with := yes[c.d.Name], c.combine()
	if !c.combined() {
		return f2(func(a, b uint64) uint64 { return -truth(f(a, b)) & v })
	}
	return f3(func(a, b, p uint64) uint64 { return -with(truth(f(a, b)), p) & v })
}

func set2(c *call) any {
	f, err := c.comparison(strings.TrimSuffix(c.t.Name, "x2"))
	if err != nil {
		return err
	}
	v, ok := yes[strings.TrimSuffix(c.d.Name, "x2")]
	if !ok || c.d.Class != c.t.Class {
		v = 0xffff
	}
	with := c.combine()
	if !c.combined() {
		return halves2(func(a, b uint64) uint64 { return -truth(f(a, b)) & v })
	}
	return f3(func(a, b, p uint64) uint64 {
		return halves2(func(a, b uint64) uint64 { return -with(truth(f(a, b)), p) & v })(a, b)
	})
}
