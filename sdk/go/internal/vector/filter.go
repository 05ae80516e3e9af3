package vector

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Config has the operations of each phase.
type Config struct {
	RequestHead      []Operation `json:"request_head"`
	RequestBody      []Operation `json:"request_body"`
	RequestTrailers  []Operation `json:"request_trailers"`
	ResponseHead     []Operation `json:"response_head"`
	ResponseBody     []Operation `json:"response_body"`
	ResponseTrailers []Operation `json:"response_trailers"`
	Log              []Operation `json:"log"`
}

// Operation is one operation, see abi/vectors/README.md.
type Operation struct {
	Do      string      `json:"do"`
	What    string      `json:"what"`
	As      string      `json:"as"`
	Name    Text        `json:"name"`
	Value   Text        `json:"value"`
	Number  uint32      `json:"number"`
	Space   string      `json:"space"`
	Key     string      `json:"key"`
	Details string      `json:"details"`
	Fields  [][2]Text   `json:"fields"`
	GRPC    uint32      `json:"grpc"`
	Then    []Operation `json:"then"`
}

type filter struct{ config Config }

func init() {
	eddy.Register("vector", func(c Config) (eddy.Filter, error) { return &filter{c}, nil })
}

// The hooks execute the operations of their phase.

func (f *filter) RequestHead(x *eddy.Exchange) eddy.Verdict { return do(x, f.config.RequestHead) }
func (f *filter) RequestBody(x *eddy.Exchange) eddy.Verdict { return do(x, f.config.RequestBody) }
func (f *filter) RequestTrailers(x *eddy.Exchange) eddy.Verdict {
	return do(x, f.config.RequestTrailers)
}
func (f *filter) ResponseHead(x *eddy.Exchange) eddy.Verdict { return do(x, f.config.ResponseHead) }
func (f *filter) ResponseBody(x *eddy.Exchange) eddy.Verdict { return do(x, f.config.ResponseBody) }
func (f *filter) ResponseTrailers(x *eddy.Exchange) eddy.Verdict {
	return do(x, f.config.ResponseTrailers)
}
func (f *filter) Log(x *eddy.Exchange) { do(x, f.config.Log) }

// do executes the operations up to the first one with a verdict.
func do(x *eddy.Exchange, operations []Operation) eddy.Verdict {
	for i := range operations {
		o := &operations[i]
		switch o.Do {
		case "reply":
			answer := eddy.Answer{Status: int(o.Number), Body: []byte(o.Value), Details: o.Details, GRPCStatus: o.GRPC}
			for _, f := range o.Fields {
				answer.Fields = append(answer.Fields, eddy.Named(string(f[0]), string(f[1])))
			}
			return x.ReplyWith(answer)
		case "buffer":
			return x.Buffer()
		case "reset":
			return x.Reset()
		case "fault":
			return x.Fault(errors.New(string(o.Value)))
		case "panic":
			panic(string(o.Value))
		case "pause":
			return eddy.Go(x, func(x *eddy.Exchange) eddy.Verdict { return do(x, o.Then) })
		default:
			if err := change(x, o); err != nil {
				return x.Fault(err)
			}
		}
	}
	return eddy.Continue
}

// fields returns the section of the phase.
func fields(x *eddy.Exchange) eddy.Fields {
	switch x.Phase() {
	case raw.PhaseRequestHead, raw.PhaseRequestBody:
		return x.Request().Fields
	case raw.PhaseRequestTrailers, raw.PhaseResponseTrailers:
		return x.Trailers()
	default:
		return x.Response().Fields
	}
}

func change(x *eddy.Exchange, o *Operation) error {
	name, value := string(o.Name), string(o.Value)
	switch o.Do {
	case "set":
		fields(x).SetByName(name, value)
	case "add":
		fields(x).AddByName(name, value)
	case "remove":
		fields(x).RemoveByName(name)
	case "method":
		x.Request().SetMethod(value)
	case "target":
		x.Request().SetTarget(value)
	case "authority":
		x.Request().SetAuthority(value)
	case "status":
		x.Response().SetStatus(int(o.Number))
	case "body_set":
		x.Body().Set([]byte(value))
	case "body_append":
		x.Body().Append([]byte(value))
	case "body_prepend":
		x.Body().Prepend([]byte(value))
	case "body_drain":
		x.Body().Drain(int(o.Number))
	case "metadata":
		x.SetMetadata(o.Space, o.Key, value)
	case "clear_route":
		x.ClearRoute()
	case "endpoint":
		if o.Number == 1 {
			x.RequireEndpoint(value)
		} else {
			x.PreferEndpoint(value)
		}
	case "see":
		found, err := see(x, o)
		if err != nil {
			return err
		}
		x.SetMetadataOf("vector", o.As, found)
	default:
		return fmt.Errorf("there is no operation %q", o.Do)
	}
	return nil
}

type counted struct{ calls int }

// see returns the value that an operation requests, for JSON.
func see(x *eddy.Exchange, o *Operation) (any, error) {
	name := string(o.Name)
	switch o.What {
	case "field":
		return first(fields(x), name), nil
	case "request_field":
		return first(x.Request().Fields, name), nil
	case "response_field":
		return first(x.Response().Fields, name), nil
	case "values":
		values := []any{}
		for value := range fields(x).ValuesByName(name) {
			values = append(values, Seen(value))
		}
		return values, nil
	case "count":
		n := 0
		for range fields(x).All() {
			n++
		}
		return n, nil
	case "fields":
		list := [][2]string{}
		for name, value := range fields(x).All() {
			list = append(list, [2]string{strings.ToLower(name), strings.Clone(value)})
		}
		sort.SliceStable(list, func(i, j int) bool {
			return list[i][0] < list[j][0] || list[i][0] == list[j][0] && list[i][1] < list[j][1]
		})
		return list, nil
	case "metadata":
		if value, ok := x.Metadata(o.Space, o.Key); ok {
			return rawJSON(value), nil
		}
		return nil, nil
	case "calls":
		state := eddy.State[counted](x)
		state.calls++
		return state.calls, nil
	}
	return fact(x, o.What)
}

type rawJSON string

// MarshalJSON returns the text unchanged.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func first(f eddy.Fields, name string) any {
	if value, ok := f.Lookup(name); ok {
		return Seen(value)
	}
	return nil
}

func fact(x *eddy.Exchange, what string) (any, error) {
	texts := map[string]func() string{
		"method": x.Request().Method, "target": x.Request().Target, "path": x.Request().Path, "query": x.Request().Query,
		"authority": x.Request().Authority, "scheme": x.Request().Scheme, "peer": x.Peer, "local": x.Local,
		"listener": x.Listener, "rule": x.Rule, "cluster": x.Cluster, "endpoint": x.Endpoint, "request_id": x.RequestID,
		"details": x.Details, "body": func() string { return string(x.Body().Bytes()) },
	}
	if text, ok := texts[what]; ok {
		return Seen(text()), nil
	}
	switch what {
	case "version":
		return x.Request().Version(), nil
	case "status":
		return x.Response().Status(), nil
	case "attempts":
		return x.Attempts(), nil
	case "request_bytes":
		return x.RequestBytes(), nil
	case "response_bytes":
		return x.ResponseBytes(), nil
	case "last":
		return x.IsLast(), nil
	case "local_reply":
		return x.IsLocal(), nil
	case "tls":
		return x.IsTLS(), nil
	case "whole":
		return x.Body().IsWhole(), nil
	default:
		return nil, fmt.Errorf("there is nothing called %q to see", what)
	}
}
