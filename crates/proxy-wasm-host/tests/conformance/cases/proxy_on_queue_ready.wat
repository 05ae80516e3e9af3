;; A queue has an item.
;; covers: proxy_on_queue_ready
;; do: queue_ready 1
(func (export "proxy_on_queue_ready") (param i32 i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1)))
;;> # queue_ready 1
;;> tell 1
;;> tell 1
;;> = ()
