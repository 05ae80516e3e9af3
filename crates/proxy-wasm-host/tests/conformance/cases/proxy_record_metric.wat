;; A metric takes a value of eight bytes.
;; covers: proxy_record_metric
;; do: tick
(data (i32.const 16) "name")
(func (export "proxy_on_tick") (param i32)
  (drop (call $proxy_define_metric (i32.const 1) (i32.const 16) (i32.const 4) (i32.const 0)))
  (call $tell (call $proxy_record_metric (i32.load (i32.const 0)) (i64.const 5000000000)))
  (call $tell (call $proxy_get_metric (i32.load (i32.const 0)) (i32.const 8)))
  (call $tell64 (i64.load (i32.const 8)))
  (call $tell (call $proxy_record_metric (i32.const 999) (i64.const 1))))
;;> # tick
;;> 1: define_metric Gauge "name"
;;> tell 0
;;> tell 0
;;> tell 5000000000
;;> tell 1
;;> = ()
