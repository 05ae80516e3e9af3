;; There are no sockets.
;; covers: sock_accept, sock_recv, sock_send, sock_shutdown
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $sock_accept (i32.const 3) (i32.const 0) (i32.const 0)))
  (call $tell (call $sock_accept (i32.const 1) (i32.const 0) (i32.const 0)))
  (call $tell (call $sock_recv (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $sock_recv (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $sock_send (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $sock_send (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $sock_shutdown (i32.const 3) (i32.const 0)))
  (call $tell (call $sock_shutdown (i32.const 1) (i32.const 0))))
;;> # tick
;;> tell 8
;;> tell 57
;;> tell 8
;;> tell 57
;;> tell 8
;;> tell 57
;;> tell 8
;;> tell 57
;;> = ()
