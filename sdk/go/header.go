package eddy

import "github.com/eddy-gateway/eddy/sdk/go/raw"

// Header is a well-known header name. Lookups with it compare numbers instead of names.
type Header = raw.FieldID

// Well-known header names.
const (
	Host                     = raw.FieldHost                     // host
	ContentLength            = raw.FieldContentLength            // content-length
	TransferEncoding         = raw.FieldTransferEncoding         // transfer-encoding
	Connection               = raw.FieldConnection               // connection
	Expect                   = raw.FieldExpect                   // expect
	Upgrade                  = raw.FieldUpgrade                  // upgrade
	TE                       = raw.FieldTE                       // te
	MaxForwards              = raw.FieldMaxForwards              // max-forwards
	Trailer                  = raw.FieldTrailer                  // trailer
	KeepAlive                = raw.FieldKeepAlive                // keep-alive
	Proxy                    = raw.FieldProxy                    // proxy
	ProxyConnection          = raw.FieldProxyConnection          // proxy-connection
	ProxyAuthenticate        = raw.FieldProxyAuthenticate        // proxy-authenticate
	ProxyAuthorization       = raw.FieldProxyAuthorization       // proxy-authorization
	HTTP2Settings            = raw.FieldHTTP2Settings            // http2-settings
	Via                      = raw.FieldVia                      // via
	Date                     = raw.FieldDate                     // date
	Forwarded                = raw.FieldForwarded                // forwarded
	XForwardedFor            = raw.FieldXForwardedFor            // x-forwarded-for
	XForwardedProto          = raw.FieldXForwardedProto          // x-forwarded-proto
	XForwardedHost           = raw.FieldXForwardedHost           // x-forwarded-host
	XForwardedPort           = raw.FieldXForwardedPort           // x-forwarded-port
	XRealIP                  = raw.FieldXRealIP                  // x-real-ip
	XRequestID               = raw.FieldXRequestID               // x-request-id
	Accept                   = raw.FieldAccept                   // accept
	AcceptEncoding           = raw.FieldAcceptEncoding           // accept-encoding
	AcceptLanguage           = raw.FieldAcceptLanguage           // accept-language
	AcceptRanges             = raw.FieldAcceptRanges             // accept-ranges
	AccessControlAllowOrigin = raw.FieldAccessControlAllowOrigin // access-control-allow-origin
	Age                      = raw.FieldAge                      // age
	Allow                    = raw.FieldAllow                    // allow
	AltSvc                   = raw.FieldAltSvc                   // alt-svc
	Authorization            = raw.FieldAuthorization            // authorization
	CacheControl             = raw.FieldCacheControl             // cache-control
	ContentDisposition       = raw.FieldContentDisposition       // content-disposition
	ContentEncoding          = raw.FieldContentEncoding          // content-encoding
	ContentLanguage          = raw.FieldContentLanguage          // content-language
	ContentLocation          = raw.FieldContentLocation          // content-location
	ContentRange             = raw.FieldContentRange             // content-range
	ContentSecurityPolicy    = raw.FieldContentSecurityPolicy    // content-security-policy
	ContentType              = raw.FieldContentType              // content-type
	Cookie                   = raw.FieldCookie                   // cookie
	ETag                     = raw.FieldETag                     // etag
	Expires                  = raw.FieldExpires                  // expires
	IfMatch                  = raw.FieldIfMatch                  // if-match
	IfModifiedSince          = raw.FieldIfModifiedSince          // if-modified-since
	IfNoneMatch              = raw.FieldIfNoneMatch              // if-none-match
	IfRange                  = raw.FieldIfRange                  // if-range
	IfUnmodifiedSince        = raw.FieldIfUnmodifiedSince        // if-unmodified-since
	LastModified             = raw.FieldLastModified             // last-modified
	Link                     = raw.FieldLink                     // link
	Location                 = raw.FieldLocation                 // location
	Origin                   = raw.FieldOrigin                   // origin
	Pragma                   = raw.FieldPragma                   // pragma
	Prefer                   = raw.FieldPrefer                   // prefer
	Priority                 = raw.FieldPriority                 // priority
	Range                    = raw.FieldRange                    // range
	Referer                  = raw.FieldReferer                  // referer
	RetryAfter               = raw.FieldRetryAfter               // retry-after
	SecFetchDest             = raw.FieldSecFetchDest             // sec-fetch-dest
	SecFetchMode             = raw.FieldSecFetchMode             // sec-fetch-mode
	SecFetchSite             = raw.FieldSecFetchSite             // sec-fetch-site
	SecFetchUser             = raw.FieldSecFetchUser             // sec-fetch-user
	Server                   = raw.FieldServer                   // server
	ServerTiming             = raw.FieldServerTiming             // server-timing
	SetCookie                = raw.FieldSetCookie                // set-cookie
	StrictTransportSecurity  = raw.FieldStrictTransportSecurity  // strict-transport-security
	Traceparent              = raw.FieldTraceparent              // traceparent
	Tracestate               = raw.FieldTracestate               // tracestate
	UpgradeInsecureRequests  = raw.FieldUpgradeInsecureRequests  // upgrade-insecure-requests
	UserAgent                = raw.FieldUserAgent                // user-agent
	Vary                     = raw.FieldVary                     // vary
	Warning                  = raw.FieldWarning                  // warning
	WWWAuthenticate          = raw.FieldWWWAuthenticate          // www-authenticate
	AuthenticationInfo       = raw.FieldAuthenticationInfo       // authentication-info
	GRPCStatus               = raw.FieldGRPCStatus               // grpc-status
	GRPCMessage              = raw.FieldGRPCMessage              // grpc-message
	GRPCTimeout              = raw.FieldGRPCTimeout              // grpc-timeout
)
