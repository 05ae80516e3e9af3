;; The endpoint of the request is selected by its address.
;; covers: proxy_set_upstream_override_host
;; do: tick
(data (i32.const 16) "10.0.0.7:8080")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_set_upstream_override_host (i32.const 16) (i32.const 13)))
  (call $tell (call $proxy_set_upstream_override_host (i32.const 65535) (i32.const 13))))
;;> # tick
;;> 1: set_upstream_override_host "10.0.0.7:8080"
;;> tell 0
;;> tell 6
;;> = ()
