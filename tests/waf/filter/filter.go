// Package filter is the example filter with Coraza, with a complete log of its matches for tests: the gateway's own log
// drops records of a filter that writes many.
package filter

import (
	"os"

	"github.com/corazawaf/coraza/v3/types"

	waf "github.com/eddy-gateway/eddy/examples/filters/go-coraza"
)

// LogVariable is the environment variable with the path of the log.
const LogVariable = "EDDY_WAF_LOG"

func init() {
	path := os.Getenv(LogVariable)
	if path == "" {
		return
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	waf.Observe = func(rule types.MatchedRule) { WriteTo(log, rule) }
}

// WriteTo appends a match to a log. It panics when that fails, as a test without its log shows nothing.
func WriteTo(log *os.File, rule types.MatchedRule) {
	if _, err := log.WriteString(rule.ErrorLog() + "\n"); err != nil {
		panic(err)
	}
}
