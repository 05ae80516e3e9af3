;; Trailers come.
;; covers: proxy_on_request_trailers
;; do: request_trailers 2
(func (export "proxy_on_request_trailers") (param i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (i32.const 0))
;;> # request_trailers 2
;;> tell 2
;;> tell 2
;;> = Continue
