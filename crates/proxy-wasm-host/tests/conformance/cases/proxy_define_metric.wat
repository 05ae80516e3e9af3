;; Each kind of metric gives a number; a kind that there is not is refused.
;; covers: proxy_define_metric
;; do: tick
(data (i32.const 16) "name")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_define_metric (i32.const 0) (i32.const 16) (i32.const 4) (i32.const 0)))
  (call $tell (i32.load (i32.const 0)))
  (call $tell (call $proxy_define_metric (i32.const 1) (i32.const 16) (i32.const 4) (i32.const 0)))
  (call $tell (call $proxy_define_metric (i32.const 2) (i32.const 16) (i32.const 4) (i32.const 0)))
  (call $tell (call $proxy_define_metric (i32.const 3) (i32.const 16) (i32.const 4) (i32.const 0)))
  (call $tell (call $proxy_define_metric (i32.const 0) (i32.const 16) (i32.const 4) (i32.const 65533))))
;;> # tick
;;> 1: define_metric Counter "name"
;;> tell 0
;;> tell 0
;;> 1: define_metric Gauge "name"
;;> tell 0
;;> 1: define_metric Histogram "name"
;;> tell 0
;;> tell 2
;;> tell 6
;;> = ()
