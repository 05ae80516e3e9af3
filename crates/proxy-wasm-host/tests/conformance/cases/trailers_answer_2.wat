;; An answer that means nothing is a fault.
;; covers: proxy_on_request_trailers
;; abi: 0.2.1, 0.2.100
;; do: request_trailers 4
(func (export "proxy_on_request_trailers") (param i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (i32.const 2))
;;> # request_trailers 4
;;> tell 2
;;> tell 4
;;> = fault BadReturn(2)
