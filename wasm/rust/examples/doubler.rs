//! A module of WebAssembly that doubles the numbers of one queue into another
//! one. JavaScript has the other ends of both; it makes the memory, and runs
//! this in a worker. "Rust" in the guide about WebAssembly says how it is built.
#![cfg_attr(target_family = "wasm", no_std)]

use core::ffi::c_void;
use weft::{Error, Memory, MpmcQueue};

const CAPACITY: usize = 64;

static JOBS: Memory<{ MpmcQueue::<i32>::bytes(CAPACITY) }> = Memory::new();
static RESULTS: Memory<{ MpmcQueue::<i32>::bytes(CAPACITY) }> = Memory::new();

/// The address of the queue of jobs, or of that of results, which JavaScript
/// makes there.
#[no_mangle]
pub extern "C" fn place(results: i32) -> *mut c_void {
    if results != 0 {
        RESULTS.at()
    } else {
        JOBS.at()
    }
}

fn double_all() -> Result<i32, Error> {
    // Safety: JavaScript makes queues of numbers there, which stay.
    let jobs = unsafe { MpmcQueue::<i32>::attach(JOBS.at())? };
    let results = unsafe { MpmcQueue::<i32>::attach(RESULTS.at())? };
    let mut doubled = 0;
    while let Ok(number) = jobs.pop() {
        results.push(number.wrapping_mul(2))?;
        doubled += 1;
    }
    Ok(doubled)
}

/// Works until the queue of jobs is closed and empty. Returns how many numbers
/// it doubled, or -1 if there are no queues.
#[no_mangle]
pub extern "C" fn run() -> i32 {
    double_all().unwrap_or(-1)
}

#[cfg(target_family = "wasm")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
