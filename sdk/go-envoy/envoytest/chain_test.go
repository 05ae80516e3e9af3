package envoytest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// abi/chains/README.md describes the format.

type chainCase struct {
	Name    string
	Filters []struct {
		Phases  []string
		Actions []string
	}
	Request, Response   chainMessage
	Calls               []chainCall
	Forwarded, Answered *chainWritten
}

type chainMessage struct {
	Pieces   []string
	Trailers bool
}

type chainCall struct {
	Filter        int
	Phase         string
	End, Buffered bool
	Body, Head    string
	// Open means that the head can still be changed.
	Open bool
}

type chainWritten struct{ Head, Body, Trailers string }

// chainCalls has the calls of the case that runs, and chainExpected the expected ones.
var chainCalls, chainExpected []chainCall

// chainFilter acts as a case says.
type chainFilter struct {
	index   int
	actions []string
	calls   int
}

type chainFactory struct{}

func (chainFactory) New(_ string, config []byte, _ uint32) (raw.Filter, raw.Info, error) {
	var c struct {
		Index   int
		Phases  []string
		Actions []string
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, raw.Info{}, err
	}
	info := raw.Info{}
	for _, name := range c.Phases {
		for phase, known := range chainPhases {
			if known == name {
				info.Interest |= raw.Phase(phase).Bit()
			}
		}
	}
	return &chainFilter{index: c.Index, actions: c.Actions}, info, nil
}

func (chainFactory) NewConfig(raw.Filter, []byte) (raw.Config, error) { return nil, nil }

func (f *chainFilter) Ended(uint64, raw.EndReason) {}

var chainPhases = []string{
	"request_head", "request_body", "request_trailers", "response_head", "response_body", "response_trailers",
}

func (f *chainFilter) Run(c *raw.Call, _ *raw.Step) raw.Verdict {
	phase := raw.Phase(c.Phase)
	part := int(phase) % 3
	section := raw.RequestFields
	if phase >= raw.PhaseResponseHead {
		section = raw.ResponseFields
	}
	call := chainCall{
		Filter: f.index, Phase: chainPhases[phase], End: c.Flags&raw.CallEnd != 0, Buffered: c.Flags&raw.CallBuffered != 0,
	}
	for value := range c.Values(section, "x-mark") {
		call.Head += strings.Clone(value)
	}
	if part == 1 {
		call.Body = string(c.AppendBody(nil))
	}
	if len(chainCalls) < len(chainExpected) {
		call.Open = chainExpected[len(chainCalls)].Open
	}
	chainCalls = append(chainCalls, call)
	edit, verdict, _ := strings.Cut(f.actions[min(f.calls, len(f.actions)-1)], " ")
	f.calls++
	letter := string(rune('a' + f.index))
	do := func(op raw.Op, name, value string, number uint32) {
		if err := c.Edit(op, name, value, number); err != nil {
			panic(err)
		}
	}
	switch {
	case edit == "head" && (part == 0 || part == 1 && call.Open):
		do(raw.OpAdd, "x-mark", letter, 0)
	case edit == "append" && part == 1:
		do(raw.OpBodyAppend, "", letter, 0)
	case edit == "replace" && part == 1:
		do(raw.OpBodySet, "", letter, 0)
	case edit == "drain" && part == 1:
		do(raw.OpBodyDrain, "", "", 2)
	case edit == "clear" && part == 1:
		do(raw.OpBodySet, "", "", 0)
	case edit == "trailer" && part == 2:
		do(raw.OpAdd, "x-step", letter, 0)
	}
	switch verdict {
	case "buffer":
		return raw.Buffer
	case "reply":
		do(raw.OpReply, "", "reply", 418)
		return raw.Reply
	}
	return raw.Continue
}

func init() { raw.Register("chain", chainFactory{}) }

// TestChains holds the chain of this package to that of the gateway.
func TestChains(t *testing.T) {
	text, err := os.ReadFile("../../../abi/chains/cases.json")
	if err != nil {
		t.Skip("SKIPPED: this module lies outside of eddy's tree, without abi/chains")
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	var file struct{ Cases []chainCase }
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 100 {
		t.Errorf("there are only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t) })
	}
}

func (c *chainCase) run(t *testing.T) {
	var filters []Filter
	for i, f := range c.Filters {
		config, err := json.Marshal(map[string]any{"index": i, "phases": f.Phases, "actions": f.Actions})
		if err != nil {
			t.Fatal(err)
		}
		filters = append(filters, Filter{Name: "chain", Config: string(config)})
	}
	chainCalls, chainExpected = nil, c.Calls
	request := Request{Method: "POST", Body: c.Request.Pieces}
	response := Response{Status: 200, Body: c.Response.Pieces}
	if c.Request.Trailers {
		request.Trailers = Fields{{"x-end", "1"}}
	}
	if c.Response.Trailers {
		response.Trailers = Fields{{"x-end", "1"}}
	}
	r := New(t, filters...).Do(request, response)
	if len(r.Faults) != 0 {
		t.Errorf("faults: %q", r.Faults)
	}
	for i := range max(len(chainCalls), len(c.Calls)) {
		if i >= len(chainCalls) || i >= len(c.Calls) || chainCalls[i] != c.Calls[i] {
			t.Fatalf("call %d:\n%+v\nexpected:\n%+v", i, chainCalls[min(i, len(chainCalls)):], c.Calls[min(i, len(c.Calls)):])
		}
	}
	if (r.Upstream == nil) != (c.Forwarded == nil) {
		t.Fatalf("forwarded: %+v, expected %+v", r.Upstream, c.Forwarded)
	}
	check := func(what string, fields Fields, body string, trailers Fields, want chainWritten) {
		t.Helper()
		got := chainWritten{strings.Join(fields.Values("x-mark"), ""), body, strings.Join(trailers.Values("x-step"), "")}
		if got != want {
			t.Errorf("%s: %+v, expected %+v", what, got, want)
		}
	}
	if r.Upstream != nil {
		check("forwarded", r.Upstream.Fields, r.Upstream.Text(), r.Upstream.Trailers, *c.Forwarded)
	}
	check("answered", r.Response.Fields, r.Response.Text(), r.Response.Trailers, *c.Answered)
}
