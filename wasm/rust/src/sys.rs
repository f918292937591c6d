//! The functions of `weft.c`. A test of the repository compares both.
use core::ffi::c_void;

extern "C" {
    pub fn weft_rs_agent_id() -> i32;
    pub fn weft_rs_agent_set_id(id: i32) -> i32;
    pub fn weft_rs_agent_set_blocking(allowed: i32);

    pub fn weft_rs_mutex_try_lock(m: *mut c_void) -> i32;
    pub fn weft_rs_mutex_lock(m: *mut c_void, timeout: i64) -> i32;
    pub fn weft_rs_mutex_unlock(m: *mut c_void) -> i32;
    pub fn weft_rs_mutex_owner(m: *const c_void) -> i32;

    pub fn weft_rs_semaphore_init(at: *mut c_void, bytes: usize, permits: i32) -> *mut c_void;
    pub fn weft_rs_semaphore_attach(at: *mut c_void) -> *mut c_void;
    pub fn weft_rs_semaphore_try_acquire(s: *mut c_void, n: i32) -> i32;
    pub fn weft_rs_semaphore_acquire(s: *mut c_void, n: i32, timeout: i64) -> i32;
    pub fn weft_rs_semaphore_release(s: *mut c_void, n: i32) -> i32;
    pub fn weft_rs_semaphore_available(s: *const c_void) -> i32;

    pub fn weft_rs_spsc_queue_init(
        at: *mut c_void,
        bytes: usize,
        capacity: i32,
        element_size: i32,
    ) -> *mut c_void;
    pub fn weft_rs_spsc_queue_attach(at: *mut c_void) -> *mut c_void;
    pub fn weft_rs_spsc_queue_try_push(q: *mut c_void, src: *const c_void) -> i32;
    pub fn weft_rs_spsc_queue_push(q: *mut c_void, src: *const c_void, timeout: i64) -> i32;
    pub fn weft_rs_spsc_queue_try_pop(q: *mut c_void, dst: *mut c_void) -> i32;
    pub fn weft_rs_spsc_queue_pop(q: *mut c_void, dst: *mut c_void, timeout: i64) -> i32;
    pub fn weft_rs_spsc_queue_close(q: *mut c_void);
    pub fn weft_rs_spsc_queue_closed(q: *const c_void) -> i32;
    pub fn weft_rs_spsc_queue_size(q: *const c_void) -> i32;
    pub fn weft_rs_spsc_queue_capacity(q: *const c_void) -> i32;
    pub fn weft_rs_spsc_queue_element_size(q: *const c_void) -> i32;

    pub fn weft_rs_mpmc_queue_init(
        at: *mut c_void,
        bytes: usize,
        capacity: i32,
        element_size: i32,
    ) -> *mut c_void;
    pub fn weft_rs_mpmc_queue_attach(at: *mut c_void) -> *mut c_void;
    pub fn weft_rs_mpmc_queue_try_push(q: *mut c_void, src: *const c_void) -> i32;
    pub fn weft_rs_mpmc_queue_push(q: *mut c_void, src: *const c_void, timeout: i64) -> i32;
    pub fn weft_rs_mpmc_queue_try_pop(q: *mut c_void, dst: *mut c_void) -> i32;
    pub fn weft_rs_mpmc_queue_pop(q: *mut c_void, dst: *mut c_void, timeout: i64) -> i32;
    pub fn weft_rs_mpmc_queue_close(q: *mut c_void);
    pub fn weft_rs_mpmc_queue_closed(q: *const c_void) -> i32;
    pub fn weft_rs_mpmc_queue_size(q: *const c_void) -> i32;
    pub fn weft_rs_mpmc_queue_capacity(q: *const c_void) -> i32;
    pub fn weft_rs_mpmc_queue_element_size(q: *const c_void) -> i32;
}
