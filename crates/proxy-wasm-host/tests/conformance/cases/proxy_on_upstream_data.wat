;; Bytes come from the server.
;; covers: proxy_on_upstream_data
;; do: upstream_data 10 more, upstream_data 5 end
(func (export "proxy_on_upstream_data") (param i32 i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2))
  (i32.const 1))
;;> # upstream_data 10 more
;;> tell 2
;;> tell 10
;;> tell 0
;;> = Pause
;;> # upstream_data 5 end
;;> tell 2
;;> tell 5
;;> tell 1
;;> = Pause
