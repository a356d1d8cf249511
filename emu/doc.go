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
// Memory is cells, one an element, not bytes: value bits, who wrote it and in which epoch (an epoch is the time
// between two barriers), who has read it since, and the asynchronous copy that is still to fill it. Where shared
// arrays overlap, the cells of all of them are as wide as the narrowest element.
//
// # Arithmetic
//
// Every operation on values rounds once, to nearest even, to the kind of its result; FMA rounds once. ExpOp, TanhOp
// and SqrtOp are computed in float64 and rounded, so hardware may differ from them in the last places.
//
// MMA: products are exact. Floating-point results are the sum of C and all products, added in float64 in order of
// k and then rounded once to the kind of D. Float64 keeps every f16, bf16 and tf32 product, and its additions err
// by 2^-53 of the partial sum, far below the result's last place. Hardware truncates more, so compare with a
// tolerance. An f64 MMA is a chain of fused multiply-adds in order of k. Integer MMA wraps at 32 bits.
//
// # Limits
//
// Only accesses to shared memory are checked for races as they happen; in global memory, after the run, elements
// that several threads wrote and, where a kernel reads what it writes, elements that one block wrote and another
// read. Lanes of one warp are taken to run in lock step: a hazard between two instructions of one warp is not a race.
package emu
