package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gocute/gocute/algebra"
)

// evalCmd is gocute eval.
type evalCmd struct {
	Expr string `arg:"" name:"EXPR" help:"A layout such as (4,8):(8,1), or a call of an operation; calls nest."`
}

// Help is shown by --help.
func (evalCmd) Help() string {
	return "Example: gocute eval 'right_inverse(((1,4),(4,8)):((128,8),(32,1)))'\n\nOperations: " +
		strings.Join(slices.Sorted(maps.Keys(operations)), ", ") + "."
}

// Run prints the value of the expression.
func (c *evalCmd) Run(s *session) error {
	v, err := evaluate(c.Expr)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.stdout, v)
	return nil
}

// operation is a function of layout algebra; args has a letter for each argument: l a layout, t a tiler,
// s a shape, i an integer.
type operation struct {
	args  string
	apply func(a []any) (any, error)
}

// operations are called by CuTe's names, without make_.
var operations = map[string]operation{
	"coalesce":       unary(algebra.Coalesce),
	"filter":         unary(algebra.Filter),
	"flatten":        unary(algebra.Flatten),
	"right_inverse":  unary(algebra.RightInverse),
	"left_inverse":   unary(algebra.LeftInverse),
	"nullspace":      unary(algebra.Nullspace),
	"zip":            unary(algebra.Zip),
	"complement":     {"ls", func(a []any) (any, error) { return algebra.Complement(layout(a[0]), a[1].(algebra.Shape)) }},
	"composition":    tiled(algebra.ComposeTiler),
	"logical_divide": tiled(algebra.LogicalDivide), "zipped_divide": tiled(algebra.ZippedDivide),
	"tiled_divide": tiled(algebra.TiledDivide), "flat_divide": tiled(algebra.FlatDivide),
	"logical_product": tiled(algebra.LogicalProduct), "zipped_product": tiled(algebra.ZippedProduct),
	"tiled_product": tiled(algebra.TiledProduct), "flat_product": tiled(algebra.FlatProduct),
	"blocked_product": binary(algebra.BlockedProduct), "raked_product": binary(algebra.RakedProduct),
	"max_common_layout": binary(algebra.MaxCommonLayout),
	"max_common_vector": {"ll", func(a []any) (any, error) { return algebra.MaxCommonVector(layout(a[0]), layout(a[1])) }},
	"tile_to_shape":     {"ls", func(a []any) (any, error) { return algebra.TileToShape(layout(a[0]), a[1].(algebra.Shape)) }},
	"upcast":            {"li", func(a []any) (any, error) { return algebra.Upcast(layout(a[0]), a[1].(int64)) }},
	"downcast":          {"li", func(a []any) (any, error) { return algebra.Downcast(layout(a[0]), a[1].(int64)) }},
	"get":               {"li", func(a []any) (any, error) { return algebra.Get(layout(a[0]), int(a[1].(int64))) }},
	"size":              {"l", func(a []any) (any, error) { return layout(a[0]).Size(), nil }},
	"cosize":            {"l", func(a []any) (any, error) { return layout(a[0]).Cosize() }},
	"shape":             {"l", func(a []any) (any, error) { return layout(a[0]).Shape(), nil }},
	"stride":            {"l", func(a []any) (any, error) { return layout(a[0]).Stride(), nil }},
}

func layout(v any) algebra.Layout { return v.(algebra.Layout) }

func unary(f func(algebra.Layout) (algebra.Layout, error)) operation {
	return operation{"l", func(a []any) (any, error) { return f(layout(a[0])) }}
}

func binary(f func(a, b algebra.Layout) (algebra.Layout, error)) operation {
	return operation{"ll", func(a []any) (any, error) { return f(layout(a[0]), layout(a[1])) }}
}

func tiled(f func(algebra.Layout, algebra.Tiler) (algebra.Layout, error)) operation {
	return operation{"lt", func(a []any) (any, error) { return f(layout(a[0]), a[1].(algebra.Tiler)) }}
}

// parsers read an argument that is no call.
var parsers = map[rune]func(text string) (any, error){
	'l': func(text string) (any, error) { return algebra.Parse(text) },
	't': func(text string) (any, error) { return algebra.ParseTiler(text) },
	's': func(text string) (any, error) { return algebra.ParseShape(text) },
	'i': func(text string) (any, error) {
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("expected an integer, but got %q", text)
		}
		return n, nil
	},
}

// evaluate computes a call, or reads a layout.
func evaluate(text string) (any, error) {
	text = strings.TrimSpace(text)
	name, args, ok := call(text)
	if !ok {
		return parsers['l'](text)
	}
	op, ok := operations[name]
	if !ok {
		known := slices.Sorted(maps.Keys(operations))
		if near := nearest(name, known); len(near) > 0 {
			return nil, fmt.Errorf("there is no operation %s; did you mean %s?", name, strings.Join(near, " or "))
		}
		return nil, fmt.Errorf("there is no operation %s; there are %s", name, strings.Join(known, ", "))
	}
	if len(args) != len(op.args) {
		return nil, fmt.Errorf("%s: expected %d arguments, but got %d", name, len(op.args), len(args))
	}
	vals := make([]any, len(args))
	for i, kind := range op.args {
		var err error
		if vals[i], err = argument(kind, args[i]); err != nil {
			return nil, fmt.Errorf("%s: argument %d: %w", name, i+1, err)
		}
	}
	return op.apply(vals)
}

// argument evaluates one argument of the kind that the operation takes.
func argument(kind rune, text string) (any, error) {
	text = strings.TrimSpace(text)
	if _, _, ok := call(text); !ok {
		return parsers[kind](text)
	}
	v, err := evaluate(text)
	if err != nil {
		return nil, err
	}
	l, isLayout := v.(algebra.Layout)
	_, isShape := v.(algebra.Shape)
	n, isInt := v.(int64)
	switch {
	case kind == 'l' && isLayout, kind == 's' && isShape:
		return v, nil
	case kind == 't' && isLayout:
		return algebra.TileBy(l), nil
	case kind == 'i' && isInt:
		return n, nil
	}
	return nil, fmt.Errorf("%s is not what the operation takes: expected %s", text,
		map[rune]string{'l': "a layout", 's': "a shape", 't': "a tiler", 'i': "an integer"}[kind])
}

// call splits NAME(ARG, ARG) at the commas outside of parentheses and swizzles' brackets.
func call(text string) (name string, args []string, ok bool) {
	open := strings.IndexByte(text, '(')
	if open <= 0 || !strings.HasSuffix(text, ")") || strings.Trim(text[:open], "abcdefghijklmnopqrstuvwxyz_0123456789") != "" {
		return "", nil, false
	}
	depth, from := 0, open+1
	for i, c := range text {
		switch c {
		case '(', '<':
			depth++
		case ')', '>':
			depth--
		}
		switch {
		case depth == 0 && i > open && i < len(text)-1: // the first parenthesis closes before the end: no call
			return "", nil, false
		case depth == 1 && c == ',', depth == 0 && i == len(text)-1:
			args = append(args, text[from:i])
			from = i + 1
		}
	}
	return text[:open], args, depth == 0
}
