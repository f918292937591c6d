//! Each type, with threads.
use std::cell::UnsafeCell;
use std::thread;
use std::time::Duration;
use weft::{Error, Memory, MpmcQueue, Mutex, Semaphore, SpscQueue};

/// What a lock guards.
struct Guarded(UnsafeCell<u64>);
unsafe impl Sync for Guarded {}

#[test]
fn a_mutex_is_held_by_one_thread() {
    static MUTEX: Mutex = Mutex::new();
    static COUNT: Guarded = Guarded(UnsafeCell::new(0));
    let threads = (0..4).map(|_| {
        thread::spawn(|| {
            for _ in 0..2000 {
                let held = MUTEX.lock().unwrap();
                assert!(!held.owner_died());
                assert_eq!(MUTEX.owner(), weft::agent_id());
                unsafe { *COUNT.0.get() += 1 };
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
    let held = MUTEX.lock().unwrap();
    assert_eq!(unsafe { *COUNT.0.get() }, 8000);
    assert_eq!(MUTEX.lock().err(), Some(Error::Deadlock));
    assert_eq!(MUTEX.try_lock().err(), Some(Error::Busy));
    thread::spawn(|| {
        let short = Duration::from_millis(2);
        assert_eq!(MUTEX.lock_timeout(short).err(), Some(Error::TimedOut));
    })
    .join()
    .unwrap();
    drop(held);
    assert_eq!(MUTEX.owner(), 0);
    assert!(MUTEX.try_lock().is_ok());
}

#[test]
fn a_semaphore_counts() {
    static MEMORY: Memory<{ Semaphore::BYTES }> = Memory::new();
    assert!(unsafe { Semaphore::attach(MEMORY.at()) }.is_err());
    let semaphore = unsafe { Semaphore::init(MEMORY.at(), MEMORY.bytes(), 2) }.unwrap();
    semaphore.acquire(2).unwrap();
    assert_eq!(semaphore.try_acquire(1), Err(Error::Busy));
    let short = Duration::from_millis(2);
    assert_eq!(semaphore.acquire_timeout(1, short), Err(Error::TimedOut));
    assert_eq!(semaphore.release(0), Err(Error::Invalid));
    let taker = thread::spawn(|| {
        let semaphore = unsafe { Semaphore::attach(MEMORY.at()) }.unwrap();
        semaphore.acquire(3)
    });
    for _ in 0..3 {
        semaphore.release(1).unwrap();
    }
    taker.join().unwrap().unwrap();
    assert_eq!(semaphore.available(), 0);
    let mut small = Memory::<4>::new();
    assert_eq!(Semaphore::create(&mut small, 1).err(), Some(Error::Invalid));
    let mut right = Memory::<{ Semaphore::BYTES }>::new();
    assert_eq!(Semaphore::create(&mut right, 5).unwrap().available(), 5);
}

#[test]
fn an_spsc_queue_keeps_the_order() {
    static MEMORY: Memory<{ SpscQueue::<u16>::bytes(5) }> = Memory::new();
    let queue = unsafe { SpscQueue::<u16>::init(MEMORY.at(), MEMORY.bytes(), 5) }.unwrap();
    assert_eq!(queue.capacity(), 8);
    let producer = thread::spawn(move || {
        for n in 0..20_000 {
            queue.push(n).unwrap();
        }
        queue.close();
        queue.push(0)
    });
    for n in 0..20_000 {
        assert_eq!(queue.pop(), Ok(n));
    }
    assert_eq!(queue.pop(), Err(Error::Closed));
    assert_eq!(producer.join().unwrap(), Err(Error::Closed));
    assert!(queue.is_closed());
    assert_eq!(queue.try_push(1), Err(Error::NotPermitted));
    assert!(unsafe { MpmcQueue::<u16>::attach(MEMORY.at()) }.is_err());
    assert!(unsafe { SpscQueue::<u64>::attach(MEMORY.at()) }.is_err());
}

#[test]
fn an_mpmc_queue_loses_nothing() {
    const BYTES: usize = MpmcQueue::<[f64; 2]>::bytes(4);
    let memory = Box::leak(Box::new(Memory::<BYTES>::new()));
    let queue = MpmcQueue::<[f64; 2]>::create(memory, 4).unwrap();
    assert_eq!(queue.try_pop(), Err(Error::Busy));
    let short = Duration::from_millis(2);
    assert_eq!(queue.pop_timeout(short), Err(Error::TimedOut));
    let producers = (0..3).map(|id| {
        thread::spawn(move || {
            for n in 0..3000 {
                queue.push([f64::from(id), f64::from(n)]).unwrap();
            }
        })
    });
    let consumers = (0..2).map(|_| {
        thread::spawn(move || {
            let (mut count, mut sum) = (0, 0.0);
            while let Ok([_, n]) = queue.pop() {
                count += 1;
                sum += n;
            }
            (count, sum)
        })
    });
    let (producers, consumers) = (producers.collect::<Vec<_>>(), consumers.collect::<Vec<_>>());
    for producer in producers {
        producer.join().unwrap();
    }
    queue.close();
    let taken = consumers.into_iter().map(|thread| thread.join().unwrap());
    let (count, sum) = taken.fold((0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert_eq!((count, sum), (9000, 3.0 * 2999.0 * 1500.0));
    assert!(queue.is_empty());
    let mut full = Memory::<BYTES>::new();
    let queue = MpmcQueue::<[f64; 2]>::create(&mut full, 3).unwrap();
    for _ in 0..queue.capacity() {
        queue.try_push([1.0, 2.0]).unwrap();
    }
    assert_eq!(queue.len(), 4);
    assert_eq!(queue.try_push([0.0; 2]), Err(Error::Busy));
    assert_eq!(queue.push_timeout([0.0; 2], short), Err(Error::TimedOut));
    let mut small = Memory::<64>::new();
    assert!(MpmcQueue::<i32>::create(&mut small, 3).is_err());
}
