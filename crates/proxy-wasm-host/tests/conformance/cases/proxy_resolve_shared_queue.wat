;; A queue is found by the name of its machine and its own.
;; covers: proxy_resolve_shared_queue
;; do: tick
(data (i32.const 16) "work")
(data (i32.const 32) "conformance")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_resolve_shared_queue (i32.const 32) (i32.const 11) (i32.const 16) (i32.const 4) (i32.const 4)))
  (call $tell (call $proxy_register_shared_queue (i32.const 16) (i32.const 4) (i32.const 0)))
  (call $tell (call $proxy_resolve_shared_queue (i32.const 32) (i32.const 11) (i32.const 16) (i32.const 4) (i32.const 4)))
  (call $tell (i32.eq (i32.load (i32.const 0)) (i32.load (i32.const 4))))
  (call $tell (call $proxy_resolve_shared_queue (i32.const 32) (i32.const 10) (i32.const 16) (i32.const 4) (i32.const 4)))
  (call $tell (call $proxy_resolve_shared_queue (i32.const 32) (i32.const 11) (i32.const 16) (i32.const 4) (i32.const 65533))))
;;> # tick
;;> tell 1
;;> tell 0
;;> tell 0
;;> tell 1
;;> tell 1
;;> tell 6
;;> = ()
