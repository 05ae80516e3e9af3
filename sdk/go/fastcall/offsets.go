//go:build !fastcall_mutant1 && !fastcall_mutant2 && !fastcall_mutant3 && !fastcall_mutant4

package fastcall

// Offsets in the runtime's structures g and m. The assembly and the probe both use these constants, so the checked
// offsets are the used ones. These three have not changed since Go 1.9, unlike the fields around them.
const (
	offsetM  = 0x30 // g.m: the thread that runs the goroutine
	offsetG0 = 0x0  // m.g0: the goroutine of the thread's system stack
	offsetSP = 0x38 // g.sched.sp: the saved stack pointer of a goroutine that is not running
)
