package cir

// Rewrite returns a copy of a body in which each statement is replaced by what f returns for it, nested ones before
// those around them. The body itself is not changed.
func Rewrite(body []Stmt, f func(Stmt) []Stmt) []Stmt {
	if body == nil {
		return nil
	}
	out := make([]Stmt, 0, len(body))
	for _, s := range body {
		switch x := s.(type) {
		case For:
			x.Body = Rewrite(x.Body, f)
			s = x
		case If:
			x.Then, x.Else = Rewrite(x.Then, f), Rewrite(x.Else, f)
			s = x
		}
		out = append(out, f(s)...)
	}
	return out
}
