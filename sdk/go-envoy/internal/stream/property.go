package stream

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// GetProperty reads an attribute by its name in Envoy.
func (x *exchange) GetProperty(key string) (string, error) {
	if name, ok := strings.CutPrefix(key, "filter_state."); ok {
		return found(x.stateText(strings.Trim(name, `[]"'`)))
	}
	if name, ok := strings.CutPrefix(key, "metadata.filter_metadata."); ok {
		space, inner, _ := strings.Cut(name, ".")
		value, ok := (*metadata)(x).Get(space)[inner]
		if !ok {
			return "", api.ErrValueNotFound
		}
		return plain(value)
	}
	if isGroup(key) {
		return "", api.ErrSerializationFailure
	}
	x.mutex.Lock()
	defer x.mutex.Unlock()
	c, _ := x.facts()
	if c == nil {
		return "", api.ErrValueNotFound
	}
	for prefix, section := range headerProperties {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			if name == "" {
				// Envoy does not convert a map to text either.
				return "", api.ErrSerializationFailure
			}
			if name[0] != '.' {
				break
			}
			value, ok := c.Lookup(section, name[1:])
			return found(strings.Clone(value), ok)
		}
	}
	read, ok := properties[key]
	if !ok {
		return "", api.ErrValueNotFound
	}
	a := c.About
	if a == nil {
		a = &raw.About{}
	}
	value, ok := read(c, a)
	return found(strings.Clone(value), ok)
}

// isGroup returns whether a name is that of all attributes or of a group of them. They exist, but are maps.
func isGroup(key string) bool {
	if key == "" {
		return true
	}
	switch strings.TrimSuffix(key, ".") {
	case "request", "response", "connection", "source", "destination", "upstream", "xds", "metadata", "filter_state":
		return true
	}
	return false
}

func found(value string, ok bool) (string, error) {
	if !ok {
		return "", api.ErrValueNotFound
	}
	return value, nil
}

// plain is for values with a single text.
func plain(value any) (string, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case bool:
		return strconv.FormatBool(value), nil
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), nil
	default:
		return "", api.ErrSerializationFailure
	}
}

var headerProperties = map[string]raw.Section{
	"request.headers": raw.RequestFields, "response.headers": raw.ResponseFields,
}

// properties are the supported attributes. A value may be a view.
var properties = map[string]func(*raw.Call, *raw.About) (string, bool){
	"request.path":     func(c *raw.Call, _ *raw.About) (string, bool) { return some(c.CurrentTarget()) },
	"request.url_path": func(c *raw.Call, _ *raw.About) (string, bool) { return path(c) },
	"request.query":    func(c *raw.Call, _ *raw.About) (string, bool) { return query(c) },
	"request.host":     func(c *raw.Call, _ *raw.About) (string, bool) { return some(c.CurrentAuthority()) },
	"request.scheme":   func(c *raw.Call, _ *raw.About) (string, bool) { return some(c.Scheme.String()) },
	"request.method":   func(c *raw.Call, _ *raw.About) (string, bool) { return some(c.CurrentMethod()) },
	"request.protocol": func(c *raw.Call, _ *raw.About) (string, bool) { return protocolOf(c), true },
	"request.referer": func(c *raw.Call, _ *raw.About) (string, bool) {
		return c.Field(raw.RequestFields, raw.FieldReferer)
	},
	"request.useragent": func(c *raw.Call, _ *raw.About) (string, bool) {
		return c.Field(raw.RequestFields, raw.FieldUserAgent)
	},
	"request.id": func(c *raw.Call, a *raw.About) (string, bool) {
		if a.RequestID.Len != 0 {
			return a.RequestID.String(), true
		}
		return c.Field(raw.RequestFields, raw.FieldXRequestID)
	},
	"request.time": func(_ *raw.Call, a *raw.About) (string, bool) {
		if a.StartedUnixUs == 0 {
			return "", false
		}
		return time.UnixMicro(int64(a.StartedUnixUs)).UTC().Format(time.RFC3339Nano), true
	},
	"request.duration": func(c *raw.Call, a *raw.About) (string, bool) {
		return (time.Duration(a.DurationUs) * time.Microsecond).String(), c.Phase == raw.PhaseLog
	},
	"request.size":  func(c *raw.Call, a *raw.About) (string, bool) { return number(a.RequestBytes), true },
	"response.size": func(c *raw.Call, a *raw.About) (string, bool) { return number(a.ResponseBytes), c.Status != 0 },
	"response.code": func(c *raw.Call, _ *raw.About) (string, bool) {
		return strconv.Itoa(c.CurrentStatus()), c.Status != 0
	},
	"response.code_details": func(c *raw.Call, _ *raw.About) (string, bool) { return detailsOf(c) },
	"response.grpc_status": func(c *raw.Call, _ *raw.About) (string, bool) {
		if value, ok := c.Field(raw.ResponseFields, raw.FieldGRPCStatus); ok {
			return value, ok
		}
		return c.Field(raw.TrailerFields, raw.FieldGRPCStatus)
	},
	"source.address":      func(_ *raw.Call, a *raw.About) (string, bool) { return some(a.Peer.String()) },
	"source.port":         func(_ *raw.Call, a *raw.About) (string, bool) { return port(a.Peer.String()) },
	"destination.address": func(_ *raw.Call, a *raw.About) (string, bool) { return some(a.Local.String()) },
	"destination.port":    func(_ *raw.Call, a *raw.About) (string, bool) { return port(a.Local.String()) },
	"connection.id":       func(_ *raw.Call, a *raw.About) (string, bool) { return number(a.Connection), true },
	"connection.mtls":     func(*raw.Call, *raw.About) (string, bool) { return "false", true },
	"upstream.address":    func(_ *raw.Call, a *raw.About) (string, bool) { return some(a.Endpoint.String()) },
	"upstream.port":       func(_ *raw.Call, a *raw.About) (string, bool) { return port(a.Endpoint.String()) },
	"upstream.request_attempt_count": func(_ *raw.Call, a *raw.About) (string, bool) {
		return number(uint64(a.Attempts)), true
	},
	"xds.route_name":        func(_ *raw.Call, a *raw.About) (string, bool) { return some(a.Rule.String()) },
	"xds.cluster_name":      func(_ *raw.Call, a *raw.About) (string, bool) { return some(a.Cluster.String()) },
	"xds.filter_chain_name": func(_ *raw.Call, a *raw.About) (string, bool) { return some(a.Listener.String()) },
	"xds.listener_name":     func(_ *raw.Call, a *raw.About) (string, bool) { return some(a.Listener.String()) },
	"route_name":            func(_ *raw.Call, a *raw.About) (string, bool) { return some(a.Rule.String()) },
	"cluster_name":          func(_ *raw.Call, a *raw.About) (string, bool) { return some(a.Cluster.String()) },
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func path(c *raw.Call) (string, bool) {
	before, _, _ := strings.Cut(c.CurrentTarget(), "?")
	return some(before)
}

func query(c *raw.Call) (string, bool) {
	_, after, ok := strings.Cut(c.CurrentTarget(), "?")
	return after, ok
}

func port(address string) (string, bool) {
	_, text, err := net.SplitHostPort(address)
	return text, err == nil
}
