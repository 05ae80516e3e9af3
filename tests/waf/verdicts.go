package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/corazawaf/coraza-coreruleset/v4/tests"
	"github.com/corazawaf/coraza/v3/types"
	ftw "github.com/coreruleset/go-ftw/v2/config"
	"github.com/coreruleset/go-ftw/v2/ftwhttp"
	"github.com/coreruleset/go-ftw/v2/output"
	"github.com/coreruleset/go-ftw/v2/runner"
	"github.com/coreruleset/go-ftw/v2/test"
	"github.com/coreruleset/go-ftw/v2/waflog"

	"github.com/eddy-gateway/eddy/tests/waf/filter"
)

// verdict is the result of a case for one of the two servers.
type verdict struct {
	// FTW is the result of go-ftw: "pass", "fail" or an error.
	FTW string `json:"ftw"`
	// Rules are the numbers of the rules that matched, without repetitions, in order, by stage.
	Rules [][]uint `json:"rules"`
	// Statuses are the statuses of the stages with a firewall that blocks; 0 for none.
	Statuses []int `json:"statuses"`
}

// difference is a case with different verdicts.
type difference struct {
	ID     string  `json:"id"`
	Native verdict `json:"native"`
	Eddy   verdict `json:"eddy"`
}

// cases returns the cases of the Core Rule Set whose name matches.
func cases(name *regexp.Regexp) (found []*test.FTWTest, err error) {
	return found, fs.WalkDir(tests.FS, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(tests.FS, file)
		if err != nil {
			return err
		}
		all, err := test.GetTestFromYaml(text, path.Base(file))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, one := range all.Tests {
			if name.MatchString(one.IdString()) {
				single := *all
				single.Tests = slices.Clone(all.Tests[:0:0])
				single.Tests = append(single.Tests, one)
				found = append(found, &single)
			}
		}
		return nil
	})
}

// side runs cases against one of the two.
type side struct {
	run     *runner.TestRunContext
	client  *ftwhttp.Client
	blocker string
}

func newSide(logFile, detector, blocker string) (*side, error) {
	c := ftw.NewDefaultConfig()
	c.LogFile = logFile
	if err := direct(c, detector); err != nil {
		return nil, err
	}
	r := ftw.NewRunnerConfiguration(c)
	r.ReadTimeout = 5 * time.Second
	lines, err := waflog.NewFTWLogLines(r)
	if err != nil {
		return nil, err
	}
	s := &side{blocker: blocker, run: &runner.TestRunContext{
		RunnerConfig: r, Output: output.NewOutput("quiet", io.Discard), LogLines: lines,
	}}
	if s.run.Client, err = ftwhttp.NewClient(r); err != nil {
		return nil, err
	}
	s.client, err = ftwhttp.NewClient(r)
	return s, err
}

// direct sends all requests to an address.
func direct(c *ftw.FTWConfiguration, address string) error {
	host, text, _ := strings.Cut(address, ":")
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	c.TestOverride.Overrides.DestAddr, c.TestOverride.Overrides.Port = &host, &port
	return nil
}

func (s *side) verdict(one *test.FTWTest) (v verdict) {
	s.run.Stats = runner.NewRunStats()
	err := runner.RunTest(s.run, one)
	switch {
	case err != nil:
		v.FTW = "error: " + err.Error()
		if i := strings.LastIndex(v.FTW, "127.0.0.1:"); i >= 0 {
			v.FTW = "error: the connection ended"
		}
	case s.run.Stats.TotalFailed() > 0:
		v.FTW = "fail"
	default:
		v.FTW = "pass"
	}
	for _, stages := range s.run.Stats.TriggeredRules {
		for _, rules := range stages {
			rules = slices.DeleteFunc(rules, func(rule uint) bool { return rule == 999999 })
			slices.Sort(rules)
			v.Rules = append(v.Rules, slices.Compact(rules))
		}
	}
	for _, stage := range one.Tests[0].Stages {
		v.Statuses = append(v.Statuses, s.status(test.NewInput(&stage.Input)))
	}
	return v
}

// status sends the request of a stage to the firewall that blocks, and returns the status; 0 without a response.
func (s *side) status(input *test.Input) int {
	host, text, _ := strings.Cut(s.blocker, ":")
	port, _ := strconv.Atoi(text)
	if err := s.client.NewConnection(ftwhttp.Destination{DestAddr: host, Port: port, Protocol: "http"}); err != nil {
		return 0
	}
	request, err := requestOf(input)
	if err != nil {
		return 0
	}
	s.client.StartTrackingTime()
	response, err := s.client.Do(*request)
	if err != nil || response == nil {
		return 0
	}
	return response.Parsed.StatusCode
}

