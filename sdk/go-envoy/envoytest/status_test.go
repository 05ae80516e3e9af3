package envoytest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/envoytest"
)

// answers is a hook in each of the six phases that first returns a status, then Continue, and records its inputs.
func answers(phase string, status api.StatusType, finish func(s *script)) (*[]string, hooks) {
	var seen []string
	answer := func(s *script, at string, what string, end bool) api.StatusType {
		if end {
			what += "."
		}
		first := true
		for _, earlier := range seen {
			first = first && !strings.HasPrefix(earlier, at)
		}
		seen = append(seen, at+what)
		if at == phase && first {
			if finish != nil {
				finish(s)
			}
			return status
		}
		return api.Continue
	}
	return &seen, hooks{
		decodeHeaders: func(s *script, _ api.RequestHeaderMap, end bool) api.StatusType { return answer(s, "DH", "", end) },
		decodeData: func(s *script, b api.BufferInstance, end bool) api.StatusType {
			return answer(s, "DD", "("+b.String()+")", end)
		},
		decodeTrailers: func(s *script, _ api.RequestTrailerMap) api.StatusType { return answer(s, "DT", "", false) },
		encodeHeaders:  func(s *script, _ api.ResponseHeaderMap, end bool) api.StatusType { return answer(s, "EH", "", end) },
		encodeData: func(s *script, b api.BufferInstance, end bool) api.StatusType {
			return answer(s, "ED", "("+b.String()+")", end)
		},
		encodeTrailers: func(s *script, _ api.ResponseTrailerMap) api.StatusType { return answer(s, "ET", "", false) },
	}
}

func TestEachStatusInEachPhase(t *testing.T) {
	const back = " EH ED(hello ) ED(world)."
	const all = "DH DD(one ) DD(two ) DD(three)."
	whole := "one two three"
	tests := []struct {
		phase   string
		status  api.StatusType
		request envoytest.Request
		seen    string
		body    string // as received by the endpoint; "-" if none
		code    int
	}{
		{"DH", api.Continue, post, all + back, whole, 200},
		{"DH", api.HeaderContinue, post, all + back, whole, 200},
		{"DH", api.HeaderContinueAndDontEndStream, post, all + back, whole, 200},
		{"DH", api.StopAndBuffer, post, "DH DD(one two three)." + back, whole, 200},
		{"DH", api.StopAndBufferWatermark, post, "DH DD(one two three)." + back, whole, 200},
		{"DH", api.HeaderStopIteration, post, "DH DD(one two three)." + back, whole, 200},
		{"DH", api.HeaderStopAllIterationAndBuffer, post, "DH DD(one two three)." + back, whole, 200},
		{"DH", api.HeaderStopAllIterationAndWatermark, post, "DH DD(one two three)." + back, whole, 200},
		{"DH", api.StopAndBuffer, ended, "DH DD(one two) DT" + back, "one two", 200},
		{"DH", api.StopNoBuffer, post, "DH", "-", 500},
		{"DH", api.LocalReply, post, "DH", "-", 500},
		{"DH", api.StatusType(77), post, "DH", "-", 500},
		// At the end of a message there is nothing to wait for.
		{"DH", api.StopAndBuffer, get, "DH.", "-", 500},
		{"DH", api.StopAndBufferWatermark, get, "DH.", "-", 500},
		{"DH", api.Continue, get, "DH." + back, "", 200},

		{"DD", api.Continue, post, all + back, whole, 200},
		{"DD", api.DataContinue, post, all + back, whole, 200},
		{"DD", api.StopAndBuffer, post, "DH DD(one ) DD(one two three)." + back, whole, 200},
		{"DD", api.StopAndBufferWatermark, post, "DH DD(one ) DD(one two three)." + back, whole, 200},
		{"DD", api.DataStopIterationAndBuffer, post, "DH DD(one ) DD(one two three)." + back, whole, 200},
		{"DD", api.DataStopIterationAndWatermark, post, "DH DD(one ) DD(one two three)." + back, whole, 200},
		{"DD", api.StopNoBuffer, post, all + back, "two three", 200},
		{"DD", api.DataStopIterationNoBuffer, post, all + back, "two three", 200},
		{"DD", api.HeaderContinue, post, "DH DD(one )", "-", 500},
		{"DD", api.LocalReply, post, "DH DD(one )", "-", 500},
		{"DT", api.Continue, ended, "DH DD(one ) DD(two) DT" + back, "one two", 200},
		{"DT", api.TrailerContinue, ended, "DH DD(one ) DD(two) DT" + back, "one two", 200},
		{"DT", api.StopAndBuffer, ended, "DH DD(one ) DD(two) DT", "-", 500},

		{"EH", api.StopAndBuffer, get, "DH. EH ED(hello world).", "", 200},
		{"EH", api.StopAndBufferWatermark, get, "DH. EH ED(hello world).", "", 200},
		{"EH", api.StopNoBuffer, get, "DH. EH", "", 500},
		{"ED", api.StopAndBuffer, get, "DH. EH ED(hello ) ED(hello world).", "", 200},
		{"ED", api.StopNoBuffer, get, "DH. EH ED(hello ) ED(world).", "", 200},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s %d", test.phase, test.status), func(t *testing.T) {
			bothWays(t, func(t *testing.T, f envoytest.Filter) {
				seen, on := answers(test.phase, test.status, nil)
				blocked := f.Blocking && strings.HasSuffix(test.phase, "D") && strings.Count(test.seen, test.phase) == 2 && strings.Contains(test.seen, "(one two") || f.Blocking && test.phase == "ED" && test.status == api.StopAndBuffer
				r := playBy(t, on, test.request, okay, f)
				if blocked {
					// A filter on a goroutine can buffer a body only from its head on.
					if r.Status != 500 {
						t.Errorf("status %d, want the documented fault", r.Status)
					}
					return
				}
				if got := strings.Join(*seen, " "); got != test.seen {
					t.Errorf("saw %q, want %q", got, test.seen)
				}
				body := "-"
				if r.Upstream != nil {
					body = r.Upstream.Text()
				}
				if body != test.body {
					t.Errorf("the endpoint got %q, want %q", body, test.body)
				}
				if r.Status != test.code {
					t.Errorf("status %d, want %d; faults %q", r.Status, test.code, r.Faults)
				}
				if (test.code == 500) != (len(r.Faults) != 0) {
					t.Errorf("faults %q", r.Faults)
				}
			})
		})
	}
}

