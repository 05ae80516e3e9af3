;; An item is added to a queue that there is.
;; covers: proxy_enqueue_shared_queue
;; do: tick
(data (i32.const 16) "work")
(data (i32.const 32) "item")
(func (export "proxy_on_tick") (param i32)
  (drop (call $proxy_register_shared_queue (i32.const 16) (i32.const 4) (i32.const 8)))
  (call $tell (call $proxy_enqueue_shared_queue (i32.load (i32.const 8)) (i32.const 32) (i32.const 4)))
  (call $tell (call $proxy_enqueue_shared_queue (i32.const 999) (i32.const 32) (i32.const 4)))
  (call $tell (call $proxy_enqueue_shared_queue (i32.load (i32.const 8)) (i32.const 65535) (i32.const 4))))
;;> # tick
;;> tell 0
;;> tell 1
;;> tell 6
;;> = ()
