//go:build fastcall_mutant2

package fastcall

// Wrong on purpose, to test that the probe detects it: m.g0 is read one word too late.
const (
	offsetM  = 0x30
	offsetG0 = 0x8
	offsetSP = 0x38
)
