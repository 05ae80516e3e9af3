package raw

import (
	"sync"
	"sync/atomic"
)

// Answer is how an outbound request ended, in memory of Go.
type Answer struct {
	// Failure is empty where there is a response, else a word that tells why there is none.
	Failure string
	Status  int
	Fields  [][2]string
	Body    []byte
}

// outbound keeps who waits for which answer.
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

// Send sends a request to a cluster. The answer is told to `done` once, on a thread of the gateway: it must take note
// and return, not work or wait. It is not told after an error here, nor after a [Cancel] that succeeded.
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

// Cancel gives a request up. After nil its answer is never told.
func Cancel(token uint64) error {
	w, ok := forget(token)
	if !ok {
		return Unknown
	}
	if h := theHost(); h != nil {
		// Whatever the gateway says: nobody waits here any more.
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

// HandleEvent takes an event from the host. It is for the bridge and for hosts of tests.
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
