package eddytest

import (
	"fmt"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Request is a request that a client is about to send.
type Request struct {
	gateway   *Gateway
	message   Message
	peer      string
	rule      string
	cluster   string
	requestID string
	version   uint8
	tls       bool
	metadata  []Entry
}

// Entry is one of the exchange's metadata; its value is JSON.
type Entry struct {
	Space string
	Key   string
	Value string
}

// Get begins a GET request.
func (g *Gateway) Get(target string) *Request { return g.Request("GET", target) }

// Post begins a POST request.
func (g *Gateway) Post(target string, pieces ...string) *Request {
	return g.Request("POST", target).Body(pieces...)
}

// Request begins a request to example.com by HTTP/1.1.
func (g *Gateway) Request(method, target string) *Request {
	return &Request{
		gateway: g, peer: "192.0.2.1:4711", rule: "test", cluster: "endpoints", version: 11,
		message: Message{Method: method, Target: target, Authority: "example.com", Fields: []Field{{"Host", "example.com"}}},
	}
}

// Header adds a field.
func (r *Request) Header(name, value string) *Request {
	r.message.Fields = append(r.message.Fields, Field{name, value})
	return r
}

// NoFields takes all fields away, Host included.
func (r *Request) NoFields() *Request {
	r.message.Fields = nil
	return r
}

// Authority sets host or host:port, and the field Host with it.
func (r *Request) Authority(authority string) *Request {
	r.message.Authority = authority
	for i := range r.message.Fields {
		if r.message.Fields[i].Name == "Host" {
			r.message.Fields[i].Value = authority
		}
	}
	return r
}

// Body adds pieces of a body, in which it arrives.
func (r *Request) Body(pieces ...string) *Request {
	r.message.Pieces = append(r.message.Pieces, pieces...)
	return r
}

// Trailer adds a field behind the body.
func (r *Request) Trailer(name, value string) *Request {
	r.message.Trailers = append(r.message.Trailers, Field{name, value})
	return r
}

// Peer sets the client's address.
func (r *Request) Peer(address string) *Request {
	r.peer = address
	return r
}

// TLS makes the request come by TLS.
func (r *Request) TLS() *Request {
	r.tls = true
	return r
}

// Version sets the version of HTTP: 10, 11, 20 or 30.
func (r *Request) Version(version int) *Request {
	r.version = uint8(version)
	return r
}

// Metadata sets what an earlier filter has told; the value is JSON.
func (r *Request) Metadata(space, key, value string) *Request {
	r.metadata = append(r.metadata, Entry{space, key, value})
	return r
}

// Facts sets the names of rule and cluster, and the request's id.
func (r *Request) Facts(rule, cluster, requestID string) *Request {
	r.rule, r.cluster, r.requestID = rule, cluster, requestID
	return r
}

func (r *Request) scheme() string {
	if r.tls {
		return "https"
	}
	return "http"
}

// Result is what became of a request.
type Result struct {
	// Forwarded is the request as the endpoint got it; nil where it got none.
	Forwarded *Message
	// Message is the response as the client got it. Its Status is 0 where the exchange ended without one.
	Message
	// IsCut tells that the response ended before its end, or never began.
	IsCut bool
	// Details is the word for the access record.
	Details string
	// GRPCStatus is what a filter's reply said for gRPC.
	GRPCStatus uint32
	// Faults has what was said of each fault.
	Faults []string
	// Metadata is what the filters told.
	Metadata []Entry
	// Endpoint is the endpoint that a filter named.
	Endpoint string
	// RouteCleared tells that a filter wanted the rule looked up again.
	RouteCleared bool
	// ConnectionEnds tells that a filter set `Connection: close`: the client's connection ends behind the answer.
	ConnectionEnds bool
	// Crossings has the phase of each, in order.
	Crossings []raw.Phase
}

// String tells the outcome in a line.
func (r *Result) String() string {
	return fmt.Sprintf("status %d %v body %q, forwarded %+v, faults %q", r.Status, r.Fields, r.Body, r.Forwarded, r.Faults)
}
