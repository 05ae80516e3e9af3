package eddy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Client sends requests to a cluster of the gateway, through its connections, with its load balancing and limits.
//
// Use it on goroutines, for example with [Go], because Do blocks. A hook that runs on a worker must not call it: all
// exchanges of the worker would wait, for a response that this worker may have to receive.
type Client struct {
	filter  uint32
	cluster string
}

// Client returns a client for a cluster. If the cluster does not exist, sending a request fails.
func (e *Env) Client(cluster string) *Client { return &Client{filter: e.filter.id, cluster: cluster} }

// OutRequest is a request that a filter sends.
type OutRequest struct {
	// Method is the method; default GET.
	Method string
	// Target is path and query; default /.
	Target string
	// Authority is the authority; default is the name of the cluster.
	Authority string
	Fields    []Field
	Body      []byte
	// Timeout is the time limit; default 5 s. The deadline of the context applies as well.
	Timeout time.Duration
}

// OutResponse is the complete response to an [OutRequest].
type OutResponse struct {
	Status int
	Fields []Field
	Body   []byte
}

// Get returns the value of the first field of a name, in any letter case.
func (r *OutResponse) Get(name string) string {
	for _, f := range r.Fields {
		if raw.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// FailedError is the error of a request without a response.
type FailedError struct {
	Cluster string
	// Reason is the gateway's word for the reason.
	Reason string
}

// Error returns cluster and reason.
func (e *FailedError) Error() string {
	return fmt.Sprintf("no answer from cluster %q: %s", e.Cluster, e.Reason)
}

// Do sends a request and waits for its response. When the context is done, the request is cancelled; with
// [Exchange.Context], the gateway cancels it when the exchange ends.
func (c *Client) Do(ctx context.Context, r *OutRequest) (*OutResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := &raw.Outbound{
		Filter: c.filter, Cluster: c.cluster, Method: r.Method, Target: r.Target, Authority: r.Authority, Body: r.Body,
		Timeout: r.Timeout,
	}
	out.Exchange, _ = ctx.Value(exchangeKey{}).(uint64)
	if out.Method == "" {
		out.Method = http.MethodGet
	}
	if out.Target == "" {
		out.Target = "/"
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		if out.Timeout == 0 {
			out.Timeout = 5 * time.Second
		}
		out.Timeout = max(min(out.Timeout, left), time.Millisecond)
	}
	for _, f := range r.Fields {
		out.Fields = append(out.Fields, [2]string{f.Name, f.Value})
	}
	answers := make(chan *raw.Answer, 1)
	token, err := raw.Send(out, func(a *raw.Answer) { answers <- a })
	if err != nil {
		return nil, fmt.Errorf("cluster %q: %w", c.cluster, err)
	}
	select {
	case a := <-answers:
		return c.response(a)
	case <-ctx.Done():
	}
	if raw.Cancel(token) == nil {
		return nil, ctx.Err()
	}
	// The response arrived before the cancellation.
	return c.response(<-answers)
}

func (c *Client) response(a *raw.Answer) (*OutResponse, error) {
	if a.Failure != "" {
		return nil, &FailedError{c.cluster, a.Failure}
	}
	r := &OutResponse{Status: a.Status, Body: a.Body, Fields: make([]Field, len(a.Fields))}
	for i, f := range a.Fields {
		r.Fields[i] = Field{f[0], f[1]}
	}
	return r, nil
}

// RoundTripper returns the client as a transport for net/http's Client. The scheme of the URL is ignored, and its host
// is the authority that is sent; it does not select the endpoint.
func (c *Client) RoundTripper() http.RoundTripper { return roundTripper{c} }

type roundTripper struct{ client *Client }

func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	out := &OutRequest{Method: r.Method, Target: r.URL.RequestURI(), Authority: r.Host}
	if out.Authority == "" {
		out.Authority = r.URL.Host
	}
	for name, values := range r.Header {
		for _, value := range values {
			out.Fields = append(out.Fields, Field{name, value})
		}
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		out.Body = body
	}
	answer, err := t.client.Do(r.Context(), out)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	for _, f := range answer.Fields {
		header.Add(f.Name, f.Value)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", answer.Status, http.StatusText(answer.Status)), StatusCode: answer.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: io.NopCloser(bytes.NewReader(answer.Body)),
		ContentLength: int64(len(answer.Body)), Request: r,
	}, nil
}
