package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"os"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

// site is one mutant: where it is, what it changes, and the line of code that it is in.
type site struct{ pos, change, where, line string }

func (s site) String() string {
	return s.pos + "\t" + s.change + "\tin " + s.where + "\t" + s.line
}

// partners are the operators that one is changed to.
var partners = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR}, token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.ADD}, token.QUO: {token.MUL}, token.REM: {token.QUO},
	token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.OR}, token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
}

// names are the functions and methods that one is changed to.
var names = map[string]string{"min": "max", "max": "min", "ceilDiv": "floorDiv2", "CeilDiv": "FloorDiv"}

// support is what mutated files call.
const support = `
var activeMutant = func() int { n := -1; _, _ = mutantfmt.Sscan(mutantos.Getenv("GOCUTE_MUTANT"), &n); return n }()

func mutated(i int) bool { return activeMutant == i }

func plusIf[T ~int | ~int8 | ~int64 | ~int32 | ~uint | ~uint8 | ~uint64 | ~float64](i int, x T) T {
	if activeMutant == i {
		return x + 1
	}
	return x
}

func floorDiv2(a, b int64) int64 { return a / b }
`

type instrumenter struct {
	pkg   *packages.Package
	sites []site
	fn    string
	lines []string // of the file
}

// instrument puts every mutant behind a switch and gives the changed files.
func instrument(dir string) (map[string][]byte, []site, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedCompiledGoFiles}, "./"+dir)
	if err != nil {
		return nil, nil, err
	}
	if len(pkgs) != 1 || len(pkgs[0].Errors) > 0 {
		return nil, nil, fmt.Errorf("%s: %v", dir, pkgs[0].Errors)
	}
	in := &instrumenter{pkg: pkgs[0]}
	out := map[string][]byte{}
	for i, f := range in.pkg.Syntax {
		f.Comments = nil
		code, err := os.ReadFile(in.pkg.CompiledGoFiles[i])
		if err != nil {
			return nil, nil, err
		}
		in.lines = strings.Split(string(code), "\n")
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Name.Name != "String" && fn.Name.Name != "Error" {
				in.fn = fn.Name.Name
				astutil.Apply(fn.Body, in.enter, in.leave)
			}
		}
		if i == 0 {
			astutil.AddNamedImport(in.pkg.Fset, f, "mutantfmt", "fmt")
			astutil.AddNamedImport(in.pkg.Fset, f, "mutantos", "os")
		}
		var b bytes.Buffer
		if err := format.Node(&b, in.pkg.Fset, f); err != nil {
			return nil, nil, err
		}
		if i == 0 {
			b.WriteString(support)
		}
		out[in.pkg.CompiledGoFiles[i]] = b.Bytes()
	}
	return out, in.sites, nil
}

// enter skips what must stay constant, and messages.
func (in *instrumenter) enter(c *astutil.Cursor) bool {
	if c.Name() == "Args" && c.Index() == 2 && isMake(c.Parent()) { // a capacity changes no result
		return false
	}
	switch n := c.Node().(type) {
	case *ast.CaseClause:
		for _, x := range n.List { // cases of constants must stay constant; conditions may change
			if tv := in.pkg.TypesInfo.Types[x]; tv.Value != nil || tv.IsType() {
				return c.Name() == "Body"
			}
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "failf" || f.Name == "panic") {
			return false
		}
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "hint" || f.Sel.Name == "fail" || f.Sel.Name == "in" || f.Sel.Name == "Sprintf") {
			return false
		}
	case *ast.UnaryExpr, *ast.BinaryExpr: // the type of a part of a constant is that of the whole
		return in.pkg.TypesInfo.Types[n.(ast.Expr)].Value == nil
	case *ast.BasicLit:
		return c.Name() != "Results" || !refuses(c.Parent())
	case *ast.ArrayType, *ast.GenDecl, *ast.CompositeLit:
		return false
	}
	return true
}

func isMake(n ast.Node) bool {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := c.Fun.(*ast.Ident)
	return ok && f.Name == "make"
}

// refuses reports whether a return's last result is false or an error made there: nothing looks at the others.
func refuses(n ast.Node) bool {
	r, ok := n.(*ast.ReturnStmt)
	if !ok || len(r.Results) < 2 {
		return false
	}
	switch x := r.Results[len(r.Results)-1].(type) {
	case *ast.Ident:
		return x.Name == "false"
	case *ast.CallExpr:
		for {
			switch f := x.Fun.(type) {
			case *ast.Ident:
				return f.Name == "failf"
			case *ast.SelectorExpr:
				if f.Sel.Name == "in" {
					return true
				}
				if x, ok = f.X.(*ast.CallExpr); !ok {
					return false
				}
			default:
				return false
			}
		}
	}
	return false
}

// place is where a mutant is shown: an operator's own place, because its operands may be new.
func place(n ast.Node) token.Pos {
	if b, ok := n.(*ast.BinaryExpr); ok {
		return b.OpPos
	}
	return n.Pos()
}

func (in *instrumenter) add(n ast.Node, from, to string) ast.Expr {
	p := in.pkg.Fset.Position(place(n))
	name := p.Filename[strings.LastIndexByte(p.Filename, '/')+1:]
	line := strings.Join(strings.Fields(in.lines[p.Line-1]), " ")
	in.sites = append(in.sites, site{fmt.Sprintf("%s:%d:%d", name, p.Line, p.Column), from + " -> " + to, in.fn, line})
	return &ast.BasicLit{Kind: token.INT, Value: fmt.Sprint(len(in.sites) - 1)}
}

