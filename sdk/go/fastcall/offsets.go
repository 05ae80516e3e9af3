//go:build !fastcall_mutant1 && !fastcall_mutant2 && !fastcall_mutant3 && !fastcall_mutant4

package fastcall

// Where the assembly looks in the runtime's structures g and m. The assembly and the probe take them from here, so
// that what is checked is what is used. These three have not moved since Go 1.9; the fields around them have.
const (
	offsetM  = 0x30 // g.m: the thread that a goroutine runs on
	offsetG0 = 0x0  // m.g0: the goroutine that stands for the thread's system stack
	offsetSP = 0x38 // g.sched.sp: where a goroutine that does not run left its stack
)
