package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	coraza "github.com/corazawaf/coraza/v3/http"
	"github.com/corazawaf/coraza/v3/types"
	"github.com/coreruleset/albedo/server"

	waf "github.com/eddy-gateway/eddy/examples/filters/go-coraza"
	"github.com/eddy-gateway/eddy/tests/waf/filter"
)

// detect has the settings that the cases of the Core Rule Set ask for: nothing is blocked, all rules run, and a header
// writes markers into the log.
func detect() waf.Config {
	c := config()
	c.Engine, c.ParanoiaLevel, c.Response = "detect", 4, "body"
	c.BeforeCRS = `
SecResponseBodyMimeType text/plain text/html text/xml
SecDefaultAction "phase:3,log,auditlog,pass"
SecDefaultAction "phase:4,log,auditlog,pass"
SecDefaultAction "phase:5,log,auditlog,pass"
SecAction "id:900005,phase:1,nolog,pass,ctl:ruleRemoveById=910000,setvar:tx.crs_validate_utf8_encoding=1,setvar:tx.arg_name_length=100,setvar:tx.arg_length=400,setvar:tx.total_arg_length=64000,setvar:tx.max_num_args=255,setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535"
SecRule REQUEST_HEADERS:X-CRS-Test "@rx ^.*$" "id:999999,phase:1,log,msg:'X-CRS-Test %{MATCHED_VAR}',pass,t:none"`
	return c
}

// block has the settings of a site that blocks at paranoia level 1.
func block() waf.Config { return config() }

func config() waf.Config {
	c := waf.Config{CRS: true}
	c.SetDefaults()
	return c
}

// listen returns a listener at a free port.
func listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// serve serves requests until the program ends.
func serve(l net.Listener, handler http.Handler) string {
	quiet := log.New(io.Discard, "", 0)
	go func() {
		s := &http.Server{Handler: handler, ErrorLog: quiet, ReadHeaderTimeout: time.Minute}
		fmt.Fprintln(os.Stderr, "a server ended:", s.Serve(l))
	}()
	return l.Addr().String()
}

// backend starts the server that the cases of the Core Rule Set expect.
func backend() (string, error) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	l, err := listen()
	if err != nil {
		return "", err
	}
	return serve(l, server.Handler()), nil
}

// native returns Coraza's own HTTP handler in front of a reverse proxy to the backend.
func native(c waf.Config, backend string, matched func(types.MatchedRule)) (http.Handler, error) {
	firewall, err := c.Compile(matched)
	if err != nil {
		return nil, err
	}
	to, err := url.Parse("http://" + backend)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	proxy := &httputil.ReverseProxy{
		Transport: transport, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		},
	}
	return coraza.WrapHandler(firewall, proxy), nil
}

// gateway is a running eddy.
type gateway struct {
	command *exec.Cmd
	output  *bytes.Buffer
	ended   chan error
	// addresses are those of its listeners.
	addresses []string
}

// site is a listener of the gateway, without a filter if there is no configuration.
type site struct {
	config   *waf.Config
	blocking bool
}

// start starts the gateway with a listener for each site and waits until it serves. The first start builds the filter.
// On a busy machine, compiling the rules can take longer than eddy waits for a filter, so there are three attempts.
func start(program, folder, backend, logFile string, workers int, sites ...site) (*gateway, error) {
	var err error
	for range 3 {
		var g *gateway
		if g, err = startOnce(program, folder, backend, logFile, workers, sites...); err == nil {
			return g, nil
		}
		if !strings.Contains(err.Error(), "took longer than") {
			break
		}
	}
	return nil, err
}

func startOnce(program, folder, backend, logFile string, workers int, sites ...site) (*gateway, error) {
	_, here, _, _ := runtime.Caller(0)
	filters := map[string]any{}
	listeners := []any{}
	g := &gateway{output: &bytes.Buffer{}, ended: make(chan error, 1)}
	for i, s := range sites {
		l, err := listen()
		if err != nil {
			return nil, err
		}
		address := l.Addr().String()
		if err := l.Close(); err != nil {
			return nil, err
		}
		g.addresses = append(g.addresses, address)
		listener := map[string]any{"address": address, "routes": "site"}
		if s.config != nil {
			name := fmt.Sprintf("waf%d", i)
			listener["filters"] = []string{name}
			filters[name] = map[string]any{
				"go":     map[string]any{"filter": "coraza", "package": filepath.Join(filepath.Dir(here), "filter")},
				"config": s.config, "blocking": s.blocking,
			}
		}
		listeners = append(listeners, listener)
	}
	text, err := json.Marshal(map[string]any{
		"workers": workers, "listeners": listeners, "filters": filters,
		"routes":   map[string]any{"site": []any{map[string]any{"match": map[string]any{"path": map[string]any{"prefix": "/"}}, "cluster": "backend"}}},
		"clusters": map[string]any{"backend": map[string]any{"endpoints": []string{backend}}},
	})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "eddy.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	g.command = exec.Command(program, "run", file)
	g.command.Env = append(os.Environ(), filter.LogVariable+"="+logFile)
	g.command.Stdout, g.command.Stderr = g.output, g.output
	if err := g.command.Start(); err != nil {
		return nil, err
	}
	go func() { g.ended <- g.command.Wait() }()
	return g, g.untilServing(10 * time.Minute)
}

func (g *gateway) untilServing(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		connection, err := net.DialTimeout("tcp", g.addresses[len(g.addresses)-1], time.Second)
		if err == nil {
			return connection.Close()
		}
		select {
		case err := <-g.ended:
			return fmt.Errorf("eddy ended: %v\n%s", err, g.output)
		case <-ctx.Done():
			g.stop()
			return fmt.Errorf("eddy serves nothing within %v\n%s", within, g.output)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (g *gateway) stop() {
	if err := g.command.Process.Signal(syscall.SIGTERM); err != nil {
		return
	}
	select {
	case <-g.ended:
	case <-time.After(20 * time.Second):
		_ = g.command.Process.Kill()
	}
}
