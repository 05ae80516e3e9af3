package ring

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Redial connects to a path, and reconnects with the next call after a link has ended.
//
// Calls in progress when a link ends fail and are not repeated, because they may have been served.
type Redial struct {
	path    string
	options Options
	mutex   sync.Mutex
	link    *Link
	failed  error // reason for the last failure to connect
	since   time.Time
}

// NewRedial returns a Redial that connects with the first call.
func NewRedial(path string, options Options) *Redial { return &Redial{path: path, options: options} }

// Call calls the other process, as [Link.Call] does. After a failure to connect, it does not retry for 50 ms.
func (r *Redial) Call(ctx context.Context, method uint32, payload []byte) ([]byte, error) {
	link, err := r.Link(ctx)
	if err != nil {
		return nil, err
	}
	return link.Call(ctx, method, payload)
}

// Link returns the current link or a new one. Other goroutines wait for it at most Options.Handshake.
func (r *Redial) Link(ctx context.Context) (*Link, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.link != nil && r.link.Fault() == nil {
		return r.link, nil
	}
	if r.failed != nil && time.Since(r.since) < retryPause {
		return nil, r.failed
	}
	link, err := Dial(ctx, r.path, r.options)
	if err != nil {
		r.failed, r.since = fmt.Errorf("no link: %w", err), time.Now()
		return nil, r.failed
	}
	r.link, r.failed = link, nil
	return link, nil
}

// Close ends the current link, if any.
func (r *Redial) Close() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.link != nil {
		r.link.Close()
	}
}

const retryPause = 50 * time.Millisecond
