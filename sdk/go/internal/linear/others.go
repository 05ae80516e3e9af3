//go:build wasip1

package linear

import "runtime"

// idle is the number of goroutines when none runs for a filter.
var idle int

// turnsMax is how often other goroutines run before the call returns to the gateway: enough for one that was woken and
// wakes another, and a limit for those that never stop.
const turnsMax = 32

// others runs goroutines of filters until they wait, because nothing runs in a module after its function has returned.
func others() {
	for turn := 0; turn < turnsMax && runtime.NumGoroutine() > idle; turn++ {
		runtime.Gosched()
	}
}
