//go:build race

package passing

const raceEnabled = true
