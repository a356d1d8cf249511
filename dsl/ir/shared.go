package ir

import "slices"

// Placement is where a shared array starts in the block's shared memory, in bytes.
type Placement struct {
	Storage *Storage
	Align   int
	Offset  int
}

const (
	vectorAlign  = 16   // of the widest access
	patternAlign = 1024 // of the widest swizzle's pattern: a row's address bits are its offset's
)

// PlaceShared places the shared arrays among storages one after the other, those that lie over another one at its
// start, and those that nothing may lie over behind all others; total is the bytes of all of them.
func PlaceShared(storages []*Storage) (places []Placement, total int) {
	at, reach := map[*Storage]Placement{}, 0
	need := alignments(storages)
	var last []*Storage
	for _, st := range storages {
		if st.Space != Shared {
			continue
		}
		if st.Alone {
			last = append(last, st)
			continue
		}
		bytes := int(st.Count) * st.Elem.Bits() / 8
		if under, ok := at[st.Over]; ok {
			at[st] = Placement{st, under.Align, under.Offset}
			places = append(places, at[st])
			reach = max(reach, under.Offset+bytes)
			continue
		}
		align := max(need[st], vectorAlign)
		if bytes >= patternAlign {
			align = patternAlign
		}
		at[st] = Placement{st, align, (total + align - 1) / align * align}
		places = append(places, at[st])
		total = at[st].Offset + bytes
	}
	total = max(total, reach)
	for _, st := range last {
		p := Placement{st, vectorAlign, (total + vectorAlign - 1) / vectorAlign * vectorAlign}
		places, total = append(places, p), p.Offset+int(st.Count)*st.Elem.Bits()/8
	}
	return places, (total + vectorAlign - 1) / vectorAlign * vectorAlign
}

// alignments are those that arrays need for themselves and for what lies over them.
func alignments(storages []*Storage) map[*Storage]int {
	need := map[*Storage]int{}
	for _, st := range slices.Backward(storages) { // what lies over an array comes after it
		need[st] = max(need[st], st.Align)
		if st.Over != nil {
			need[st.Over] = max(need[st.Over], need[st])
		}
	}
	return need
}
