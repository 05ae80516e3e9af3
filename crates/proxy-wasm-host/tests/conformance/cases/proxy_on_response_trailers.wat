;; Trailers come.
;; covers: proxy_on_response_trailers
;; do: response_trailers 2
(func (export "proxy_on_response_trailers") (param i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (i32.const 0))
;;> # response_trailers 2
;;> tell 2
;;> tell 2
;;> = Continue
