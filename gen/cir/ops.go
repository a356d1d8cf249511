package cir

// Ops lists the intrinsics that a kernel uses, each once, in order of their first use.
func Ops(k *Kernel) []*Op {
	var out []*Op
	seen := map[string]bool{}
	add := func(op *Op) {
		if op != nil && !seen[op.Name] {
			seen[op.Name] = true
			out = append(out, op)
		}
	}
	Walk(k.Body, func(s Stmt) {
		add(OpOf(s))
	})
	return out
}
