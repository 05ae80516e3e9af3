//go:build wasip1

package linear

import "runtime"

// idle is how many goroutines there are when none runs for a filter.
var idle int

// turnsMax is how often other goroutines get a turn before the gateway is answered: enough for one that was woken and
// wakes another, and an end for those that never rest.
const turnsMax = 32

// others lets goroutines of filters run until they wait: nothing runs in a module once its function has returned.
func others() {
	for turn := 0; turn < turnsMax && runtime.NumGoroutine() > idle; turn++ {
		runtime.Gosched()
	}
}