func (in *instrumenter) leave(c *astutil.Cursor) bool {
	switch n := c.Node().(type) {
	case *ast.BinaryExpr:
		in.binary(c, n)
	case *ast.BasicLit:
		tv := in.pkg.TypesInfo.Types[n]
		if n.Kind != token.INT || tv.Value == nil || !isInt(tv.Type) || inShift(c) {
			return true
		}
		id := in.add(n, n.Value, n.Value+"+1")
		c.Replace(&ast.CallExpr{Fun: ast.NewIdent("plusIf"), Args: []ast.Expr{id, conversion(tv.Type, n)}})
	case *ast.CallExpr:
		in.call(c, n)
	}
	return true
}

// inShift reports whether a constant is part of a shift, whose type follows other rules.
func inShift(c *astutil.Cursor) bool {
	b, ok := c.Parent().(*ast.BinaryExpr)
	return ok && (b.Op == token.SHL || b.Op == token.SHR)
}

func isInt(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0 && b.Kind() != types.UntypedInt && b.Kind() != types.UntypedRune || ok && b.Kind() == types.UntypedInt
}

func conversion(t types.Type, n ast.Expr) ast.Expr {
	name := t.String()
	if b, ok := t.(*types.Basic); !ok || b.Kind() == types.UntypedInt {
		if name = "int"; !ok {
			return n
		}
	}
	return &ast.CallExpr{Fun: ast.NewIdent(name), Args: []ast.Expr{n}}
}

// binary replaces an operator by a choice: func() T { if mutated(i) { return a - b }; return a + b }().
func (in *instrumenter) binary(c *astutil.Cursor, n *ast.BinaryExpr) {
	tv := in.pkg.TypesInfo.Types[n]
	if tv.Value != nil || tv.Type == nil {
		return
	}
	x := in.pkg.TypesInfo.Types[n.X]
	basic, ok := tv.Type.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsString != 0 || x.Type != nil && isString(x.Type) {
		return
	}
	cur := ast.Expr(&ast.BinaryExpr{X: n.X, Op: n.Op, Y: n.Y})
	if !orderable(x.Type) && n.Op != token.EQL && n.Op != token.NEQ && n.Op != token.LAND && n.Op != token.LOR {
		return
	}
	var body []ast.Stmt
	for _, op := range partners[n.Op] {
		id := in.add(n, n.Op.String(), op.String())
		body = append(body, &ast.IfStmt{Cond: &ast.CallExpr{Fun: ast.NewIdent("mutated"), Args: []ast.Expr{id}},
			Body: &ast.BlockStmt{List: []ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{&ast.BinaryExpr{X: n.X, Op: op, Y: n.Y}}}}}})
	}
	if body == nil {
		return
	}
	body = append(body, &ast.ReturnStmt{Results: []ast.Expr{cur}})
	result := tv.Type.String()
	if basic.Kind() == types.UntypedBool {
		result = "bool"
	}
	if i := strings.LastIndexByte(result, '.'); i >= 0 {
		result = result[i+1:]
	}
	c.Replace(&ast.CallExpr{Fun: &ast.FuncLit{Type: &ast.FuncType{Params: &ast.FieldList{}, Results: &ast.FieldList{List: []*ast.Field{{Type: ast.NewIdent(result)}}}},
		Body: &ast.BlockStmt{List: body}}})
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func orderable(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
}

// call swaps min and max, and rounding up for rounding down.
func (in *instrumenter) call(c *astutil.Cursor, n *ast.CallExpr) {
	tv := in.pkg.TypesInfo.Types[n]
	if tv.Type == nil || tv.Value != nil {
		return
	}
	var other ast.Expr
	from := ""
	switch f := n.Fun.(type) {
	case *ast.Ident:
		to, ok := names[f.Name]
		if !ok {
			return
		}
		from, other = f.Name, ast.NewIdent(to)
	case *ast.SelectorExpr:
		to, ok := names[f.Sel.Name]
		if !ok || f.Sel.Name != "CeilDiv" {
			return
		}
		from, other = f.Sel.Name, &ast.SelectorExpr{X: f.X, Sel: ast.NewIdent(to)}
	default:
		return
	}
	result := tv.Type.String()
	if i := strings.LastIndexByte(result, '/'); i >= 0 {
		result = result[i+1:]
	}
	id := in.add(n, from, names[from])
	body := []ast.Stmt{
		&ast.IfStmt{Cond: &ast.CallExpr{Fun: ast.NewIdent("mutated"), Args: []ast.Expr{id}},
			Body: &ast.BlockStmt{List: []ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{&ast.CallExpr{Fun: other, Args: n.Args}}}}}},
		&ast.ReturnStmt{Results: []ast.Expr{&ast.CallExpr{Fun: n.Fun, Args: n.Args}}},
	}
	c.Replace(&ast.CallExpr{Fun: &ast.FuncLit{Type: &ast.FuncType{Params: &ast.FieldList{}, Results: &ast.FieldList{List: []*ast.Field{{Type: ast.NewIdent(result)}}}},
		Body: &ast.BlockStmt{List: body}}})
}
