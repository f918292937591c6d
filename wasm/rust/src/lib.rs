//! Locks and queues that threads of Rust share with JavaScript, C and C++ in one
//! memory. They are those of `weft.h`, which the build script compiles with a
//! compiler of C; this crate needs no other, and no standard library.
//!
//! A place in memory is zeroed or made by one agent, and the others attach to
//! its address. In WebAssembly, that is an offset in the module's memory, and
//! the name of each type here is the name of the class in JavaScript.
//!
//! ```
//! use weft::{MpmcQueue, Memory};
//!
//! static MEMORY: Memory<{ MpmcQueue::<i32>::bytes(64) }> = Memory::new();
//!
//! // Safety: nobody else uses the memory yet.
//! let queue = unsafe { MpmcQueue::<i32>::init(MEMORY.at(), MEMORY.bytes(), 64) };
//! ```
#![no_std]
#![warn(missing_docs)]

#[cfg(test)]
extern crate std;

mod memory;
mod mutex;
mod queue;
mod semaphore;
mod sys;

pub use memory::{Memory, Plain};
pub use mutex::{Mutex, MutexGuard};
pub use queue::{MpmcQueue, SpscQueue};
pub use semaphore::Semaphore;

use core::fmt;
use core::time::Duration;

/// Why an operation did not do what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// It would have to wait: the lock is held, or the queue is full or empty.
    Busy,
    /// The queue is closed; for a pop, and empty.
    Closed,
    /// The time is over.
    TimedOut,
    /// This thread may not block, is not the owner of the mutex, or is not the
    /// producer or the consumer of the [`SpscQueue`].
    NotPermitted,
    /// This thread holds the mutex already.
    Deadlock,
    /// A number that cannot be, an address of something else, or memory that is
    /// too small.
    Invalid,
    /// The semaphore would have more permits than it may.
    OutOfRange,
    /// Another agent died in the middle of an operation, or wrote what cannot
    /// be.
    Damaged,
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Error::Busy => "it would have to wait",
            Error::Closed => "the queue is closed",
            Error::TimedOut => "the time is over",
            Error::NotPermitted => "this thread may not do that",
            Error::Deadlock => "this thread holds the mutex already",
            Error::Invalid => "there is nothing of this kind here",
            Error::OutOfRange => "there would be too many permits",
            Error::Damaged => "the words are damaged",
        })
    }
}

/// That a mutex is locked, and that its last owner died: no error.
const OWNER_DIED: i32 = 9;

impl Error {
    /// What a function of `weft.c` returned.
    fn check(code: i32) -> Result<(), Error> {
        Err(match code {
            0 => return Ok(()),
            1 => Error::Busy,
            2 => Error::Closed,
            3 => Error::TimedOut,
            4 => Error::NotPermitted,
            5 => Error::Deadlock,
            7 => Error::OutOfRange,
            8 => Error::Damaged,
            _ => Error::Invalid,
        })
    }
}

/// The timeout of a call that waits for ever.
const FOREVER: i64 = -1;

/// A timeout in nanoseconds; what is longer than 292 years is for ever.
fn nanoseconds(timeout: Duration) -> i64 {
    let most = i64::MAX as u128;
    let nanoseconds = timeout.as_nanos();
    if nanoseconds < most {
        nanoseconds as i64
    } else {
        FOREVER
    }
}

/// The id of this thread among the agents, 1 to 2^28 - 1, drawn at random when
/// first asked for.
pub fn agent_id() -> i32 {
    // Safety: it takes no pointer.
    unsafe { sys::weft_rs_agent_id() }
}

/// Sets the id of this thread, as another agent chose it. No two agents that
/// live may have the same: an [`SpscQueue`] knows its two threads by their ids.
pub fn set_agent_id(id: i32) -> Result<(), Error> {
    // Safety: it takes no pointer.
    Error::check(unsafe { sys::weft_rs_agent_set_id(id) })
}

/// Sets whether this thread may block. On the main thread of a page, call it
/// with `false`: calls that would block then fail with [`Error::NotPermitted`].
pub fn set_blocking(allowed: bool) {
    // Safety: it takes no pointer.
    unsafe { sys::weft_rs_agent_set_blocking(allowed as i32) }
}
