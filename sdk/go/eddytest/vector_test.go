package eddytest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/internal/vector"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// abi/vectors/README.md describes the format.

type vectorFile struct {
	About string
	Cases []vectorCase
}

type vectorCase struct {
	Name  string
	Why   string
	Needs []string
	Steps []struct {
		Config json.RawMessage
		Rule   json.RawMessage
	}
	Calls []vectorCall
}

type vectorCall struct {
	Phase   string
	Request *struct {
		Method, Target, Authority, Scheme string
		Version                           uint8
		Fields                            []vectorField
	}
	Response *struct {
		Status uint16
		Fields []vectorField
	}
	Trailers                          []vectorField
	Body                              vector.Text
	End, Buffered, Local, TLS, Sample bool
	Metadata                          [][3]string
	About                             struct {
		Peer, Local, Listener, Rule, Cluster, Endpoint, Details string
		RequestID                                               string `json:"request_id"`
		Attempts                                                uint32
		RequestBytes                                            uint64 `json:"request_bytes"`
		ResponseBytes                                           uint64 `json:"response_bytes"`
	}
	Expect vectorExpect
}

type vectorExpect struct {
	Stopped  *int
	Verdicts []string
	Edits    []vectorEdit
	Refused  bool
	Resume   *struct {
		Verdict string
		Edits   []vectorEdit
	}
}

type vectorEdit struct {
	Step     uint16
	Op       string
	Name     vector.Text
	Value    vector.Text
	JSON     json.RawMessage `json:"json"`
	Contains string
	Space    string
	Key      string
	Number   uint32
}

// vectorField is [name, value] or [name, value, times], where # in the name is replaced with the number of the
// repetition.
type vectorField struct {
	name, value vector.Text
	times       int
}

func (f *vectorField) UnmarshalJSON(text []byte) error {
	f.times = 1
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	into := []any{&f.name, &f.value, &f.times}
	if len(parts) < 2 || len(parts) > 3 {
		return fmt.Errorf("a field has two or three parts, not %d", len(parts))
	}
	for i, part := range parts {
		if err := json.Unmarshal(part, into[i]); err != nil {
			return err
		}
	}
	return nil
}

func fieldsOfVector(list []vectorField) (fields []Field) {
	for _, f := range list {
		for i := range f.times {
			fields = append(fields, Field{strings.ReplaceAll(string(f.name), "#", strconv.Itoa(i)), string(f.value)})
		}
	}
	return fields
}

func TestVectors(t *testing.T) {
	folder := "../../../abi/vectors"
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Skip("SKIPPED: this module lies outside of eddy's tree, without abi/vectors")
	}
	count := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.DisallowUnknownFields()
		var file vectorFile
		if err := decoder.Decode(&file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, c := range file.Cases {
			count++
			t.Run(strings.TrimSuffix(filepath.Base(path), ".json")+"/"+c.Name, func(t *testing.T) { c.run(t) })
		}
	}
	if count < 60 {
		t.Errorf("there are only %d cases", count)
	}
}

func (c *vectorCase) run(t *testing.T) {
	var filters []Filter
	for _, s := range c.Steps {
		f := Filter{Name: "vector", Config: s.Config}
		if s.Rule != nil {
			f.Rule = s.Rule
		}
		filters = append(filters, f)
	}
	g := NewChain(t, filters...)
	r := g.Request("GET", "/")
	e := &exchange{gateway: g, request: r, id: g.host.next.Add(1), started: time.Now(), states: make([]uint64, len(g.chain))}
	for i := range c.Calls {
		call := &c.Calls[i]
		call.run(t, e, i)
	}
	// The end, which releases the states.
	var ended []raw.Ended
	for i, state := range e.states {
		if state != 0 {
			ended = append(ended, raw.Ended{Filter: g.chain[i].handle, State: state})
		}
	}
	m := &memory{}
	m.call = raw.Call{ABI: raw.ABI, Phase: raw.PhaseNone, Ended: unsafe.SliceData(ended), EndedLen: uint32(len(ended)), Current: &m.current}
	e.enter(m)
	g.host.close(e.id)
}

var phases = func() map[string]raw.Phase {
	named := map[string]raw.Phase{}
	for p := raw.PhaseRequestHead; p <= raw.PhaseLog; p++ {
		named[p.String()] = p
	}
	return named
}()

