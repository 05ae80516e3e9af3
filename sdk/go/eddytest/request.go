package eddytest

import (
	"fmt"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Request is a request before a client sends it.
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

// Entry is a metadata entry of the exchange; its value is JSON.
type Entry struct {
	Space string
	Key   string
	Value string
}

// Get starts a GET request.
func (g *Gateway) Get(target string) *Request { return g.Request("GET", target) }

// Post starts a POST request.
func (g *Gateway) Post(target string, pieces ...string) *Request {
	return g.Request("POST", target).Body(pieces...)
}

// Request starts an HTTP/1.1 request to example.com.
func (g *Gateway) Request(method, target string) *Request {
	return &Request{
		gateway: g, peer: "192.0.2.1:4711", rule: "test", cluster: "endpoints", version: 11,
		message: Message{Method: method, Target: target, Authority: "example.com", Fields: []Field{{"Host", "example.com"}}},
	}
}

// Header adds a header.
func (r *Request) Header(name, value string) *Request {
	r.message.Fields = append(r.message.Fields, Field{name, value})
	return r
}

// NoFields removes all headers, including Host.
func (r *Request) NoFields() *Request {
	r.message.Fields = nil
	return r
}

// Authority sets host or host:port, and the Host header.
func (r *Request) Authority(authority string) *Request {
	r.message.Authority = authority
	for i := range r.message.Fields {
		if r.message.Fields[i].Name == "Host" {
			r.message.Fields[i].Value = authority
		}
	}
	return r
}

// Body adds pieces of the body, in which it arrives.
func (r *Request) Body(pieces ...string) *Request {
	r.message.Pieces = append(r.message.Pieces, pieces...)
	return r
}

// Trailer adds a trailer field.
func (r *Request) Trailer(name, value string) *Request {
	r.message.Trailers = append(r.message.Trailers, Field{name, value})
	return r
}

// Peer sets the client address.
func (r *Request) Peer(address string) *Request {
	r.peer = address
	return r
}

// TLS sends the request over TLS.
func (r *Request) TLS() *Request {
	r.tls = true
	return r
}

// Version sets the HTTP version: 10, 11, 20 or 30.
func (r *Request) Version(version int) *Request {
	r.version = uint8(version)
	return r
}

// Metadata sets a metadata entry of an earlier filter; the value is JSON.
func (r *Request) Metadata(space, key, value string) *Request {
	r.metadata = append(r.metadata, Entry{space, key, value})
	return r
}

// Facts sets the names of rule and cluster, and the request ID.
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

// Result is the result of a request.
type Result struct {
	// Forwarded is the request as received by the endpoint; nil if it was not forwarded.
	Forwarded *Message
	// Message is the response as received by the client. Its Status is 0 if the exchange ended without a response.
	Message
	// IsCut means that the response was truncated, or never started.
	IsCut bool
	// Details is the detail word of the access log.
	Details string
	// GRPCStatus is the gRPC status of a filter's reply.
	GRPCStatus uint32
	// Faults has the message of each fault.
	Faults []string
	// Metadata is the metadata set by filters.
	Metadata []Entry
	// Endpoint is the endpoint chosen by a filter.
	Endpoint string
	// RouteCleared means that a filter requested a new selection of the rule.
	RouteCleared bool
	// ConnectionEnds means that a filter set `Connection: close`: the client connection ends after the response.
	ConnectionEnds bool
	// Crossings has the phase of each crossing, in order.
	Crossings []raw.Phase
}

// String returns the outcome in one line.
func (r *Result) String() string {
	return fmt.Sprintf("status %d %v body %q, forwarded %+v, faults %q", r.Status, r.Fields, r.Body, r.Forwarded, r.Faults)
}
