// Package checks tells of filters that others wrote for Envoy whether they do their job in eddy.
package checks

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/envoyproxy/envoy/envoytest"
)

// All are the checks by the filters' ids in filters.json; path is the import path of the filter's package.
var All = map[string]func(t *testing.T, path string){
	"token": token, "async": async, "remote-auth": remoteAuth, "users": users, "simple": simple, "metric": metric,
	"buffer": buffer, "access-log": accessLog, "secrets": secrets, "htnn": htnn,
}

var answer = envoytest.Response{Status: 200, Fields: envoytest.Fields{{"Content-Length", "5"}}, Body: []string{"he", "llo"}}

func with(name, value string) envoytest.Request {
	return envoytest.Request{Host: "example.com", Path: "/a?b=c", Fields: envoytest.Fields{{name, value}}}
}

func basic(credentials string) envoytest.Request {
	return with("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(credentials)))
}

// expect is about an answer that the filter or the endpoint gave.
func expect(t *testing.T, r *envoytest.Result, status int, body string) {
	t.Helper()
	if r.Status != status || r.Text() != body || (status < 400) != (r.Upstream != nil) || len(r.Faults) != 0 {
		t.Errorf("status %d, body %q, want %d %q; %+v", r.Status, r.Text(), status, body, r)
	}
}

func token(t *testing.T, path string) {
	g := envoytest.New(t, envoytest.Filter{Name: path + ":example-1"})
	sum := md5.Sum([]byte("/a?b=c" + "secret"))
	expect(t, g.Do(with("Token", hex.EncodeToString(sum[:])), answer), 200, "hello")
	expect(t, g.Do(with("Token", "x"), answer), 403, "invalid token")
	expect(t, g.Do(with("Other", "x"), answer), 403, "missing token")
}

func async(t *testing.T, path string) {
	g := envoytest.New(t, envoytest.Filter{Name: path + ":basic-auth", Config: `{"username": "u", "password": "p"}`})
	request := envoytest.Request{Method: "POST", Body: []string{"a", "b", "c"}, Trailers: envoytest.Fields{{"x-t", "1"}}}
	reply := answer
	reply.Trailers = envoytest.Fields{{"x-t", "2"}}
	for range 200 {
		r := g.Do(request, reply)
		expect(t, r, 200, "hello")
		if r.Upstream.Text() != "abc" || r.Upstream.Trailers.Get("x-t") != "1" || r.Trailers.Get("x-t") != "2" {
			t.Fatalf("%+v", r)
		}
	}
}

func remoteAuth(t *testing.T, path string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/check" || string(body) != `{"username": "u", "password": "p"}` {
			w.WriteHeader(403)
		}
	}))
	host, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	config := fmt.Sprintf(`{"host": %q, "port": %s}`, host, port)
	g := envoytest.New(t, envoytest.Filter{Name: path + ":remote-basic-auth", Config: config})
	expect(t, g.Do(basic("u:p"), answer), 200, "hello")
	expect(t, g.Do(basic("u:q"), answer), 401, "invalid username or password")
	expect(t, g.Do(basic("nothing"), answer), 401, "invalid Authorization format")
	r := g.Do(with("x", "y"), answer)
	expect(t, r, 401, "no Authorization")
	if r.Details != "bad-request" {
		t.Errorf("details %q", r.Details)
	}
	server.Close()
	expect(t, g.Do(basic("u:p"), answer), 401, "invalid username or password")
}

func users(t *testing.T, path string) {
	g := envoytest.New(t, envoytest.Filter{Name: path + ":basic-auth", Config: `{"users": [
		{"Username": "a", "Password": "1", "Expire": 1, "Uint": "Hour"},
		{"Username": "b", "Password": "2", "Expire": 1, "Uint": "Nanosecond"}]}`})
	expect(t, g.Do(basic("a:1"), answer), 200, "hello")
	expect(t, g.Do(basic("a:2"), answer), 401, "invalid username or password")
	expect(t, g.Do(basic("b:2"), answer), 401, "what took u so long")
	expect(t, g.Do(with("x", "y"), answer), 401, "no Authorization")
}

