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

// Client sends requests to a cluster of the gateway: through its connections, with its balancing and its limits.
//
// It is for goroutines, such as those behind [Go], because Do waits. A hook that runs on a worker must not call it:
// all of the worker's exchanges would wait, for an answer that this very worker may have to bring.
type Client struct {
	filter  uint32
	cluster string
}

// Client gives a client for a cluster. A cluster that is not there shows when a request is sent.
func (e *Env) Client(cluster string) *Client { return &Client{filter: e.filter.id, cluster: cluster} }

// OutRequest is a request of a filter's own.
type OutRequest struct {
	// Method is GET where it is empty.
	Method string
	// Target is path and query; / where it is empty.
	Target string
	// Authority is the cluster's name where it is empty.
	Authority string
	Fields    []Field
	Body      []byte
	// Timeout is 5 s where it is 0; the context's deadline counts as well.
	Timeout time.Duration
}

// OutResponse is the answer to an [OutRequest], whole.
type OutResponse struct {
	Status int
	Fields []Field
	Body   []byte
}

// Get gives the value of the first field of a name in any case.
func (r *OutResponse) Get(name string) string {
	for _, f := range r.Fields {
		if raw.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// FailedError is a request that got no answer.
type FailedError struct {
	Cluster string
	// Reason is the gateway's word for it.
	Reason string
}

// Error tells of cluster and reason.
func (e *FailedError) Error() string {
	return fmt.Sprintf("no answer from cluster %q: %s", e.Cluster, e.Reason)
}

// Do sends a request and waits for its answer. When the context is done, the request is cancelled; under
// [Exchange.Context] the gateway cancels it as soon as the exchange is over.
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
	// The answer was faster than we were.
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

// RoundTripper gives the client as what net/http's Client takes: the URL's scheme is ignored, and its host is the
// authority that is sent, not where to.
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
