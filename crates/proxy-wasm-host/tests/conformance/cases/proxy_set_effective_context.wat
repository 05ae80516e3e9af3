;; Calls act on another context from then on; one that there is not is refused.
;; covers: proxy_set_effective_context
;; do: tick, tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_continue_stream (i32.const 0)))
  (call $tell (call $proxy_set_effective_context (i32.const 2)))
  (call $tell (call $proxy_continue_stream (i32.const 0)))
  (call $tell (call $proxy_set_effective_context (i32.const 3)))
  (call $tell (call $proxy_continue_stream (i32.const 0))))
;;> # tick
;;> 1: continue_stream HttpRequest
;;> tell 0
;;> tell 0
;;> 2: continue_stream HttpRequest
;;> tell 0
;;> tell 2
;;> 2: continue_stream HttpRequest
;;> tell 0
;;> = ()
;;> # tick
;;> 1: continue_stream HttpRequest
;;> tell 0
;;> tell 0
;;> 2: continue_stream HttpRequest
;;> tell 0
;;> tell 2
;;> 2: continue_stream HttpRequest
;;> tell 0
;;> = ()
