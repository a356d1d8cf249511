package algebra

import "strings"

// node is a hierarchical tuple: a leaf, or a tuple of nodes. An empty tuple has a sub that is not nil.
type node[T any] struct {
	v   T
	sub []node[T]
}

func leafOf[T any](v T) node[T] { return node[T]{v: v} }

func tupleOf[T any](sub ...node[T]) node[T] {
	if sub == nil {
		sub = []node[T]{}
	}
	return node[T]{sub: sub}
}

func (n node[T]) isLeaf() bool { return n.sub == nil }

func (n node[T]) rank() int {
	if n.isLeaf() {
		return 1
	}
	return len(n.sub)
}

func (n node[T]) depth() int {
	if n.isLeaf() {
		return 0
	}
	d := 0
	for _, s := range n.sub {
		d = max(d, s.depth())
	}
	return d + 1
}

// mode is the i-th element; a leaf is its own mode 0.
func (n node[T]) mode(i int) node[T] {
	if n.isLeaf() {
		return n
	}
	return n.sub[i]
}

// modes are the elements of a tuple; a leaf counts as a tuple of one.
func (n node[T]) modes() []node[T] {
	if n.isLeaf() {
		return []node[T]{n}
	}
	return n.sub
}

// path follows indices down the tree.
func (n node[T]) path(p []int) (node[T], bool) {
	for _, i := range p {
		if n.isLeaf() && i == 0 {
			continue
		}
		if n.isLeaf() || i < 0 || i >= len(n.sub) {
			return node[T]{}, false
		}
		n = n.sub[i]
	}
	return n, true
}

func (n node[T]) count() int {
	if n.isLeaf() {
		return 1
	}
	c := 0
	for _, s := range n.sub {
		c += s.count()
	}
	return c
}

func (n node[T]) appendLeaves(dst []T) []T {
	if n.isLeaf() {
		return append(dst, n.v)
	}
	for _, s := range n.sub {
		dst = s.appendLeaves(dst)
	}
	return dst
}

func (n node[T]) leaves() []T { return n.appendLeaves(make([]T, 0, n.count())) }

// flat is the tuple of the leaves; a leaf stays a leaf.
func (n node[T]) flat() node[T] {
	if n.isLeaf() {
		return n
	}
	return flatTuple(n.leaves())
}

func flatTuple[T any](leaves []T) node[T] {
	sub := make([]node[T], len(leaves))
	for i, v := range leaves {
		sub[i].v = v
	}
	return node[T]{sub: sub}
}

func mapNode[T, U any](n node[T], f func(T) U) node[U] {
	if n.isLeaf() {
		return leafOf(f(n.v))
	}
	sub := make([]node[U], len(n.sub))
	for i, s := range n.sub {
		sub[i] = mapNode(s, f)
	}
	return node[U]{sub: sub}
}

// like gives leaves the profile of n; it takes as many as n has.
func like[T, U any](n node[T], leaves []U) node[U] {
	i := 0
	return mapNode(n, func(T) U { i++; return leaves[i-1] })
}

func sameProfile[T, U any](a node[T], b node[U]) bool {
	if a.isLeaf() || b.isLeaf() {
		return a.isLeaf() == b.isLeaf()
	}
	if len(a.sub) != len(b.sub) {
		return false
	}
	for i := range a.sub {
		if !sameProfile(a.sub[i], b.sub[i]) {
			return false
		}
	}
	return true
}

func equalNodes[T any](a, b node[T], eq func(T, T) bool) bool {
	if a.isLeaf() || b.isLeaf() {
		return a.isLeaf() == b.isLeaf() && eq(a.v, b.v)
	}
	if len(a.sub) != len(b.sub) {
		return false
	}
	for i := range a.sub {
		if !equalNodes(a.sub[i], b.sub[i], eq) {
			return false
		}
	}
	return true
}

func writeNode[T any](b *strings.Builder, n node[T], text func(T) string) {
	if n.isLeaf() {
		b.WriteString(text(n.v))
		return
	}
	b.WriteByte('(')
	for i, s := range n.sub {
		if i > 0 {
			b.WriteByte(',')
		}
		writeNode(b, s, text)
	}
	b.WriteByte(')')
}

func nodeText[T any](n node[T], text func(T) string) string {
	var b strings.Builder
	writeNode(&b, n, text)
	return b.String()
}
