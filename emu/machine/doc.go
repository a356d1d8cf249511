// Package machine is a GPU as a kernel sees it: blocks of threads that share memory, and what keeps their accesses in
// order. It knows no language; a front end decodes instructions and calls it, lane by lane.
//
// # Memory
//
// Memory is bytes, in regions with an address each. Beside the bytes a region keeps, for every cell, who wrote it last and
// who has read it since. A cell is the widest power of two of bytes, up to 16, that every access so far was aligned to.
//
// # Order
//
// Two accesses are ordered by what the kernel does, never by what happened to come first in a run. Each thread has a time
// that moves on where it tells others what it has done (a release), and a clock: for each other thread the time up to
// which its accesses are known to have happened. Barriers, warp syncs, mbarriers, fences with atomic operations, and waits
// for copies join clocks. Two accesses of a byte by different threads, one of them a write, race if the later one's clock
// does not have the earlier one's time, and not both are strong (atomic, relaxed, volatile).
//
// Accesses by asynchronous copies and products have a proxy of their own. They begin when they are issued, end when
// somebody waits for them, and any access to their bytes in between is a finding. They see what ordinary stores wrote only
// where a fence.proxy.async lies on the way.
package machine
