// Package emu runs a kernel's C IR on the CPU, the very program that is printed as CUDA, and checks it.
//
// # Execution
//
// Blocks run in parallel and independently. In a block, each warp runs to its next barrier, then the next warp
// does; Options.Seed shuffles that order, which a kernel without races cannot notice. The lanes of a warp run in
// lock step under a mask of active lanes. Integers are 64 bits wide here, so they never wrap; that a value leaves
// the bounds its symbol promises is a finding.
//
// # Memory
//
// Memory is cells, one an element, not bytes: value bits, who wrote it and when, who has read it, and the
// asynchronous copy that is still to fill it. Where shared arrays overlap, the cells of all of them are as wide as
// the narrowest element.
//
// # Arithmetic
//
// Every operation on values rounds once, to nearest even, to the kind of its result; FMA rounds once. ExpOp, TanhOp,
// SigmoidOp and SqrtOp are computed in float64 and rounded, so hardware may differ from them in the last places.
//
// MMA: products are exact. Floating-point results are the sum of C and all products, added in float64 in order of
// k and then rounded once to the kind of D. Float64 keeps every f16, bf16 and tf32 product, and its additions err
// by 2^-53 of the partial sum, far below the result's last place. Hardware truncates more, so compare with a
// tolerance. An f64 MMA is a chain of fused multiply-adds in order of k. Integer MMA wraps at 32 bits, or saturates
// with .satfinite. Complex products are chains of the real ones.
//
// A wgmma is, in each warp, its 16 rows of D, every 8 columns of which are computed as an mma.sync of the same kinds is:
// the sum of D and one instruction's products along k, rounded once.
//
// There is no time: of the clocks that a kernel reads, each warp gets 1, 2, 3, … in each block.
//
// Atomic additions round as others do; in global memory those of f32 take and give zero for subnormal numbers.
//
// # Order
//
// A copy of a tensor's box is in flight until the phase of its mbarrier that it counts in has been waited for; that of
// another mbarrier tells nothing of it. A wgmma reads shared memory, and keeps its accumulators, from the statement to
// the wait for its group, whatever the warp tells others in between. Its four warps take the same steps with the same
// operands. There are two ways to shared memory, and no fence between them: what a wgmma reads has to come from a copy of
// a box, and not from stores.
//
// Accesses are ordered by what the kernel does, not by what happened to come first in a run: by barriers of the
// block, arrivals and waits at mbarriers, waits for groups of asynchronous copies, and warp syncs. The lanes of a warp
// run in lock step here, but as hardware promises no such thing, two accesses of different lanes are ordered only by
// one of those. What may come in either order is a race, in shared memory and, within a block, in global memory.
// Between blocks nothing is ordered. A named barrier orders the accesses of those that meet there. Shuffles and votes
// order nothing. Atomic operations come in any order with each other, which is no race, and order nothing but
// themselves: with an access of another kind they race as stores do. Where the order of blocks can show in the results
// of atomic operations in global memory (sums of floating-point numbers, old values), blocks run one by one, in order,
// so that a run can be repeated; hardware has its own order.
//
// # Exact mode
//
// With Options.Exact a cell holds an element of the field of Prime elements, whatever its kind. Every copy, MMA, FMA
// and linear operation is exact there; what has no meaning in a field is refused.
//
// exp, tanh and sigmoid are rounded correctly here; CUDA's expf and tanhf may be two units in the last place away, half kinds
// computed through them one; a sigmoid of f32 errs there by up to 2^-21 + |x|*2^-23 of itself. Square roots, sums, products and quotients are rounded correctly on both sides.
package emu
