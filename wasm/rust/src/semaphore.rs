//! The semaphore.
use crate::{nanoseconds, sys, Error, Memory, FOREVER};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::time::Duration;

/// A number of permits that agents take and give back: `Semaphore` of
/// JavaScript.
///
/// Its memory may be freed when no agent waits, and none will begin an
/// operation. The agent that released may still be in the release, unless
/// agents are tracked.
#[repr(transparent)]
pub struct Semaphore(UnsafeCell<[i32; 9]>);

// Safety: agents change it by atomic operations only.
unsafe impl Sync for Semaphore {}
unsafe impl Send for Semaphore {}

impl Semaphore {
    /// The bytes of a semaphore.
    pub const BYTES: usize = 9 * 4;

    /// Makes a semaphore with free permits, 0 to 2^30 - 1.
    pub fn create<const N: usize>(
        memory: &mut Memory<N>,
        permits: i32,
    ) -> Result<&Semaphore, Error> {
        // Safety: nobody else uses the memory.
        unsafe { Self::init(memory.at(), N, permits) }
    }

    /// The same in unused memory at an address.
    ///
    /// # Safety
    ///
    /// Nobody else uses these bytes yet, and they stay for all of `'a`.
    pub unsafe fn init<'a>(
        at: *mut c_void,
        bytes: usize,
        permits: i32,
    ) -> Result<&'a Semaphore, Error> {
        let made = sys::weft_rs_semaphore_init(at, bytes, permits);
        (made as *const Semaphore).as_ref().ok_or(Error::Invalid)
    }

    /// The semaphore at an address; an error if there is none.
    ///
    /// # Safety
    ///
    /// There are [`BYTES`](Self::BYTES) bytes at `at`, for all of `'a`.
    pub unsafe fn attach<'a>(at: *mut c_void) -> Result<&'a Semaphore, Error> {
        let found = sys::weft_rs_semaphore_attach(at);
        (found as *const Semaphore).as_ref().ok_or(Error::Invalid)
    }

    /// Its address.
    pub const fn at(&self) -> *mut c_void {
        self.0.get() as *mut c_void
    }

    /// Takes `n` permits if they are free, without waiting.
    pub fn try_acquire(&self, n: i32) -> Result<(), Error> {
        // Safety: there is a semaphore.
        Error::check(unsafe { sys::weft_rs_semaphore_try_acquire(self.at(), n) })
    }

    /// Takes `n` permits, and blocks for that.
    pub fn acquire(&self, n: i32) -> Result<(), Error> {
        // Safety: there is a semaphore.
        Error::check(unsafe { sys::weft_rs_semaphore_acquire(self.at(), n, FOREVER) })
    }

    /// Does the same, but blocks no longer than `timeout`.
    pub fn acquire_timeout(&self, n: i32, timeout: Duration) -> Result<(), Error> {
        let timeout = nanoseconds(timeout);
        // Safety: there is a semaphore.
        Error::check(unsafe { sys::weft_rs_semaphore_acquire(self.at(), n, timeout) })
    }

    /// Gives `n` permits back.
    pub fn release(&self, n: i32) -> Result<(), Error> {
        // Safety: there is a semaphore.
        Error::check(unsafe { sys::weft_rs_semaphore_release(self.at(), n) })
    }

    /// How many permits are free. The number may change at any moment.
    pub fn available(&self) -> i32 {
        // Safety: there is a semaphore.
        unsafe { sys::weft_rs_semaphore_available(self.at()) }
    }
}
