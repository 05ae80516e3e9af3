//go:build fastcall_mutant2

package fastcall

// Wrong on purpose, for the test that the probe notices: m.g0 is looked for one word too late.
const (
	offsetM  = 0x30
	offsetG0 = 0x8
	offsetSP = 0x38
)
