package raw

import "sync/atomic"

// SDK is the name and version of this kit, as the gateway shows it.
const SDK = "eddy-sdk-go 0.1.0"

// Options are settings of the Go runtime within the gateway. A library does not see environment variables that the
// gateway sets for itself, so that GOMEMLIMIT and the like can't do this.
type Options struct {
	// MemoryLimit is the soft limit of Go's memory in bytes; 0: what the gateway wishes.
	MemoryLimit int64
	// GCPercent is as GOGC; 0: 100.
	GCPercent int
	// GoroutinesMax is the most goroutines that the kit starts for filters at once, for blocking hooks and for
	// work after a pause; 0: 4,096.
	GoroutinesMax int
	// GoroutinesSoftMax is the most goroutines that there may be, those of filters' own included: beyond it the log
	// has a warning, and the kit starts none for filters until there are fewer; 0: 100,000.
	GoroutinesSoftMax int
	// Processors is GOMAXPROCS; 0: the gateway's workers and two more.
	Processors int
}

var options atomic.Pointer[Options]

// Configure sets the options. It is for init functions: the gateway opens the library after them.
func Configure(o Options) { options.Store(&o) }

// Configured gives what [Configure] was told, with defaults filled in.
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
