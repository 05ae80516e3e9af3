;; Fields come, without a word on what comes after them.
;; covers: proxy_on_request_headers
;; abi: 0.1.0
;; do: request_headers 4 more, request_headers 3 end
(func (export "proxy_on_request_headers") (param i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (i32.const 1))
;;> # request_headers 4 more
;;> tell 2
;;> tell 4
;;> = Pause
;;> # request_headers 3 end
;;> tell 2
;;> tell 3
;;> = Pause
