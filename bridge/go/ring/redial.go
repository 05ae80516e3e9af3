package ring

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Redial connects to a path, and again with the next call after a link has ended.
//
// Calls that were under way when a link ended get its fault and are not made again: nobody knows whether they were served.
type Redial struct {
	path    string
	options Options
	mutex   sync.Mutex
	link    *Link
	failed  error // why there was no link the last time
	since   time.Time
}

// NewRedial connects with the first call.
func NewRedial(path string, options Options) *Redial { return &Redial{path: path, options: options} }

// Call calls the other process, as [Link.Call] does. When nobody can be reached it is tried again no sooner than after 50 ms.
func (r *Redial) Call(ctx context.Context, method uint32, payload []byte) ([]byte, error) {
	link, err := r.Link(ctx)
	if err != nil {
		return nil, err
	}
	return link.Call(ctx, method, payload)
}

// Link is the link that there is, or a new one. Others wait for it no longer than Options.Handshake.
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
		r.failed, r.since = fmt.Errorf("there is no link: %w", err), time.Now()
		return nil, r.failed
	}
	r.link, r.failed = link, nil
	return link, nil
}

// Close ends the link, if there is one.
func (r *Redial) Close() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.link != nil {
		r.link.Close()
	}
}

const retryPause = 50 * time.Millisecond
