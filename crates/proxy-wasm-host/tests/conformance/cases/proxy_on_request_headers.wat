;; Fields come, and whether more does.
;; covers: proxy_on_request_headers
;; abi: 0.2.0, 0.2.1, 0.2.100
;; do: request_headers 4 more, request_headers 3 end
(func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2))
  (i32.const 0))
;;> # request_headers 4 more
;;> tell 2
;;> tell 4
;;> tell 0
;;> = Continue
;;> # request_headers 3 end
;;> tell 2
;;> tell 3
;;> tell 1
;;> = Continue
