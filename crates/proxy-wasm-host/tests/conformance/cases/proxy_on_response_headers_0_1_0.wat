;; Fields come, without a word on what comes after them.
;; covers: proxy_on_response_headers
;; abi: 0.1.0
;; do: response_headers 4 more, response_headers 3 end
(func (export "proxy_on_response_headers") (param i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (i32.const 1))
;;> # response_headers 4 more
;;> tell 2
;;> tell 4
;;> = Pause
;;> # response_headers 3 end
;;> tell 2
;;> tell 3
;;> = Pause