func requestOf(input *test.Input) (*ftwhttp.Request, error) {
	if input.EncodedRequest != "" {
		data, err := base64.StdEncoding.DecodeString(input.EncodedRequest)
		return ftwhttp.NewRawRequest(data), err
	}
	line := &ftwhttp.RequestLine{Method: input.GetMethod(), URI: input.GetURI(), Version: input.GetVersion()}
	complete := input.AutocompleteHeaders == nil || *input.AutocompleteHeaders
	return ftwhttp.NewRequest(line, input.GetHeaders(), input.GetData(), complete), nil
}

func (v verdict) String() string {
	return fmt.Sprintf("%s, rules %v, blocking %v", v.FTW, v.Rules, v.Statuses)
}

// report is the result of a run.
type report struct {
	Commit string `json:"commit"`
	// Cases is the number of cases that ran, of Total in the rule set.
	Cases int `json:"cases"`
	Total int `json:"total"`
	// Native and Eddy count the results of go-ftw.
	Native      map[string]int `json:"native"`
	Eddy        map[string]int `json:"eddy"`
	Seconds     int            `json:"seconds"`
	Differences []difference   `json:"differences"`
}

// compare runs the cases against both: each one, or each nth in the order of their names, until the time is up.
func compare(program, name, folder string, nth int, within time.Duration) (*report, error) {
	pattern, err := regexp.Compile(name)
	if err != nil {
		return nil, err
	}
	all, err := cases(pattern)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("no case has a name that matches " + name)
	}
	to, err := backend()
	if err != nil {
		return nil, err
	}
	ours, err := nativeSide(filepath.Join(folder, "native.log"), to)
	if err != nil {
		return nil, err
	}
	logFile := filepath.Join(folder, "eddy.log")
	detecting, blocking := detect(), block()
	g, err := start(program, folder, to, logFile, 1, site{config: &detecting}, site{config: &blocking})
	if err != nil {
		return nil, err
	}
	defer g.stop()
	theirs, err := newSide(logFile, g.addresses[0], g.addresses[1])
	if err != nil {
		return nil, err
	}
	r := &report{Commit: commit(), Total: len(all), Native: map[string]int{}, Eddy: map[string]int{}}
	began := time.Now()
	for i, one := range all {
		if i%nth != 0 {
			continue
		}
		if time.Since(began) > within {
			break
		}
		r.Cases++
		if r.Cases%100 == 0 {
			fmt.Fprintf(os.Stderr, "%d cases of %d, %d differences\n", r.Cases, len(all), len(r.Differences))
		}
		a, b := ours.verdict(one), theirs.verdict(one)
		r.Native[word(a)]++
		r.Eddy[word(b)]++
		if a.String() != b.String() {
			d := difference{one.Tests[0].IdString(), a, b}
			r.Differences = append(r.Differences, d)
			fmt.Fprintf(os.Stderr, "%s: %s\n  native: %s\n  eddy:   %s\n", d.ID, d.reason(), a, b)
		}
	}
	r.Seconds = int(time.Since(began).Seconds())
	return r, nil
}

// commit returns the commit of the tree, with a plus sign if files differ from it.
func commit() string {
	run := func(arguments ...string) string {
		out, err := exec.Command("git", arguments...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	id := run("rev-parse", "--short=8", "HEAD")
	if run("status", "--porcelain", "--untracked-files=no") != "" {
		id += "+"
	}
	return id
}

func word(v verdict) string {
	kind, _, _ := strings.Cut(v.FTW, ":")
	return kind
}

func nativeSide(logFile, to string) (*side, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	detector, err := native(detect(), to, func(rule types.MatchedRule) { filter.WriteTo(log, rule) })
	if err != nil {
		return nil, err
	}
	blocker, err := native(block(), to, func(types.MatchedRule) {})
	if err != nil {
		return nil, err
	}
	var addresses [2]string
	for i, handler := range []http.Handler{detector, blocker} {
		l, err := listen()
		if err != nil {
			return nil, err
		}
		addresses[i] = serve(l, handler)
	}
	return newSide(logFile, addresses[0], addresses[1])
}
