//! Lookups do not allocate once the scratch memory has grown, and routers are of modest size.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use eddy_route::{RouteScratch, Router};

use crate::notation::router;
use crate::request::RouteTestRequest;

/// The system allocator with counters per thread.
struct RouteCountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static BYTES_HELD: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged; the counters are plain cells that need no
// destructor.
unsafe impl GlobalAlloc for RouteCountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        BYTES_HELD.set(BYTES_HELD.get().wrapping_add(layout.size()));
        // SAFETY: the caller keeps the contract of this very function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES_HELD.set(BYTES_HELD.get().wrapping_sub(layout.size()));
        // SAFETY: as above; the pointer came from the same allocator.
        unsafe { System.dealloc(pointer, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: RouteCountingAllocator = RouteCountingAllocator;

#[test]
fn lookups_and_rewrites_do_not_allocate() {
    let mut rules = String::from(
        "
        exact: host=www.t exact=/a
        near:  host=*.t template=/u/{id}/{rest...} to=/new/{id}/{rest}
        query: prefix=/q query=name:regex:.*b query=other:absent
        group: regex=/r/(\\d+)/(?<word>[a-z]+) to=/{word}/{1}
        large: regex=/l/.*(a.{12}|b.{13}|[0-9]{1,20}).* header=x:regex:.*
        ",
    );
    for number in 0..50 {
        rules.push_str(&format!("t{number}: prefix=/t header=x-tenant:exact:{number} method=GET\n"));
        rules.push_str(&format!("x{number}: regex=/[x-z]+/{number}/.*\n"));
    }
    let router = router(&rules);
    let asks = [
        RouteTestRequest::get("WWW.T.", "/a"),
        RouteTestRequest::get("x.t", "/u/1/a/b"),
        RouteTestRequest::get("x.t", "/q").query("name=a%20b&x=y"),
        RouteTestRequest::get("t", "/r/12/abc"),
        RouteTestRequest::get("t", "/l/xxaxxxxxxxxxxxxxxxxx123").field("x", "1"),
        RouteTestRequest::get("t", "/t/1").field("X-Tenant", "49"),
        RouteTestRequest::get("t", "/x/49/y"),
        RouteTestRequest::get("t", "/none"),
    ];
    let mut scratch = RouteScratch::new();
    let mut out = Vec::new();
    let mut found = 0;
    let mut ask_all = || {
        for ask in &asks {
            let allocations = ask.with(|request| {
                let before = ALLOCATIONS.get();
                if let Some(rule) = router.lookup(request, &mut scratch) {
                    found += 1;
                    rule.rewrite(request.path, &mut scratch, &mut out).unwrap();
                }
                ALLOCATIONS.get() - before
            });
            ALLOCATED.set(ALLOCATED.get() + allocations);
        }
    };
    thread_local! { static ALLOCATED: Cell<usize> = const { Cell::new(0) } }
    ask_all();
    ask_all();
    ALLOCATED.set(0);
    for _ in 0..100 {
        ask_all();
    }
    assert_eq!(ALLOCATED.get(), 0, "allocations in steady state");
    assert_eq!(found, 102 * 7, "all but one ask find a rule");
}

#[test]
fn a_router_is_shared_by_workers() {
    fn check<T: Send + Sync>() {}
    check::<Router>();
    check::<RouteScratch>();
}

#[test]
fn a_rule_takes_little_memory() {
    let mut rules = String::new();
    for number in 0..10_000 {
        rules
            .push_str(&format!("rule-{number}: prefix=/api/v1/service-{}/resource-{number}/\n", number % 97));
    }
    let tables = crate::notation::tables(&rules);
    let before = BYTES_HELD.get();
    let router = Router::build(&tables).unwrap();
    let bytes_a_rule = (BYTES_HELD.get() - before) / 10_000;
    assert!(bytes_a_rule < 700, "{bytes_a_rule} bytes a rule");
    drop(router);
}
