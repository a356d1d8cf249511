package dsl

import "fmt"

// Budget is a limit on what a kernel may cost; `gocute check` and package check hold the kernel to it.
type Budget struct {
	kind      BudgetKind
	registers int
}

// BudgetKind says what a budget limits.
type BudgetKind uint8

// The kinds of budgets.
const (
	ConflictBudget BudgetKind = iota // bank conflicts
	SectorBudget                     // sectors of global memory beyond the least possible
	RegisterBudget                   // registers of a thread
)

var (
	// NoBankConflicts demands that no access to shared memory takes more passes over the banks than it must.
	NoBankConflicts = Budget{kind: ConflictBudget}
	// Coalesced demands that no access to global memory touches more 32-byte sectors than its bytes fill.
	Coalesced = Budget{kind: SectorBudget}
)

// Registers demands that ptxas gives a thread at most n registers.
func Registers(n int) Budget { return Budget{kind: RegisterBudget, registers: n} }

// Kind is what the budget limits.
func (b Budget) Kind() BudgetKind { return b.kind }

// Limit is the number of registers, and 0 for the other kinds, which allow nothing beyond the least possible.
func (b Budget) Limit() int { return b.registers }

// String is the budget as a report shows it.
func (b Budget) String() string {
	switch b.kind {
	case ConflictBudget:
		return "no bank conflicts"
	case SectorBudget:
		return "fully coalesced"
	}
	return fmt.Sprintf("registers <= %d", b.registers)
}

// Budget states what the kernel may cost.
func (k *K) Budget(limits ...Budget) {
	given("Budget", k)
	for _, b := range limits {
		if b.kind == RegisterBudget && (b.registers < 1 || b.registers > 255) {
			k.errorf("Budget", "expects 1 to 255 registers, but got %d", b.registers)
			return
		}
	}
	k.kernel.budgets = append(k.kernel.budgets, limits...)
}

// Budgets lists what the kernel may cost.
func (k *Kernel) Budgets() []Budget {
	if k == nil {
		return nil
	}
	return k.budgets
}
