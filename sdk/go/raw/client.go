package raw

import (
	"sync"
	"sync/atomic"
)

// Answer is the result of an outbound request, in memory of Go.
type Answer struct {
	// Failure is empty if there is a response, otherwise a word for the reason.
	Failure string
	Status  int
	Fields  [][2]string
	Body    []byte
}

// outbound has the callbacks of outbound requests.
var outbound = struct {
	tokens atomic.Uint64
	shards [16]struct {
		sync.Mutex
		waiting map[uint64]waiter
	}
}{}

type waiter struct {
	filter uint32
	done   func(*Answer)
}

// Send sends a request to a cluster. `done` is called once with the answer, on a thread of the gateway: it must record
// the answer and return, without working or waiting. It is not called after an error here, or after a successful
// [Cancel].
func Send(out *Outbound, done func(*Answer)) (token uint64, err error) {
	h := theHost()
	if h == nil {
		return 0, Gone
	}
	token = outbound.tokens.Add(1)
	shard := &outbound.shards[token%uint64(len(outbound.shards))]
	shard.Lock()
	if shard.waiting == nil {
		shard.waiting = map[uint64]waiter{}
	}
	shard.waiting[token] = waiter{out.Filter, done}
	shard.Unlock()
	if result := h.Send(token, out); result != OK {
		forget(token)
		return 0, result
	}
	return token, nil
}

// Cancel cancels a request. If it returns nil, the callback is never called.
func Cancel(token uint64) error {
	w, ok := forget(token)
	if !ok {
		return Unknown
	}
	if h := theHost(); h != nil {
		// Regardless of the gateway: the callback is removed.
		h.Cancel(w.filter, token)
	}
	return nil
}

func forget(token uint64) (waiter, bool) {
	shard := &outbound.shards[token%uint64(len(outbound.shards))]
	shard.Lock()
	defer shard.Unlock()
	w, ok := shard.waiting[token]
	delete(shard.waiting, token)
	return w, ok
}

// HandleEvent handles an event of the host. For the bridge and for test hosts.
func HandleEvent(e *Event) {
	w, ok := forget(e.Token)
	if !ok {
		return
	}
	finished := false
	defer func() {
		if r := recover(); r != nil {
			WriteLog(w.filter, LevelError, "a callback for an answer panicked: "+PanicText(r))
		} else if !finished {
			WriteLog(w.filter, LevelError, "a callback for an answer called runtime.Goexit, which ends the process: "+stack())
		}
	}()
	answer := &Answer{Status: int(e.Status)}
	switch e.Kind {
	case EventResponse:
		bytes := string(unsafeBytes(e.Head.Bytes, e.Head.BytesLen))
		copied := Head{Bytes: TextOf(bytes).Data, BytesLen: e.Head.BytesLen}
		list := e.Head.List()
		answer.Fields = make([][2]string, len(list))
		for i := range list {
			answer.Fields[i] = [2]string{copied.text(list[i].Name), copied.text(list[i].Value)}
		}
		answer.Body = append([]byte(nil), e.Body.Bytes()...)
	case EventFailed:
		answer.Failure = string(e.Body.Bytes())
		if answer.Failure == "" {
			answer.Failure = "failed"
		}
	default:
		answer.Failure = "unknown event"
	}
	w.done(answer)
	finished = true
}
