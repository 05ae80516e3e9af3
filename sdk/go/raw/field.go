package raw

// FieldID is the number of a well-known field name.
type FieldID uint8

// IDs of other names.
const (
	// FieldOther is an unknown name.
	FieldOther FieldID = 0
	// FieldXForwarded is an unknown name that begins with x-forwarded-.
	FieldXForwarded FieldID = 254
	// FieldAlias is a name that some programs read as a known one, such as content_length; it is not forwarded.
	FieldAlias FieldID = 255
)

// Well-known names.
const (
	FieldHost                     FieldID = 1  // host
	FieldContentLength            FieldID = 2  // content-length
	FieldTransferEncoding         FieldID = 3  // transfer-encoding
	FieldConnection               FieldID = 4  // connection
	FieldExpect                   FieldID = 5  // expect
	FieldUpgrade                  FieldID = 6  // upgrade
	FieldTE                       FieldID = 7  // te
	FieldMaxForwards              FieldID = 8  // max-forwards
	FieldTrailer                  FieldID = 9  // trailer
	FieldKeepAlive                FieldID = 10 // keep-alive
	FieldProxy                    FieldID = 11 // proxy
	FieldProxyConnection          FieldID = 12 // proxy-connection
	FieldProxyAuthenticate        FieldID = 13 // proxy-authenticate
	FieldProxyAuthorization       FieldID = 14 // proxy-authorization
	FieldHTTP2Settings            FieldID = 15 // http2-settings
	FieldVia                      FieldID = 16 // via
	FieldDate                     FieldID = 17 // date
	FieldForwarded                FieldID = 18 // forwarded
	FieldXForwardedFor            FieldID = 19 // x-forwarded-for
	FieldXForwardedProto          FieldID = 20 // x-forwarded-proto
	FieldXForwardedHost           FieldID = 21 // x-forwarded-host
	FieldXForwardedPort           FieldID = 22 // x-forwarded-port
	FieldXRealIP                  FieldID = 23 // x-real-ip
	FieldXRequestID               FieldID = 24 // x-request-id
	FieldAccept                   FieldID = 25 // accept
	FieldAcceptEncoding           FieldID = 26 // accept-encoding
	FieldAcceptLanguage           FieldID = 27 // accept-language
	FieldAcceptRanges             FieldID = 28 // accept-ranges
	FieldAccessControlAllowOrigin FieldID = 29 // access-control-allow-origin
	FieldAge                      FieldID = 30 // age
	FieldAllow                    FieldID = 31 // allow
	FieldAltSvc                   FieldID = 32 // alt-svc
	FieldAuthorization            FieldID = 33 // authorization
	FieldCacheControl             FieldID = 34 // cache-control
	FieldContentDisposition       FieldID = 35 // content-disposition
	FieldContentEncoding          FieldID = 36 // content-encoding
	FieldContentLanguage          FieldID = 37 // content-language
	FieldContentLocation          FieldID = 38 // content-location
	FieldContentRange             FieldID = 39 // content-range
	FieldContentSecurityPolicy    FieldID = 40 // content-security-policy
	FieldContentType              FieldID = 41 // content-type
	FieldCookie                   FieldID = 42 // cookie
	FieldETag                     FieldID = 43 // etag
	FieldExpires                  FieldID = 44 // expires
	FieldIfMatch                  FieldID = 45 // if-match
	FieldIfModifiedSince          FieldID = 46 // if-modified-since
	FieldIfNoneMatch              FieldID = 47 // if-none-match
	FieldIfRange                  FieldID = 48 // if-range
	FieldIfUnmodifiedSince        FieldID = 49 // if-unmodified-since
	FieldLastModified             FieldID = 50 // last-modified
	FieldLink                     FieldID = 51 // link
	FieldLocation                 FieldID = 52 // location
	FieldOrigin                   FieldID = 53 // origin
	FieldPragma                   FieldID = 54 // pragma
	FieldPrefer                   FieldID = 55 // prefer
	FieldPriority                 FieldID = 56 // priority
	FieldRange                    FieldID = 57 // range
	FieldReferer                  FieldID = 58 // referer
	FieldRetryAfter               FieldID = 59 // retry-after
	FieldSecFetchDest             FieldID = 60 // sec-fetch-dest
	FieldSecFetchMode             FieldID = 61 // sec-fetch-mode
	FieldSecFetchSite             FieldID = 62 // sec-fetch-site
	FieldSecFetchUser             FieldID = 63 // sec-fetch-user
	FieldServer                   FieldID = 64 // server
	FieldServerTiming             FieldID = 65 // server-timing
	FieldSetCookie                FieldID = 66 // set-cookie
	FieldStrictTransportSecurity  FieldID = 67 // strict-transport-security
	FieldTraceparent              FieldID = 68 // traceparent
	FieldTracestate               FieldID = 69 // tracestate
	FieldUpgradeInsecureRequests  FieldID = 70 // upgrade-insecure-requests
	FieldUserAgent                FieldID = 71 // user-agent
	FieldVary                     FieldID = 72 // vary
	FieldWarning                  FieldID = 73 // warning
	FieldWWWAuthenticate          FieldID = 74 // www-authenticate
	FieldAuthenticationInfo       FieldID = 75 // authentication-info
	FieldGRPCStatus               FieldID = 76 // grpc-status
	FieldGRPCMessage              FieldID = 77 // grpc-message
	FieldGRPCTimeout              FieldID = 78 // grpc-timeout
)

var fieldNames = [...]string{
	"",
	"host",
	"content-length",
	"transfer-encoding",
	"connection",
	"expect",
	"upgrade",
	"te",
	"max-forwards",
	"trailer",
	"keep-alive",
	"proxy",
	"proxy-connection",
	"proxy-authenticate",
	"proxy-authorization",
	"http2-settings",
	"via",
	"date",
	"forwarded",
	"x-forwarded-for",
	"x-forwarded-proto",
	"x-forwarded-host",
	"x-forwarded-port",
	"x-real-ip",
	"x-request-id",
	"accept",
	"accept-encoding",
	"accept-language",
	"accept-ranges",
	"access-control-allow-origin",
	"age",
	"allow",
	"alt-svc",
	"authorization",
	"cache-control",
	"content-disposition",
	"content-encoding",
	"content-language",
	"content-location",
	"content-range",
	"content-security-policy",
	"content-type",
	"cookie",
	"etag",
	"expires",
	"if-match",
	"if-modified-since",
	"if-none-match",
	"if-range",
	"if-unmodified-since",
	"last-modified",
	"link",
	"location",
	"origin",
	"pragma",
	"prefer",
	"priority",
	"range",
	"referer",
	"retry-after",
	"sec-fetch-dest",
	"sec-fetch-mode",
	"sec-fetch-site",
	"sec-fetch-user",
	"server",
	"server-timing",
	"set-cookie",
	"strict-transport-security",
	"traceparent",
	"tracestate",
	"upgrade-insecure-requests",
	"user-agent",
	"vary",
	"warning",
	"www-authenticate",
	"authentication-info",
	"grpc-status",
	"grpc-message",
	"grpc-timeout",
}

// FieldsKnown is the number of well-known names; their IDs are 1 to FieldsKnown.
const FieldsKnown = len(fieldNames) - 1

// Known returns whether the ID has one name, so that equal IDs mean equal names.
func (id FieldID) Known() bool { return id != 0 && int(id) < len(fieldNames) }

// Name returns the name in lower case; empty if the ID is not [FieldID.Known].
func (id FieldID) Name() string {
	if int(id) < len(fieldNames) {
		return fieldNames[id]
	}
	return ""
}
