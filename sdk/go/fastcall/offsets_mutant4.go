//go:build fastcall_mutant4

package fastcall

// Wrong on purpose, for the test that the probe notices: g.sched.sp is looked for where the upper end of the stack is.
const (
	offsetM  = 0x30
	offsetG0 = 0x0
	offsetSP = 0x8
)
