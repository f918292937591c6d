//! The mutex.
use crate::{nanoseconds, sys, Error, FOREVER, OWNER_DIED};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::time::Duration;

/// A lock that one agent holds at a time: `Mutex` of JavaScript. It guards what
/// you say that it guards, so it has no data of its own.
///
/// Its memory may be freed when no agent waits, and none will begin an
/// operation. The owner before may still be in the unlock.
#[repr(transparent)]
pub struct Mutex(UnsafeCell<[i32; 2]>);

// Safety: agents change it by atomic operations only.
unsafe impl Sync for Mutex {}
unsafe impl Send for Mutex {}

impl Mutex {
    /// The bytes of a mutex.
    pub const BYTES: usize = 2 * 4;

    /// A mutex that is free.
    pub const fn new() -> Self {
        Mutex(UnsafeCell::new([0; 2]))
    }

    /// The mutex at an address. Memory that is all zero is a free one.
    ///
    /// # Safety
    ///
    /// There is a mutex at `at`, or memory that is all zero, for all of `'a`.
    pub unsafe fn attach<'a>(at: *mut c_void) -> Result<&'a Mutex, Error> {
        if at.is_null() || at as usize % 4 != 0 {
            return Err(Error::Invalid);
        }
        Ok(&*(at as *const Mutex))
    }

    /// Its address.
    pub const fn at(&self) -> *mut c_void {
        self.0.get() as *mut c_void
    }

    fn guard(&self, code: i32) -> Result<MutexGuard<'_>, Error> {
        if code != OWNER_DIED {
            Error::check(code)?;
        }
        Ok(MutexGuard {
            mutex: self,
            owner_died: code == OWNER_DIED,
            of_this_thread: PhantomData,
        })
    }

    /// Locks it if nobody holds it, without waiting.
    pub fn try_lock(&self) -> Result<MutexGuard<'_>, Error> {
        // Safety: there is a mutex.
        self.guard(unsafe { sys::weft_rs_mutex_try_lock(self.at()) })
    }

    /// Locks it, and blocks for that. Fails if this thread holds it already, or
    /// may not block.
    pub fn lock(&self) -> Result<MutexGuard<'_>, Error> {
        // Safety: there is a mutex.
        self.guard(unsafe { sys::weft_rs_mutex_lock(self.at(), FOREVER) })
    }

    /// Does the same, but blocks no longer than `timeout`.
    pub fn lock_timeout(&self, timeout: Duration) -> Result<MutexGuard<'_>, Error> {
        // Safety: there is a mutex.
        self.guard(unsafe { sys::weft_rs_mutex_lock(self.at(), nanoseconds(timeout)) })
    }

    /// The id of the agent that holds it, or 0.
    pub fn owner(&self) -> i32 {
        // Safety: there is a mutex.
        unsafe { sys::weft_rs_mutex_owner(self.at()) }
    }
}

impl Default for Mutex {
    fn default() -> Self {
        Self::new()
    }
}

/// Holds a [`Mutex`] until it is dropped, by the thread that locked it.
#[must_use = "it unlocks the mutex when it is dropped"]
pub struct MutexGuard<'a> {
    mutex: &'a Mutex,
    owner_died: bool,
    of_this_thread: PhantomData<*const ()>,
}

impl MutexGuard<'_> {
    /// Whether the owner before died while it held the mutex, so that what the
    /// mutex guards may be half done.
    pub fn owner_died(&self) -> bool {
        self.owner_died
    }
}

impl Drop for MutexGuard<'_> {
    fn drop(&mut self) {
        // Safety: there is a mutex, and this thread holds it.
        unsafe { sys::weft_rs_mutex_unlock(self.mutex.at()) };
    }
}
