package raw

import (
	"runtime"
	"strings"
)

// Registrant returns the import path of the package that registers something: the one that is being initialized on this
// goroutine, regardless of frameworks in between; otherwise the nearest caller that is not a package of an SDK. `kits`
// are the import paths of SDKs.
func Registrant(kits ...string) string {
	callers := make([]uintptr, registrantDepth)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	nearest := ""
	for {
		frame, more := frames.Next()
		path, function := splitFunction(frame.Function)
		switch {
		case isInit(function):
			return path
		case nearest == "" && path != ownPath && !isOneOf(path, kits):
			nearest = path
		}
		if !more {
			return nearest
		}
	}
}

// isInit returns whether a function is the initialization of its package, or a part of it: `init` sets variables,
// `init.0` and so on are init functions in the source.
func isInit(function string) bool {
	name, _, _ := strings.Cut(function, ".")
	return name == "init"
}

func isOneOf(path string, paths []string) bool {
	for _, one := range paths {
		if path == one {
			return true
		}
	}
	return false
}

// splitFunction splits the full name of a function into import path and name.
func splitFunction(full string) (path, function string) {
	slash := strings.LastIndexByte(full, '/') + 1
	last, function, _ := strings.Cut(full[slash:], ".")
	// A dot in the last element of a path is encoded as %2e.
	return strings.ReplaceAll(full[:slash]+last, "%2e", "."), function
}

const (
	ownPath = "github.com/eddy-gateway/eddy/sdk/go/raw"
	// registrantDepth is more than the number of frames between the initialization of a package and its registrations.
	registrantDepth = 64
)
