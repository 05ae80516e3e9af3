;; A call is answered.
;; covers: proxy_on_http_call_response
;; do: http_call_response 7 3 20 1
(func (export "proxy_on_http_call_response") (param i32 i32 i32 i32 i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2))
  (call $tell (local.get 3))
  (call $tell (local.get 4)))
;;> # http_call_response 7 3 20 1
;;> tell 1
;;> tell 7
;;> tell 3
;;> tell 20
;;> tell 1
;;> = ()
