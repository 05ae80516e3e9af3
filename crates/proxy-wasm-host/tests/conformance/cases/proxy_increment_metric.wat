;; A gauge goes up and down, a counter only up.
;; covers: proxy_increment_metric
;; do: tick
(data (i32.const 16) "name")
(func (export "proxy_on_tick") (param i32)
  (drop (call $proxy_define_metric (i32.const 1) (i32.const 16) (i32.const 4) (i32.const 0)))
  (call $tell (call $proxy_increment_metric (i32.load (i32.const 0)) (i64.const 7)))
  (call $tell (call $proxy_increment_metric (i32.load (i32.const 0)) (i64.const -2)))
  (drop (call $proxy_get_metric (i32.load (i32.const 0)) (i32.const 8)))
  (call $tell64 (i64.load (i32.const 8)))
  (drop (call $proxy_define_metric (i32.const 0) (i32.const 16) (i32.const 4) (i32.const 0)))
  (call $tell (call $proxy_increment_metric (i32.load (i32.const 0)) (i64.const -2)))
  (call $tell (call $proxy_increment_metric (i32.const 999) (i64.const 1))))
;;> # tick
;;> 1: define_metric Gauge "name"
;;> tell 0
;;> tell 0
;;> tell 5
;;> 1: define_metric Counter "name"
;;> tell 2
;;> tell 1
;;> = ()
