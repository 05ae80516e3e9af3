;; The proxy closes the client's connection.
;; covers: proxy_on_downstream_connection_close
;; do: downstream_connection_close 1
(func (export "proxy_on_downstream_connection_close") (param i32 i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1)))
;;> # downstream_connection_close 1
;;> tell 2
;;> tell 1
;;> = ()
