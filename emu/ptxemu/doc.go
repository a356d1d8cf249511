// Package ptxemu runs PTX on the abstract machine of package machine: any compiler's kernels, without a GPU, with every
// access checked.
//
// # Warps
//
// A warp's lanes run in splits: lanes at one place. The split furthest back runs, and splits that come to one place join; one
// that waits lets the others run. So lanes meet again after branches as they do on hardware, and one that spins does not
// keep the others from what it waits for. An instruction for a whole warp waits for the lanes that its mask names.
//
// # Blocks
//
// A block's warps take turns, Options.Seed in which order. Blocks run one after the other; one whose threads all wait for
// others (at memory, say) lets the next ones start.
//
// # Limits
//
// An instruction that the package does not have is an error with its line, before anything runs.
package ptxemu