func simple(t *testing.T, path string) {
	f := envoytest.Filter{
		Name:   path + ":basic",
		Config: `{"prefix_localreply_body": "from configuration", "iteration": 50}`,
		Rule:   `{"prefix_localreply_body": "from the rule", "iteration": 1}`,
	}
	merged := envoytest.New(t, f)
	f.Rule = ""
	g := envoytest.New(t, f)
	ask := func(g *envoytest.Gateway, path string) *envoytest.Result {
		return g.Do(envoytest.Request{Method: "POST", Path: path, Body: []string{"x"}}, answer)
	}
	for g, text := range map[*envoytest.Gateway]string{g: "from configuration", merged: "from the rule"} {
		r := ask(g, "/localreply_by_config")
		if r.Status != 200 || r.Text() != text+", path: /localreply_by_config\r\n" || r.Upstream != nil || r.Fields.Get("Rsp-Header-From-Go") != "bar-test" {
			t.Errorf("%+v", r)
		}
	}
	r := ask(g, "/update_upstream_response")
	expect(t, r, 200, "upstream response body updated by the simple plugin")
	r = ask(g, "/other")
	expect(t, r, 200, "hello")
	if r.Fields.Get("rsp-header-from-go") != "bar-test" || r.Upstream.Text() != "x" {
		t.Errorf("%+v", r)
	}
	hasLog := false
	for _, record := range envoytest.Records() {
		hasLog = hasLog || record.Text == "200"
	}
	if !hasLog {
		t.Error("OnLog has written nothing")
	}
	f.Config = "{}"
	if err := envoytest.Configure(t, f); err == nil || err.Error() != "missing prefix_localreply_body" {
		t.Errorf("an empty configuration: %v", err)
	}
}

