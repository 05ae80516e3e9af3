package waf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// withCRS is shared by tests, as its rules take a second to compile.
func withCRS(t *testing.T, keys map[string]any) *eddytest.Gateway {
	config := map[string]any{"crs": true}
	for key, value := range keys {
		config[key] = value
	}
	return eddytest.New(t, "coraza", config)
}

func browser(r *eddytest.Request) *eddytest.Request {
	return r.Header("User-Agent", "Mozilla/5.0").Header("Accept", "*/*")
}

func form(r *eddytest.Request) *eddytest.Request {
	return browser(r).Header("Content-Type", "application/x-www-form-urlencoded")
}

func TestTheCoreRuleSetBlocksAttacks(t *testing.T) {
	g := withCRS(t, nil)
	for _, target := range []string{"/", "/search?q=summer+shoes", "/a/b.html?page=2&sort=price"} {
		if r := browser(g.Get(target)).Do(); r.Forwarded == nil || r.Status != 200 {
			t.Error(target, r)
		}
	}
	for _, target := range []string{"/?id=1%27%20OR%20%271%27=%271", "/?q=<script>alert(1)</script>", "/../../etc/passwd", "/?f=/etc/passwd"} {
		if r := browser(g.Get(target)).Do(); r.Forwarded != nil || r.Status != 403 || r.Details != "waf_denied" {
			t.Error(target, r)
		}
	}
	if blocked := g.Metric("blocked"); blocked != 4 {
		t.Error(blocked)
	}
	logs := strings.Join(g.Logs(), "\n")
	if !strings.Contains(logs, `[id "942100"]`) || !strings.Contains(logs, `[client "192.0.2.1"]`) {
		t.Error(logs)
	}
}

func TestBodiesAreInspectedBeforeTheEndpointSeesTheRequest(t *testing.T) {
	g := withCRS(t, nil)
	r := form(g.Post("/login", "name=ada&comment=", "hello")).Header("Content-Length", "22").Do()
	if r.Forwarded == nil || r.Forwarded.Body != "name=ada&comment=hello" {
		t.Error(r)
	}
	// An attack that no piece of the body has alone.
	r = form(g.Post("/login", "name=ada&comment=<scr", "ipt>alert(1)</script>")).Header("Content-Length", "42").Do()
	if r.Forwarded != nil || r.Status != 403 {
		t.Error(r)
	}
}

func TestRuleActionsBecomeReplies(t *testing.T) {
	g := eddytest.New(t, "coraza", Config{
		Engine: "on", ParanoiaLevel: 1, Response: "head", RequestBodyBytes: 100, ResponseBodyBytes: 100,
		Directives: `
SecRule ARGS:do "@streq deny" "id:1,phase:1,deny,status:429,log,msg:'too much'"
SecRule ARGS:do "@streq drop" "id:2,phase:1,drop,log"
SecRule ARGS:do "@streq redirect" "id:3,phase:1,redirect:https://example.com/help,status:303,log"
SecRule RESPONSE_HEADERS:x-secret "@rx ." "id:4,phase:3,deny,status:502,log"
SecRule REQUEST_HEADERS:Host "!@streq example.com" "id:5,phase:1,deny,status:400,log"
SecRule SERVER_NAME "!@streq example.com" "id:6,phase:1,deny,status:400,log"
SecRule REMOTE_ADDR "@ipMatch 2001:db8::1" "id:7,phase:1,deny,status:401,log"
SecRule REQUEST_PROTOCOL "@streq HTTP/2.0" "id:8,phase:1,deny,status:418,log"`,
	})
	g.Endpoint(func(m *eddytest.Message) *eddytest.Message {
		return &eddytest.Message{Status: 200, Fields: eddytest.Fields("X-Secret", m.Get("x-leak")), Body: "body"}
	})
	if r := g.Get("/?do=deny").Do(); r.Status != 429 || r.Details != "waf_denied" {
		t.Error(r)
	}
	if r := g.Get("/?do=drop").Do(); r.Status != 0 || !r.IsCut || r.Forwarded != nil {
		t.Error(r)
	}
	if r := g.Get("/?do=redirect").Do(); r.Status != 303 || r.Get("location") != "https://example.com/help" {
		t.Error(r)
	}
	if r := g.Get("/").Header("X-Leak", "password").Do(); r.Status != 502 || r.Body != "" || r.Forwarded == nil {
		t.Error(r)
	}
	if r := g.Get("/").Peer("[2001:db8::1]:4711").Do(); r.Status != 401 {
		t.Error(r)
	}
	// A request of HTTP/2 has no Host.
	if r := g.Get("/").NoFields().Version(20).Do(); r.Status != 418 {
		t.Error(r)
	}
	if r := g.Get("/").Do(); r.Status != 200 || r.Body != "body" {
		t.Error(r)
	}
	if r := g.Post("/", strings.Repeat("x", 101)).Do(); r.Status != 413 || r.Forwarded != nil {
		t.Error(r)
	}
	if r := g.Post("/", strings.Repeat("x", 100)).Do(); r.Status != 200 || r.Forwarded == nil {
		t.Error(r)
	}
}

const secretInBody = `
SecResponseBodyMimeType text/html
SecRule RESPONSE_BODY "@contains secret" "id:1,phase:4,deny,status:500,log"`

