;; The kit for C++ has a word with the number 3.
;; covers: proxy_on_request_body
;; abi: 0.2.1, 0.2.100
;; do: request_body 4 end
(func (export "proxy_on_request_body") (param i32 i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2))
  (i32.const 3))
;;> # request_body 4 end
;;> tell 2
;;> tell 4
;;> tell 1
;;> = Pause
