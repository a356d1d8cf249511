package emu

import (
	"maps"
	"slices"
)

// Checks lists every kind of finding, sorted.
func Checks() []Check { return slices.Sorted(maps.Keys(remedies)) }

// Remedy says what to do about the findings of a check, without a full stop.
func (c Check) Remedy() string { return remedies[c] }
