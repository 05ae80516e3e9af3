//go:build !race

package passing

const raceEnabled = false
