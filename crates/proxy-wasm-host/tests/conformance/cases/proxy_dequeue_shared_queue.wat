;; Items come in order, until there are none.
;; covers: proxy_dequeue_shared_queue
;; do: tick
(data (i32.const 16) "work")
(data (i32.const 32) "item")
(func (export "proxy_on_tick") (param i32)
  (drop (call $proxy_register_shared_queue (i32.const 16) (i32.const 4) (i32.const 8)))
  (drop (call $proxy_enqueue_shared_queue (i32.load (i32.const 8)) (i32.const 32) (i32.const 4)))
  (drop (call $proxy_enqueue_shared_queue (i32.load (i32.const 8)) (i32.const 33) (i32.const 3)))
  (call $tell (call $proxy_dequeue_shared_queue (i32.load (i32.const 8)) (i32.const 65533) (i32.const 4)))
  (call $value (call $proxy_dequeue_shared_queue (i32.load (i32.const 8)) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_dequeue_shared_queue (i32.load (i32.const 8)) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_dequeue_shared_queue (i32.load (i32.const 8)) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_dequeue_shared_queue (i32.const 999) (i32.const 0) (i32.const 4))))
;;> # tick
;;> tell 6
;;> tell 0
;;> show "item"
;;> tell 0
;;> show "tem"
;;> tell 7
;;> tell 1
;;> = ()
