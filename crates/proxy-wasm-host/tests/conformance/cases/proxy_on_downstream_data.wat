;; Bytes come from the client.
;; covers: proxy_on_downstream_data
;; do: downstream_data 10 more, downstream_data 5 end
(func (export "proxy_on_downstream_data") (param i32 i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2))
  (i32.const 0))
;;> # downstream_data 10 more
;;> tell 2
;;> tell 10
;;> tell 0
;;> = Continue
;;> # downstream_data 5 end
;;> tell 2
;;> tell 5
;;> tell 1
;;> = Continue
