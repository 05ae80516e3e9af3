package eddy

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// logHandler writes records to the gateway's log, as the message followed by key=value pairs.
type logHandler struct {
	filter uint32
	// prefix has the groups of WithGroup, each followed by a dot; fixed has the formatted attributes of WithAttrs.
	prefix string
	fixed  string
}

var logBuffers = sync.Pool{New: func() any { return new([]byte) }}

// LogHandler returns a handler for log/slog that writes to the gateway's log for the library as a whole. For a filter,
// use [Exchange.Logger] and [Env.Logger].
func LogHandler() slog.Handler { return &logHandler{} }

func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return raw.LogEnabled(levelOf(level))
}

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	buffer := logBuffers.Get().(*[]byte)
	defer logBuffers.Put(buffer)
	text := append((*buffer)[:0], r.Message...)
	text = append(text, h.fixed...)
	r.Attrs(func(a slog.Attr) bool {
		text = appendAttr(text, h.prefix, a)
		return true
	})
	*buffer = text
	return raw.WriteLog(h.filter, levelOf(r.Level), viewOf(text))
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	text := []byte(h.fixed)
	for _, a := range attrs {
		text = appendAttr(text, h.prefix, a)
	}
	return &logHandler{filter: h.filter, prefix: h.prefix, fixed: string(text)}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &logHandler{filter: h.filter, prefix: h.prefix + name + ".", fixed: h.fixed}
}

func appendAttr(text []byte, prefix string, a slog.Attr) []byte {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, inner := range value.Group() {
			text = appendAttr(text, prefix, inner)
		}
		return text
	}
	if a.Equal(slog.Attr{}) {
		return text
	}
	text = append(text, ' ')
	text = append(text, prefix...)
	text = append(text, a.Key...)
	text = append(text, '=')
	shown := value.String()
	if shown == "" || strings.ContainsFunc(shown, func(c rune) bool { return c <= ' ' || c == '"' || c == '=' || c == 0x7f }) {
		return strconv.AppendQuote(text, shown)
	}
	return append(text, shown...)
}

func levelOf(level slog.Level) raw.Level {
	switch {
	case level < slog.LevelDebug:
		return raw.LevelTrace
	case level < slog.LevelInfo:
		return raw.LevelDebug
	case level < slog.LevelWarn:
		return raw.LevelInfo
	case level < slog.LevelError:
		return raw.LevelWarn
	default:
		return raw.LevelError
	}
}