func TestResponseBodiesAreHeldUntilTheyAreInspected(t *testing.T) {
	config := map[string]any{"response": "body", "response_body_bytes": 50, "directives": secretInBody}
	g := eddytest.New(t, "coraza", config)
	var answer eddytest.Message
	g.Endpoint(func(*eddytest.Message) *eddytest.Message { a := answer; return &a })
	respond := func(contentType, length string, pieces ...string) *eddytest.Result {
		answer = eddytest.Message{Status: 200, Fields: eddytest.Fields("Content-Type", contentType, "Content-Length", length), Pieces: pieces}
		return g.Get("/").Do()
	}
	if r := respond("text/html", "12", "a sec", "ret..."); r.Status != 500 || r.Body != "" {
		t.Error(r)
	}
	if r := respond("text/html", "4", "fine"); r.Status != 200 || r.Body != "fine" {
		t.Error(r)
	}
	if r := respond("application/json", "12", "a sec", "ret..."); r.Status != 200 || r.Body != "a secret..." {
		t.Error(r)
	}
	// A body over the limit is not held: it is cut off where its inspected part is complete.
	large := strings.Repeat("x", 30)
	if r := respond("text/html", "120", large+"secret", large, large, large); !r.IsCut || r.Body != "" {
		t.Error(r)
	}
	if r := respond("text/html", "120", large, large, large, large); r.Status != 200 || r.IsCut || len(r.Body) != 120 {
		t.Error(r)
	}
}

func TestEachTransactionIsClosed(t *testing.T) {
	dir := t.TempDir()
	keep := fmt.Sprintf("SecTmpDir %s\nSecUploadDir %s\nSecAuditEngine On\nSecAuditLog %s\nSecAuditLogParts AZ\n", dir, dir, filepath.Join(dir, "audit.log"))
	rules := `SecAction "id:1,phase:5,pass,log,msg:'logging'"
SecRule ARGS:do "@streq deny" "id:2,phase:1,deny,nolog"
SecRule ARGS:do "@streq drop" "id:3,phase:1,drop,nolog"`
	for _, blocking := range []bool{false, true} {
		g := eddytest.NewChain(t, eddytest.Filter{Name: "coraza", Blocking: blocking, Config: map[string]any{"directives": keep + rules}})
		g.Get("/").Do()
		g.Get("/?do=deny").Do()
		g.Post("/", "a body").Do()
		if r := g.Get("/?do=drop").Do(); !r.IsCut {
			t.Error(r)
		}
		if logs := g.Logs(); len(logs) != 4 || strings.Contains(strings.Join(logs, ""), "closed") {
			t.Errorf("%q", logs)
		}
	}
	log, err := os.ReadFile(filepath.Join(dir, "audit.log"))
	if entries := strings.Count(string(log), "-A--"); err != nil || entries != 8 {
		t.Error(entries, err, string(log))
	}
}

func TestCleanRequestsWithoutBodiesCrossOncePerHead(t *testing.T) {
	g := eddytest.New(t, "coraza", map[string]any{"directives": "SecRuleEngine DetectionOnly"})
	r := g.Get("/").Do()
	for _, phase := range r.Crossings {
		if phase == raw.PhaseRequestBody {
			t.Error(r.Crossings)
		}
	}
}

func TestRulesMayHaveTheirOwnConfiguration(t *testing.T) {
	g := eddytest.NewChain(t, eddytest.Filter{
		Name: "coraza", Config: map[string]any{"crs": true}, Rule: map[string]any{"engine": "detect"},
	})
	if r := browser(g.Get("/?q=<script>alert(1)</script>")).Do(); r.Forwarded == nil || r.Status != 200 || len(g.Logs()) == 0 {
		t.Error(r, g.Logs())
	}
}

func TestFilesAndExclusions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.conf")
	own := "Include @owasp_crs/REQUEST-901-INITIALIZATION.conf\nSecRule ARGS:x \"@streq y\" \"id:1,phase:2,deny,status:403,log\"\n"
	if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	g := eddytest.New(t, "coraza", map[string]any{"files": []string{file}, "before_crs": "", "crs": false,
		"directives": `SecRule ARGS:off "@streq y" "id:2,phase:1,pass,nolog,ctl:ruleRemoveById=1"`})
	// Without crs-setup.conf, the first rule of the Core Rule Set refuses every request.
	if r := g.Get("/?x=z").Do(); r.Status != 500 {
		t.Error(r)
	}
	g = eddytest.New(t, "coraza", map[string]any{"crs": true, "files": []string{}, "directives": "SecRuleRemoveById 941100-942999"})
	if r := browser(g.Get("/?q=<script>alert(1)</script>")).Do(); r.Status != 200 {
		t.Error(r)
	}
}

func TestConfigurationsAreChecked(t *testing.T) {
	for says, config := range map[string]any{
		"there are no rules":      nil,
		`"paranoia_level"`:        map[string]any{"crs": true, "paranoia_level": 5},
		`"engine"`:                map[string]any{"crs": true, "engine": "On"},
		`"response"`:              map[string]any{"crs": true, "response": "all"},
		`"request_body_bytes"`:    map[string]any{"crs": true, "request_body_bytes": -1},
		`"response_body_bytes"`:   map[string]any{"crs": true, "response_body_bytes": 0},
		`"before_crs"`:            map[string]any{"before_crs": "SecRuleEngine On", "files": []string{"x"}},
		"no such file":            map[string]any{"files": []string{"/nowhere/own.conf"}},
		`unknown directive "secr`: map[string]any{"directives": "SecRuleEngin On"},
	} {
		if err := eddytest.Refusal(t, "coraza", config); !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}
