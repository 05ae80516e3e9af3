;; The older names for going on.
;; covers: proxy_continue_request, proxy_continue_response
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_continue_request))
  (call $tell (call $proxy_continue_response)))
;;> # tick
;;> 1: continue_stream HttpRequest
;;> tell 0
;;> 1: continue_stream HttpResponse
;;> tell 0
;;> = ()
