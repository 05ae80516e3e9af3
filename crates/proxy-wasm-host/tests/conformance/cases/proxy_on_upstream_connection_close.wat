;; The server closes its connection.
;; covers: proxy_on_upstream_connection_close
;; do: upstream_connection_close 2
(func (export "proxy_on_upstream_connection_close") (param i32 i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1)))
;;> # upstream_connection_close 2
;;> tell 2
;;> tell 2
;;> = ()
