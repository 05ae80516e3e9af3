package main

import (
	"errors"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// random does in each hook one of all that a filter can do, and looks for what is another exchange's.
//
// Each exchange has a word, "(word" with 16 digits and ")", in the field x-word of its request; wherever another's is seen,
// eddy_filter_wrong grows and the log tells.
type random struct {
	name         string
	env          *eddy.Env
	steps, wrong *eddy.Counter
}

const (
	mark      = "(word"
	wordBytes = 22
)

// kept is what a filter keeps of an exchange. Both directions may be under way on goroutines.
type kept struct {
	mutex sync.Mutex
	word  string
	hooks int
}

func (f *random) Start(env *eddy.Env) (err error) {
	f.env = env
	if f.steps, err = env.Counter("steps"); err == nil {
		f.wrong, err = env.Counter("wrong")
	}
	return err
}

func (f *random) RequestHead(x *eddy.Exchange) eddy.Verdict      { return f.hook(x) }
func (f *random) RequestBody(x *eddy.Exchange) eddy.Verdict      { return f.hook(x) }
func (f *random) RequestTrailers(x *eddy.Exchange) eddy.Verdict  { return f.hook(x) }
func (f *random) ResponseHead(x *eddy.Exchange) eddy.Verdict     { return f.hook(x) }
func (f *random) ResponseBody(x *eddy.Exchange) eddy.Verdict     { return f.hook(x) }
func (f *random) ResponseTrailers(x *eddy.Exchange) eddy.Verdict { return f.hook(x) }

func (f *random) Log(x *eddy.Exchange) { f.look(x) }

func (f *random) End(e *eddy.Ending) {
	k := eddy.State[kept](e)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.hooks == 0 || !isWord(k.word) {
		f.wrong.Inc(nil)
		f.env.Logger().Error("an end of nobody's: " + k.word)
	}
}

// look looks for words of others in all that is shown, and gives the exchange's own and the number of the hook.
func (f *random) look(x *eddy.Exchange) (word string, hooks int) {
	f.steps.Inc(x)
	word, _ = x.Request().Lookup("x-word")
	word = strings.Clone(word)
	seen := stranger(x.Request().Target(), word)
	sections := []eddy.Fields{x.Request().Fields, x.Response().Fields}
	switch x.Phase() {
	case raw.PhaseRequestTrailers, raw.PhaseResponseTrailers:
		sections = append(sections, x.Trailers())
	case raw.PhaseRequestBody, raw.PhaseResponseBody:
		seen = seen || stranger(string(x.Body().Bytes()), word)
	}
	for _, fields := range sections {
		for _, value := range fields.All() {
			seen = seen || stranger(value, word)
		}
	}
	k := eddy.State[kept](x)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	seen = seen || k.word != "" && k.word != word
	k.word = word
	k.hooks++
	if seen || !isWord(word) {
		f.wrong.Inc(x)
		x.Logger().Error(word + " meets what is not its own in " + x.Phase().String())
	}
	return word, k.hooks
}

func (f *random) hook(x *eddy.Exchange) eddy.Verdict {
	word, hooks := f.look(x)
	hash := fnv.New64a()
	hash.Write([]byte(f.name + word + strconv.Itoa(hooks)))
	draw := hash.Sum64()
	draw ^= draw >> 32
	phase := x.Phase()
	isHead := phase == raw.PhaseRequestHead || phase == raw.PhaseResponseHead
	isBody := phase == raw.PhaseRequestBody || phase == raw.PhaseResponseBody
	switch part := draw % 97; {
	case part < 8:
		return eddy.Go(x, func(x *eddy.Exchange) eddy.Verdict {
			f.look(x)
			if isHead {
				addTo(x, word)
			}
			if draw%31 == 0 {
				return x.Reply(403, word, eddy.Named("x-reply", word))
			}
			return eddy.Continue
		})
	case part < 18:
		p := x.Pause()
		// Two who know nothing of each other: the first one counts.
		for i := range 1 + draw>>16%3/2 {
			go f.finish(p, word, draw>>8+i)
		}
		return eddy.Paused
	case part < 22 && (isHead || isBody && !x.Body().IsWhole()):
		return x.Buffer()
	case part < 24:
		return x.Reply(403, word, eddy.Named("x-reply", word))
	case part == 24:
		return x.Reset()
	case part == 25:
		return x.Fault(errors.New("drawn"))
	case part == 26:
		panic("drawn")
	case part < 56 && isHead:
		addTo(x, word)
	case part < 36 && isBody:
		x.Body().Append([]byte(word))
	case part < 46 && isBody:
		x.Body().Prepend([]byte(word))
	case part < 50 && isBody:
		x.Body().SetString(word)
	}
	return eddy.Continue
}

func addTo(x *eddy.Exchange, word string) {
	fields := x.Request().Fields
	if x.Phase() == raw.PhaseResponseHead {
		fields = x.Response().Fields
	}
	fields.AddByName("x-mark", word)
}

// finish ends a pause; its exchange may be over, or somebody else may have been first.
func (f *random) finish(p *eddy.Pause, word string, draw uint64) {
	switch draw % 41 {
	case 0, 1:
		_ = p.Reply(403, word, eddy.Named("x-reply", word))
	case 2:
		_ = p.Reset()
	case 3:
		_ = p.Fault(errors.New("drawn"))
	default:
		_ = p.Resume()
	}
	// Too late, with what is nobody's.
	if err := p.Reply(200, mark+"ffffffffffffffff)"); err == nil {
		f.wrong.Inc(nil)
		f.env.Logger().Error(word + " was answered twice")
	}
}

func isWord(text string) bool {
	return len(text) == wordBytes && strings.HasPrefix(text, mark) && strings.HasSuffix(text, ")")
}

// stranger tells whether another's word is in a text.
func stranger(text, own string) bool {
	for {
		_, rest, ok := strings.Cut(text, mark)
		if !ok {
			return false
		}
		at := len(text) - len(rest) - len(mark)
		if at+wordBytes > len(text) {
			return false
		}
		if word := text[at : at+wordBytes]; isWord(word) && word != own {
			return true
		}
		text = rest
	}
}
