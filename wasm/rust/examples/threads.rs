//! Three producers, one consumer, and a mutex around what they count.
//!
//! `cargo run --example threads`
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use weft::{Error, Memory, MpmcQueue, Mutex};

static MEMORY: Memory<{ MpmcQueue::<[u32; 2]>::bytes(64) }> = Memory::new();
static LOCK: Mutex = Mutex::new();
static SUM: AtomicU32 = AtomicU32::new(0); // LOCK guards it

fn main() -> Result<(), Error> {
    // Safety: nobody else uses the memory yet.
    let queue = unsafe { MpmcQueue::<[u32; 2]>::init(MEMORY.at(), MEMORY.bytes(), 64)? };
    let consumer = thread::spawn(move || {
        while let Ok([_, n]) = queue.pop() {
            let _held = LOCK.lock().expect("nobody of this thread holds it");
            SUM.store(SUM.load(Ordering::Relaxed) + n, Ordering::Relaxed);
        }
    });
    let producers = (0..3).map(|id| {
        thread::spawn(move || (1..=1000).try_for_each(|n| queue.push([id, n])))
    });
    for producer in producers.collect::<Vec<_>>() {
        producer.join().unwrap()?;
    }
    queue.close(); // the consumer takes what is left, and ends
    consumer.join().unwrap();
    println!("{}", SUM.load(Ordering::Relaxed));
    assert_eq!(SUM.load(Ordering::Relaxed), 3 * 500_500);
    Ok(())
}
