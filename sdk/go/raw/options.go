package raw

import "sync/atomic"

// SDK is the name and version of this SDK, as shown by the gateway.
const SDK = "eddy-sdk-go 0.1.0"

// Options are settings of the Go runtime within the gateway. A library does not see environment variables that the
// gateway sets for itself, so GOMEMLIMIT and the like have no effect.
type Options struct {
	// MemoryLimit is the soft memory limit of Go in bytes; 0: the limit of the gateway.
	MemoryLimit int64
	// GCPercent is GOGC; 0: 100.
	GCPercent int
	// GoroutinesMax is the maximum number of goroutines that the SDK starts for filters, for blocking hooks and for
	// work after a pause; 0: 4,096.
	GoroutinesMax int
	// GoroutinesSoftMax is the maximum number of all goroutines, including those of filters: beyond it, a warning is
	// logged, and the SDK starts none for filters until there are fewer; 0: 100,000.
	GoroutinesSoftMax int
	// Processors is GOMAXPROCS; 0: the number of workers of the gateway plus two.
	Processors int
}

var options atomic.Pointer[Options]

// Configure sets the options. Call it in an init function: the gateway opens the library after all of them.
func Configure(o Options) { options.Store(&o) }

// Configured returns the options of [Configure], with defaults filled in.
func Configured() Options {
	o := Options{}
	if p := options.Load(); p != nil {
		o = *p
	}
	if o.GoroutinesMax == 0 {
		o.GoroutinesMax = 4096
	}
	if o.GoroutinesSoftMax == 0 {
		o.GoroutinesSoftMax = 100_000
	}
	if o.Processors == 0 {
		o.Processors = Workers() + 2
	}
	return o
}
