;; The function for the endpoints of the cluster is known by name only: the module is loaded, and a call is unimplemented.
;; covers: proxy_get_upstream_hosts
;; do: tick
(data (i32.const 16) "text")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_get_upstream_hosts (i32.const 0) (i32.const 4))))
;;> # tick
;;> 1: unsupported proxy_get_upstream_hosts
;;> tell 12
;;> = ()
