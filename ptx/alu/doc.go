// Package alu knows what PTX's arithmetic instructions compute, one lane at a time: integers, logic, comparisons,
// moves, conversions and floating point. Memory, control flow and everything between lanes is left to its user.
//
// Compile checks an instruction against a table, once, and returns an Op that runs many times without allocation.
// A modifier or operand that the table does not have is an error, never ignored. As in ptxas, modifiers stand in any
// order, and types in theirs.
//
// # Words
//
// A register of a lane is a word of 64 bits: the low bits hold the value, the others are zero. Predicates are 0 or 1.
// Operations read words in that form and write them so. Types of 128 bits do not fit and are refused.
//
// # Carry
//
// The carry of add.cc, addc, sub.cc, subc, mad.cc and madc is a hidden register of each lane, 0 or 1: a Source of kind
// CarrySource reads it, and the register number Carry in Op.Out writes it. After sub.cc and subc.cc it is the borrow.
//
// # Exact and approximate results
//
// Everything without .approx or .full is rounded once, as the ISA says, subnormals included. Approximate functions are
// computed in float64 and rounded to nearest; Op.Approx is set, and Op.Bound has the error that the ISA allows.
//
// Where the ISA leaves a result open, it is this. A NaN of 16 or 32 bits is 0x7fff or 0x7fffffff; one of 64 bits is the
// first NaN among the operands, quiet, or 0xfff8000000000000; abs and neg change the sign of a NaN alone. The quotient of
// a division of integers by zero has all bits set, and the remainder is the dividend.
//
// cvta is not here: what it computes depends on where the machine puts its windows.
package alu
