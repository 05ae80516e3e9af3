;; A queue is made once and opened afterwards.
;; covers: proxy_register_shared_queue
;; do: tick
(data (i32.const 16) "work")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_register_shared_queue (i32.const 16) (i32.const 4) (i32.const 0)))
  (call $tell (call $proxy_register_shared_queue (i32.const 16) (i32.const 4) (i32.const 4)))
  (call $tell (i32.eq (i32.load (i32.const 0)) (i32.load (i32.const 4))))
  (call $tell (call $proxy_register_shared_queue (i32.const 16) (i32.const 4) (i32.const 65533))))
;;> # tick
;;> tell 0
;;> tell 0
;;> tell 1
;;> tell 6
;;> = ()
