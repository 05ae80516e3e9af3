package envoytest

import "github.com/eddy-gateway/eddy/sdk/go/raw"

// Crossing returns a function that passes the heads of one exchange through the chain and ends it: it measures the SDK
// and the filters, not this package. The filters must return Continue, and there are no bodies.
func (g *Gateway) Crossing(request Request, answer Response) func() {
	x := &exchange{gateway: g, request: request, response: answer, states: make([]uint64, len(g.steps)), result: &Result{}}
	all := make([]int, len(g.steps))
	back := make([]int, len(g.steps))
	for i := range all {
		all[i], back[len(all)-1-i] = i, i
	}
	there, forward := x.call(raw.PhaseRequestHead, all, "", raw.CallEnd)
	answered, backward := x.call(raw.PhaseResponseHead, back, "", 0)
	ended := make([]raw.Ended, len(g.steps))
	end := &raw.Call{Phase: raw.PhaseNone, Ended: &ended[0], EndedLen: uint32(len(ended)), Current: new(uint32)}
	for i, s := range g.steps {
		ended[i].Filter = s.filter
	}
	return func() {
		there.EditsLen, answered.EditsLen = 0, 0
		for i := range forward {
			forward[i].State = 0
		}
		raw.Run(there)
		for i := range forward {
			backward[len(forward)-1-i].State = forward[i].State
			ended[i].State = forward[i].State
		}
		raw.Run(answered)
		raw.Run(end)
	}
}
