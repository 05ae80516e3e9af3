//go:build !race

package fastcall

const raceEnabled = false
