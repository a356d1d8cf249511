package ir

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

// PlaceShared places the shared arrays among storages one after the other; total is the bytes of all of them.
func PlaceShared(storages []*Storage) (places []Placement, total int) {
	for _, st := range storages {
		if st.Space != Shared {
			continue
		}
		bytes := int(st.Count) * st.Elem.Bits() / 8
		align := max(st.Align, vectorAlign)
		if bytes >= patternAlign {
			align = patternAlign
		}
		at := (total + align - 1) / align * align
		places = append(places, Placement{st, align, at})
		total = at + bytes
	}
	return places, (total + vectorAlign - 1) / vectorAlign * vectorAlign
}
