;; The kit for C++ has a word with the number 2.
;; covers: proxy_on_request_headers
;; abi: 0.2.1, 0.2.100
;; do: request_headers 4 end
(func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2))
  (i32.const 2))
;;> # request_headers 4 end
;;> tell 2
;;> tell 4
;;> tell 1
;;> = Continue