func TestRequestingMoreDataAtTheEndOfABodyContinues(t *testing.T) {
	r := play(t, hooks{decodeData: func(s *script, b api.BufferInstance, end bool) api.StatusType {
		if end {
			return api.StopAndBuffer
		}
		return api.Continue
	}}, post, okay)
	if r.Status != 200 || r.Upstream.Text() != "one two three" {
		t.Errorf("%+v", r)
	}
}

func TestRunningInEachPhase(t *testing.T) {
	for _, phase := range []string{"DH", "DD", "DT", "EH", "ED", "ET"} {
		for _, when := range []string{"after the hook", "before the hook returns", "in the hook"} {
			t.Run(phase+" "+when, func(t *testing.T) {
				bothWays(t, func(t *testing.T, f envoytest.Filter) {
					finish := func(s *script) {
						var callbacks api.FilterProcessCallbacks = s.callbacks.DecoderFilterCallbacks()
						if phase[0] == 'E' {
							callbacks = s.callbacks.EncoderFilterCallbacks()
						}
						switch when {
						case "in the hook":
							callbacks.Continue(api.Continue)
						case "before the hook returns":
							done := make(chan struct{})
							go func() { callbacks.Continue(api.Continue); close(done) }()
							<-done
						default:
							go callbacks.Continue(api.Continue)
						}
					}
					answer := okay
					answer.Trailers = envoytest.Fields{{"X-End", "1"}}
					seen, on := answers(phase, api.Running, finish)
					r := playBy(t, on, ended, answer, f)
					want := "DH DD(one ) DD(two) DT EH ED(hello ) ED(world) ET"
					if got := strings.Join(*seen, " "); got != want {
						t.Errorf("saw %q, want %q", got, want)
					}
					if r.Status != 200 || r.Text() != "hello world" || r.Upstream.Text() != "one two" {
						t.Errorf("%+v", r)
					}
				})
			})
		}
	}
}

func TestALocalReplyFromEachPhase(t *testing.T) {
	for _, phase := range []string{"DH", "DD", "DT", "EH", "ED"} {
		for _, async := range []bool{false, true} {
			t.Run(fmt.Sprint(phase, " async ", async), func(t *testing.T) {
				bothWays(t, func(t *testing.T, f envoytest.Filter) {
					status := api.LocalReply
					reply := func(s *script) {
						var callbacks api.FilterProcessCallbacks = s.callbacks.DecoderFilterCallbacks()
						if phase[0] == 'E' {
							callbacks = s.callbacks.EncoderFilterCallbacks()
						}
						callbacks.SendLocalReply(403, "no", map[string][]string{"X-Why": {"a", "b"}, "Content-Length": {"2"}}, -1, "denied")
					}
					finish := reply
					if async {
						status = api.Running
						finish = func(s *script) { go reply(s) }
					}
					_, on := answers(phase, status, finish)
					r := playBy(t, on, ended, okay, f)
					if phase == "ED" {
						// The client has the head already: the response is cut off.
						if r.Status != 0 || r.Text() != "" || r.Details != "denied" || len(r.Faults) != 0 {
							t.Errorf("%+v", r)
						}
						return
					}
					if r.Status != 403 || r.Text() != "no" || r.Details != "denied" || len(r.Faults) != 0 {
						t.Errorf("%+v", r)
					}
					if got := fmt.Sprint(r.Fields); got != "[[X-Why a] [X-Why b] [content-type text/plain]]" {
						t.Errorf("fields %s", got)
					}
					if (r.Upstream == nil) != (phase[0] == 'D') {
						t.Errorf("upstream %+v", r.Upstream)
					}
				})
			})
		}
	}
}
