//go:build fastcall_mutant4

package fastcall

// Wrong on purpose, for the test that the probe notices: both fields of g are looked for one word too late.
const (
	offsetM  = 0x38
	offsetG0 = 0x0
	offsetSP = 0x40
)
