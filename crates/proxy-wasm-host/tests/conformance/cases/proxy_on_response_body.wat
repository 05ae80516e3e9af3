;; A piece of a body comes.
;; covers: proxy_on_response_body
;; do: response_body 10 more, response_body 5 end
(func (export "proxy_on_response_body") (param i32 i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2))
  (i32.const 1))
;;> # response_body 10 more
;;> tell 2
;;> tell 10
;;> tell 0
;;> = Pause
;;> # response_body 5 end
;;> tell 2
;;> tell 5
;;> tell 1
;;> = Pause
