package waf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/corazawaf/coraza/v3"
	"github.com/corazawaf/coraza/v3/types"
)

// Config configures the firewall. Its parts form one rule set, in this order: Coraza's recommended settings and the
// setup of the Core Rule Set (if CRS is set), the keys below, BeforeCRS, the rules of the Core Rule Set, Files and
// Directives.
type Config struct {
	// CRS includes the OWASP Core Rule Set, which is compiled into the library.
	CRS bool `json:"crs,omitempty"`
	// ParanoiaLevel is the blocking paranoia level of the Core Rule Set, 1 to 4.
	ParanoiaLevel int `json:"paranoia_level,omitempty"`
	// Engine is "on", "detect" (matches are logged, and nothing is blocked) or "off".
	Engine string `json:"engine,omitempty"`
	// RequestBodyBytes is the maximum size of an inspected request body; a larger one gets a 413. 0: request bodies are
	// not inspected, and not buffered.
	RequestBodyBytes int `json:"request_body_bytes"`
	// Response is the inspected part of responses: "none", "head" or "body".
	Response string `json:"response,omitempty"`
	// ResponseBodyBytes is the maximum size of an inspected response body; of a larger one, this part is inspected.
	ResponseBodyBytes int `json:"response_body_bytes,omitempty"`
	// PreFilter skips regular expressions whose literals are not in the input: the same results in less time.
	PreFilter bool `json:"pre_filter"`
	// BeforeCRS are directives in front of the rules of the Core Rule Set: its settings, for example.
	BeforeCRS string `json:"before_crs,omitempty"`
	// Files are files of directives, absolute or relative to the working directory of the gateway. Include directives
	// may name files of the Core Rule Set, such as @owasp_crs/*.conf.
	Files []string `json:"files,omitempty"`
	// Directives are directives that follow everything else: exclusions of rules, for example.
	Directives string `json:"directives,omitempty"`
}

// SetDefaults implements eddy.Defaulter.
func (c *Config) SetDefaults() {
	c.ParanoiaLevel = 1
	c.Engine = "on"
	c.RequestBodyBytes = 1 << 20
	c.Response = "head"
	c.ResponseBodyBytes = 512 << 10
	c.PreFilter = true
}

var engines = map[string]string{"on": "On", "detect": "DetectionOnly", "off": "Off"}

func (c *Config) check() error {
	switch {
	case !c.CRS && len(c.Files) == 0 && strings.TrimSpace(c.Directives) == "":
		return errors.New(`there are no rules: set "crs: true", "files" or "directives"`)
	case !c.CRS && c.BeforeCRS != "":
		return errors.New(`key "before_crs": needs "crs: true"`)
	case c.ParanoiaLevel < 1 || c.ParanoiaLevel > 4:
		return fmt.Errorf(`key "paranoia_level": must be 1 to 4, not %d`, c.ParanoiaLevel)
	case engines[c.Engine] == "":
		return fmt.Errorf(`key "engine": must be on, detect or off, not %q`, c.Engine)
	case c.Response != "none" && c.Response != "head" && c.Response != "body":
		return fmt.Errorf(`key "response": must be none, head or body, not %q`, c.Response)
	case c.RequestBodyBytes < 0 || c.RequestBodyBytes > 1<<30:
		return fmt.Errorf(`key "request_body_bytes": must be 0 to 1 GiB, not %d`, c.RequestBodyBytes)
	case c.ResponseBodyBytes < 1 || c.ResponseBodyBytes > 1<<30:
		return fmt.Errorf(`key "response_body_bytes": must be 1 byte to 1 GiB, not %d`, c.ResponseBodyBytes)
	}
	return nil
}

// settings returns the directives for the keys.
func (c *Config) settings() string {
	var s strings.Builder
	onOff := map[bool]string{true: "On", false: "Off"}
	fmt.Fprintf(&s, "SecRuleEngine %s\n", engines[c.Engine])
	fmt.Fprintf(&s, "SecRxPreFilter %s\n", onOff[c.PreFilter])
	fmt.Fprintf(&s, "SecRequestBodyAccess %s\n", onOff[c.RequestBodyBytes > 0])
	if c.RequestBodyBytes > 0 {
		// Coraza refuses a body that reaches the limit. It is in memory anyway, so it needs no temporary file.
		fmt.Fprintf(&s, "SecRequestBodyLimit %d\nSecRequestBodyInMemoryLimit %d\n", c.RequestBodyBytes+1, c.RequestBodyBytes+1)
	}
	fmt.Fprintf(&s, "SecResponseBodyAccess %s\n", onOff[c.Response == "body"])
	fmt.Fprintf(&s, "SecResponseBodyLimit %d\nSecResponseBodyLimitAction ProcessPartial\n", c.ResponseBodyBytes)
	if c.CRS {
		fmt.Fprintf(&s, "SecAction \"id:900000,phase:1,pass,t:none,nolog,setvar:tx.blocking_paranoia_level=%d\"\n", c.ParanoiaLevel)
	}
	return s.String()
}

// Compile compiles the rules, which takes a second for the Core Rule Set. Matches of rules that are logged go to matched.
func (c Config) Compile(matched func(types.MatchedRule)) (coraza.WAF, error) {
	config := coraza.NewWAFConfig().WithRootFS(files{}).WithErrorCallback(matched)
	if c.CRS {
		config = config.WithDirectivesFromFile(recommended).WithDirectivesFromFile(crsSetup)
	}
	config = config.WithDirectives(c.settings())
	if c.CRS {
		config = config.WithDirectives(c.BeforeCRS).WithDirectivesFromFile(crsRules)
	}
	for _, file := range c.Files {
		config = config.WithDirectivesFromFile(file)
	}
	return coraza.NewWAF(config.WithDirectives(c.Directives))
}
