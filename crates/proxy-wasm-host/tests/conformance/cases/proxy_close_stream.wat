;; Each kind of stream is closed; one that there is not is refused.
;; covers: proxy_close_stream
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_close_stream (i32.const 0)))
  (call $tell (call $proxy_close_stream (i32.const 1)))
  (call $tell (call $proxy_close_stream (i32.const 2)))
  (call $tell (call $proxy_close_stream (i32.const 3)))
  (call $tell (call $proxy_close_stream (i32.const 4))))
;;> # tick
;;> 1: close_stream HttpRequest
;;> tell 0
;;> 1: close_stream HttpResponse
;;> tell 0
;;> 1: close_stream Downstream
;;> tell 0
;;> 1: close_stream Upstream
;;> tell 0
;;> tell 2
;;> = ()
