package check

import "github.com/gocute/gocute/gen/cir"

// editor copies a body; f gets each list with its statements' numbers in the order of Walk.
type editor struct {
	n int
	f func(list []cir.Stmt, numbers []int) []cir.Stmt
}

func (e *editor) body(body []cir.Stmt) []cir.Stmt {
	if body == nil {
		return nil
	}
	out, numbers := make([]cir.Stmt, len(body)), make([]int, len(body))
	for i, s := range body {
		numbers[i] = e.n
		e.n++
		switch x := s.(type) {
		case cir.For:
			x.Body = e.body(x.Body)
			s = x
		case cir.If:
			x.Then = e.body(x.Then)
			x.Else = e.body(x.Else)
			s = x
		}
		out[i] = s
	}
	return e.f(out, numbers)
}

// replace puts statements in the place of the i-th.
func replace(body []cir.Stmt, i int, to ...cir.Stmt) []cir.Stmt {
	e := &editor{f: func(list []cir.Stmt, numbers []int) []cir.Stmt {
		for j, n := range numbers {
			if n == i {
				return append(append(append([]cir.Stmt{}, list[:j]...), to...), list[j+1:]...)
			}
		}
		return list
	}}
	return e.body(body)
}

// move moves the i-th statement past the nearest one, before (-1) or behind (1) it, that does more than name
// integers, and says which kind it passed; "" where there is none in its list.
func move(body []cir.Stmt, i, by int) (out []cir.Stmt, past string) {
	e := &editor{f: func(list []cir.Stmt, numbers []int) []cir.Stmt {
		for j, n := range numbers {
			if n != i {
				continue
			}
			to := j + by
			for to >= 0 && to < len(list) && idle(list[to]) {
				to += by
			}
			if to < 0 || to >= len(list) {
				return list
			}
			past = name(list[to])
			s := list[j]
			rest := append(append([]cir.Stmt{}, list[:j]...), list[j+1:]...)
			return append(append(append([]cir.Stmt{}, rest[:to]...), s), rest[to:]...)
		}
		return list
	}}
	return e.body(body), past
}

// idle reports whether a statement touches neither memory nor what is in flight, so that moving past it is nothing.
func idle(s cir.Stmt) bool {
	switch x := s.(type) {
	case cir.Comment, cir.Let, cir.Var, cir.Assign, cir.DeclReg, cir.Fill, cir.MMAStmt:
		return true
	case cir.For:
		return idleBody(x.Body)
	case cir.If:
		return idleBody(x.Then) && idleBody(x.Else)
	}
	return false
}

func idleBody(body []cir.Stmt) bool {
	for _, s := range body {
		if !idle(s) {
			return false
		}
	}
	return true
}