func metric(t *testing.T, path string) {
	g := envoytest.New(t, envoytest.Filter{Name: path + ":metric"})
	for i, path := range []string{"/", "/?async=1"} {
		r := g.Do(envoytest.Request{Path: path}, answer)
		expect(t, r, 200, "hello")
		// The gauge is set to 1 at the end of each request, the counter only grows.
		want := []string{strconv.Itoa(2 * (i + 1)), strconv.Itoa(3 + min(i, 1)), "1"}
		got := r.Upstream.Fields
		if got.Get("go-metric-counter-test-header-key") != want[0] || got.Get("go-metric-gauge-test-header-key") != want[1] ||
			got.Get("go-metric-gauge-record-test-header-key") != want[2] {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if counter, gauge := envoytest.Metric("test_counter"), envoytest.Metric("test_gauge"); counter != 4 || gauge != 1 {
		t.Errorf("counter %d, gauge %d", counter, gauge)
	}
}

func buffer(t *testing.T, path string) {
	g := envoytest.New(t, envoytest.Filter{Name: path + ":buffer"})
	body := []string{strings.Repeat("12345", 10), "end"}
	for query, want := range map[string]string{"Reset": "end", "ResetAfterDrain": "end", "Drain": "end"} {
		r := g.Do(envoytest.Request{Method: "POST", Path: "/?" + query, Body: body}, answer)
		expect(t, r, 200, "hello")
		if r.Upstream.Text() != want {
			t.Errorf("%s: %q", query, r.Upstream.Text())
		}
	}
	r := g.Do(envoytest.Request{Method: "POST", Path: "/?Other", Body: body}, answer)
	if r.Status != 500 || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "unknown case Other") {
		t.Errorf("%+v", r)
	}
}

func accessLog(t *testing.T, path string) {
	g := envoytest.New(t, envoytest.Filter{Name: path + ":access_log"})
	request := with("Referer", "r")
	request.Method, request.Body, request.Trailers = "POST", []string{"x"}, envoytest.Fields{{"x-trailer", "foo"}}
	reply := answer
	reply.Trailers = envoytest.Fields{{"X-Trailer", "bar"}}
	r := g.Do(request, reply)
	expect(t, r, 200, "hello")
	// What is set when the exchange is over comes too late in eddy.
	if len(r.Metadata) != 0 {
		t.Errorf("metadata %v", r.Metadata)
	}
	got := g.Do(request, reply).Upstream.Fields
	for name, want := range map[string]string{
		"respCode": "200", "canRunAsyncly": "true", "canRunAsynclyForDownstreamStart": "true",
		"canRunAsynclyForDownstreamPeriodic": "false", "referers": "r;r", "x-req-trailer": "foo", "x-resp-trailer": "bar",
	} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
}

func secrets(t *testing.T, path string) {
	ask := func(where, key, value string) error {
		config := fmt.Sprintf(`{"@secrets": {"k": "v"}, "path": %q, "secret_key": %q, "secret_value": %q}`, where, key, value)
		return envoytest.Configure(t, envoytest.Filter{Name: path + ":secrets", Config: config})
	}
	if err := ask("/config", "k", "v"); err != nil {
		t.Error(err)
	}
	if err := ask("/config", "k", "w"); err == nil || !strings.Contains(err.Error(), "expected secret w got v") {
		t.Errorf("a panic of the parser: %v", err)
	}
	for _, where := range []string{"/sync", "/async", "/config/sync", "/config/async"} {
		for key, want := range map[string]int{"k": 200, "none": 404} {
			config := fmt.Sprintf(`{"@secrets": {"k": "v"}, "path": %q, "secret_key": %q}`, where, key)
			r := envoytest.New(t, envoytest.Filter{Name: path + ":secrets", Config: config}).Do(with("x", "y"), answer)
			if r.Status != want || r.Text() != map[int]string{200: "v"}[want] || r.Upstream != nil {
				t.Errorf("%s %s: %+v", where, key, r)
			}
		}
	}
}

func htnn(t *testing.T, _ string) {
	manager := func(plugins string) *envoytest.Gateway {
		return envoytest.New(t, envoytest.Filter{Name: "fm", Config: `{"plugins": [` + plugins + `]}`})
	}
	post := envoytest.Request{Method: "POST", Host: "example.com", Path: "/echo", Body: []string{"a", "b"}}
	runs := func(t *testing.T, r *envoytest.Result, request, response, upstream, body string) {
		t.Helper()
		if r.Status != 200 || len(r.Faults) != 0 || r.Upstream == nil {
			t.Fatalf("%+v", r)
		}
		if got := strings.Join(r.Upstream.Fields.Values("run"), "|"); got != request {
			t.Errorf("request: %q ran, want %q", got, request)
		}
		if got := strings.Join(r.Fields.Values("run"), "|"); got != response {
			t.Errorf("response: %q ran, want %q", got, response)
		}
		if r.Upstream.Text() != upstream || r.Text() != body {
			t.Errorf("bodies %q and %q, want %q and %q", r.Upstream.Text(), r.Text(), upstream, body)
		}
	}
	const stream = `{"name": "stream", "config": {"decode": true, "encode": true}}`
	const collect = `{"name": "buffer", "config": {"decode": true, "encode": true, "need": true}}`
	const pass = `{"name": "buffer", "config": {"decode": true, "encode": true}}`
	runs(t, manager(stream).Do(post, answer), "stream", "stream", "astream\nbstream\n", "hestream\nllostream\n")
	runs(t, manager(collect).Do(post, answer), "buffer", "buffer", "abbuffer\n", "hellobuffer\n")
	runs(t, manager(stream+","+collect).Do(post, answer), "stream|buffer", "buffer|stream", "abstream\nbuffer\n", "hellobuffer\nstream\n")
	runs(t, manager(pass).Do(post, answer), "no buffer", "no buffer", "ano buffer\nbno buffer\n", "heno buffer\nllono buffer\n")

	for config, upstream := range map[string]bool{
		`{"decode": true, "headers": true}`: false, `{"decode": true, "data": true}`: false, `{"decode": true, "need": true}`: false,
		`{"encode": true, "headers": true}`: true, `{"encode": true, "need": true}`: true,
	} {
		r := manager(`{"name": "localReply", "config": `+config+`}`).Do(post, answer)
		if r.Status != 206 || (r.Upstream != nil) != upstream || len(r.Faults) != 0 || r.Fields.Values("local") == nil {
			t.Errorf("%s: %+v", config, r)
		}
	}
	if err := envoytest.Configure(t, envoytest.Filter{Name: "fm", Config: `{"plugins": 1}`}); err == nil {
		t.Error("nonsense is taken as a configuration")
	}
}