func (v *vectorCall) run(t *testing.T, e *exchange, index int) {
	phase, ok := phases[v.Phase]
	if !ok {
		t.Fatalf("call %d has no phase %q", index, v.Phase)
	}
	e.turn++
	e.forward = Message{Method: "GET", Target: "/", Authority: "example.com", Fields: []Field{{"Host", "example.com"}}}
	if q := v.Request; q != nil {
		e.forward = Message{Method: q.Method, Target: q.Target, Authority: q.Authority, Fields: fieldsOfVector(q.Fields)}
		e.request.version, e.request.tls = q.Version, v.TLS
	}
	e.response = nil
	if phase >= raw.PhaseResponseHead {
		e.response = &Message{Status: 200}
		if q := v.Response; q != nil {
			e.response = &Message{Status: int(q.Status), Fields: fieldsOfVector(q.Fields)}
		}
		e.response.Trailers = fieldsOfVector(v.Trailers)
	}
	e.forward.Trailers = fieldsOfVector(v.Trailers)
	e.metadata = nil
	for _, entry := range v.Metadata {
		e.metadata = append(e.metadata, Entry{entry[0], entry[1], entry[2]})
	}
	e.isLocal = v.Local
	flags := uint8(0)
	for bit, is := range map[uint8]bool{raw.CallEnd: v.End, raw.CallBuffered: v.Buffered, raw.CallSampled: v.Sample} {
		if is {
			flags |= bit
		}
	}
	m := &memory{steps: make([]raw.Step, len(e.gateway.chain))}
	for i, l := range e.gateway.chain {
		m.steps[i] = raw.Step{Filter: l.handle, Config: l.config, ID: l.id, State: e.states[i], Verdict: 99}
	}
	m.lay(e, phase, flags, string(v.Body))
	a := &v.About
	m.about = raw.About{
		Peer: raw.TextOf(a.Peer), Local: raw.TextOf(a.Local), Listener: raw.TextOf(a.Listener), Rule: raw.TextOf(a.Rule),
		Cluster: raw.TextOf(a.Cluster), Endpoint: raw.TextOf(a.Endpoint), RequestID: raw.TextOf(a.RequestID),
		Details: raw.TextOf(a.Details), Attempts: a.Attempts, RequestBytes: a.RequestBytes, ResponseBytes: a.ResponseBytes,
		Metadata: m.about.Metadata, MetadataLen: m.about.MetadataLen,
	}
	if v.Request != nil {
		m.call.Scheme = raw.TextOf(v.Request.Scheme)
	}
	resumed := e.gateway.host.announce(e.id, e.turn)
	e.enter(m)
	for i := range m.steps {
		e.states[i] = m.steps[i].State
	}
	stopped := len(m.steps)
	if v.Expect.Stopped != nil {
		stopped = *v.Expect.Stopped
	}
	if int(m.call.Stopped) != stopped || m.current != 0 {
		t.Errorf("call %d stopped at %d, not %d; current is %d", index, m.call.Stopped, stopped, m.current)
	}
	for i := range m.steps {
		want := "continue"
		if i < len(v.Expect.Verdicts) {
			want = v.Expect.Verdicts[i]
		}
		if got := m.steps[i].Verdict; i <= stopped && got.String() != want && phase != raw.PhaseLog {
			t.Errorf("call %d: step %d says %v, not %s", index, i, got, want)
		}
		if i > stopped && m.steps[i].Verdict != 99 {
			t.Errorf("call %d: step %d was entered", index, i)
		}
	}
	if err := m.call.Log().Check(); err != nil {
		t.Fatal("the edit log is malformed")
	}
	compareEdits(t, fmt.Sprintf("call %d", index), m.call.Log(), v.Expect.Edits)
	e.checkRefused(t, m, phase, v)
	if v.Expect.Resume == nil {
		e.gateway.host.withdraw(e.id, e.turn)
		return
	}
	select {
	case r := <-resumed:
		if r.verdict.String() != v.Expect.Resume.Verdict {
			t.Errorf("call %d is resumed with %v, not %s", index, r.verdict, v.Expect.Resume.Verdict)
		}
		compareEdits(t, fmt.Sprintf("resumption of call %d", index), r.edits, v.Expect.Resume.Edits)
	case <-time.After(10 * time.Second):
		t.Errorf("call %d is not resumed", index)
	}
}

// checkRefused checks whether the host refuses the edits.
func (e *exchange) checkRefused(t *testing.T, m *memory, phase raw.Phase, v *vectorCall) {
	if phase == raw.PhaseLog {
		return
	}
	body := string(v.Body)
	where := &body
	if phase != raw.PhaseRequestBody && phase != raw.PhaseResponseBody {
		where = nil
	}
	var refused error
	for r := range m.call.Log().All() {
		if err := e.apply(phase, r, where, &answer{}); err != nil {
			refused = err
		}
	}
	if (refused != nil) != v.Expect.Refused {
		t.Errorf("the host's check says %v, but refused is %v", refused, v.Expect.Refused)
	}
}

func compareEdits(t *testing.T, where string, log raw.EditLog, want []vectorEdit) {
	t.Helper()
	var got []raw.Record
	for r := range log.All() {
		got = append(got, r)
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("%s: edit %d is one too many: %.200q", where, i, fmt.Sprint(got[i]))
		case i >= len(got):
			t.Errorf("%s: edit %d is missing: %v", where, i, want[i])
		default:
			if err := want[i].compare(got[i]); err != nil {
				t.Errorf("%s: edit %d, %v %q: %v", where, i, got[i].Op, got[i].Name, err)
			}
		}
	}
}

func (w *vectorEdit) compare(got raw.Record) error {
	name := string(w.Name)
	if w.Op == "metadata" {
		name = w.Space + "\x00" + w.Key
	}
	switch {
	case got.Op.String() != w.Op || got.Step != w.Step || got.Number != w.Number:
		return fmt.Errorf("want %s by step %d with number %d; it is by %d with %d", w.Op, w.Step, w.Number, got.Step, got.Number)
	case !raw.EqualFold(got.Name, name):
		return fmt.Errorf("want the name %q", name)
	case w.Contains != "":
		if !strings.Contains(got.Value, w.Contains) {
			return fmt.Errorf("want %q in %q", w.Contains, got.Value)
		}
	case w.JSON != nil:
		var a, b any
		if err := json.Unmarshal(w.JSON, &a); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(got.Value), &b); err != nil {
			return err
		}
		if !reflect.DeepEqual(a, b) {
			return fmt.Errorf("want %s, it is %s", w.JSON, got.Value)
		}
	case got.Value != string(w.Value):
		return fmt.Errorf("want the value %.100q, it is %.100q", w.Value, got.Value)
	}
	return nil
}
