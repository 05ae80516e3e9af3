;; What is missing means that all is well.
;; covers: proxy_on_request_headers, proxy_on_done, proxy_on_vm_start
;; do: tick, request_headers 1 end, response_body 5 more, end, end_plugin
;; Nothing at all.
;;> # tick
;;> = ()
;;> # request_headers 1 end
;;> = Continue
;;> # response_body 5 more
;;> = Continue
;;> # end
;;> 2: context_deleted
;;> = true
;;> # end_plugin
;;> 1: context_deleted
;;> = true
