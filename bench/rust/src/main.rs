//! The scenarios of `tests/race/corpus` that loom and shuttle can express, for
//! the comparison in docs/race_comparison.md. Built once for each explorer:
//! `cargo run --release --features loom`, and the same with `shuttle`.
//!
//! Neither has a futex, so that a wait list stands in: a mutex and a condition
//! variable around a copy of the word's waiters.

#[cfg(feature = "loom")]
use loom::{
    sync::{
        atomic::{AtomicI32, AtomicUsize, Ordering::SeqCst},
        Arc, Condvar, Mutex,
    },
    thread,
};
#[cfg(feature = "shuttle")]
use shuttle::{
    sync::{
        atomic::{AtomicI32, AtomicUsize, Ordering::SeqCst},
        Arc, Condvar, Mutex,
    },
    thread,
};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize as Plain, Ordering::Relaxed};
use std::time::Instant;

/// Sleepers on one word, woken one by one.
struct Futex {
    asleep: Mutex<(usize, usize)>, // sleepers, wakes not yet taken
    bell: Condvar,
}

impl Futex {
    fn new() -> Self {
        Futex { asleep: Mutex::new((0, 0)), bell: Condvar::new() }
    }

    fn wait(&self, word: &AtomicI32, value: i32) {
        let mut list = self.asleep.lock().unwrap();
        if word.load(SeqCst) != value {
            return;
        }
        list.0 += 1;
        while list.1 == 0 {
            list = self.bell.wait(list).unwrap();
        }
        list.1 -= 1;
    }

    fn notify(&self) {
        let mut list = self.asleep.lock().unwrap();
        if list.0 > 0 {
            list.0 -= 1;
            list.1 += 1;
            self.bell.notify_one();
        }
    }
}

/// What is broken in a lock or queue, as in the race tester's corpus.
#[derive(Clone, Copy, PartialEq)]
enum Bug {
    None,
    /// A woken waiter takes the mutex without the mark of contention.
    Mx1,
    /// The wake comes before the word is free.
    Mx3,
    /// Unlocking never wakes.
    Mx4,
    /// The sequence is published before the data.
    Mq1,
    /// A slot is free for the next lap before its element was read.
    Mq3,
}

/// Drepper's third mutex: 0 free, 1 locked, 2 locked and contended.
struct Lock {
    state: AtomicI32,
    futex: Futex,
    bug: Bug,
}

impl Lock {
    fn new(bug: Bug) -> Self {
        Lock { state: AtomicI32::new(0), futex: Futex::new(), bug }
    }

    fn lock(&self) {
        let Err(mut seen) = self.state.compare_exchange(0, 1, SeqCst, SeqCst) else {
            return;
        };
        if seen != 2 {
            seen = self.state.swap(2, SeqCst);
        }
        while seen != 0 {
            self.futex.wait(&self.state, 2);
            seen = if self.bug == Bug::Mx1 {
                thread::yield_now(); // it spins, and loom is not fair
                self.state.compare_exchange(0, 1, SeqCst, SeqCst).unwrap_or_else(|s| s)
            } else {
                self.state.swap(2, SeqCst)
            };
        }
    }

    fn unlock(&self) {
        if self.state.fetch_sub(1, SeqCst) == 1 {
            return;
        }
        if self.bug == Bug::Mx3 {
            self.futex.notify();
        }
        // No store: loom lets one come between the halves of an exchange.
        self.state.swap(0, SeqCst);
        if !matches!(self.bug, Bug::Mx3 | Bug::Mx4) {
            self.futex.notify();
        }
    }
}

/// Vyukov's bounded queue with two slots; payloads are atomics, unordered ones.
struct Ring {
    tail: AtomicUsize,
    head: AtomicUsize,
    turn: [AtomicUsize; 2],
    data: [AtomicUsize; 2],
    bug: Bug,
}

impl Ring {
    fn new(bug: Bug) -> Self {
        Ring {
            tail: AtomicUsize::new(0),
            head: AtomicUsize::new(0),
            turn: [AtomicUsize::new(0), AtomicUsize::new(1)],
            data: [AtomicUsize::new(0), AtomicUsize::new(0)],
            bug,
        }
    }

    fn push(&self, value: usize) -> bool {
        let mut p = self.tail.load(SeqCst);
        loop {
            let turn = self.turn[p & 1].load(SeqCst);
            if turn == p {
                match self.tail.compare_exchange(p, p + 1, SeqCst, SeqCst) {
                    Ok(_) => break,
                    Err(seen) => p = seen,
                }
            } else if (turn as isize) < p as isize {
                return false;
            } else {
                p = self.tail.load(SeqCst);
            }
        }
        if self.bug == Bug::Mq1 {
            self.turn[p & 1].store(p + 1, SeqCst);
        }
        self.data[p & 1].store(value, SeqCst);
        if self.bug != Bug::Mq1 {
            self.turn[p & 1].store(p + 1, SeqCst);
        }
        true
    }

    fn pop(&self) -> Option<usize> {
        let mut p = self.head.load(SeqCst);
        loop {
            let turn = self.turn[p & 1].load(SeqCst);
            if turn == p + 1 {
                match self.head.compare_exchange(p, p + 1, SeqCst, SeqCst) {
                    Ok(_) => break,
                    Err(seen) => p = seen,
                }
            } else if (turn as isize) < p as isize + 1 {
                return None;
            } else {
                p = self.head.load(SeqCst);
            }
        }
        if self.bug == Bug::Mq3 {
            self.turn[p & 1].store(p + 2, SeqCst);
        }
        let value = self.data[p & 1].load(SeqCst);
        if self.bug != Bug::Mq3 {
            self.turn[p & 1].store(p + 2, SeqCst);
        }
        Some(value)
    }
}

fn sections(bug: Bug, agents: usize, times: usize) {
    let lock = Arc::new((Lock::new(bug), AtomicUsize::new(0)));
    let threads: Vec<_> = (0..agents)
        .map(|_| {
            let lock = lock.clone();
            thread::spawn(move || {
                for _ in 0..times {
                    lock.0.lock();
                    let n = lock.1.load(SeqCst);
                    lock.1.store(n + 1, SeqCst);
                    lock.0.unlock();
                }
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    assert_eq!(lock.1.load(SeqCst), agents * times);
}

fn ring(bug: Bug, pushes: usize, pops: usize) {
    let ring = Arc::new(Ring::new(bug));
    let (ours, theirs) = (ring.clone(), ring);
    let producer = thread::spawn(move || {
        (1..=pushes).filter(|&v| ours.push(v)).collect::<Vec<_>>()
    });
    let consumer = thread::spawn(move || {
        (0..pops).filter_map(|_| theirs.pop()).collect::<Vec<_>>()
    });
    let mut pushed = producer.join().unwrap().into_iter();
    let taken = consumer.join().unwrap();
    assert!(taken.iter().all(|v| pushed.next() == Some(*v)), "took {taken:?}");
}

/// Explores `body`, and prints how far and what was found.
fn explore(name: &str, body: impl Fn() + Send + Sync + 'static) {
    let executions = std::sync::Arc::new(Plain::new(0));
    let count = executions.clone();
    let begin = Instant::now();
    let body = move || {
        count.fetch_add(1, Relaxed);
        body()
    };
    #[cfg(feature = "loom")]
    let run = move || {
        let mut model = loom::model::Builder::new();
        model.max_duration = Some(std::time::Duration::from_secs(60));
        model.check(body)
    };
    #[cfg(feature = "shuttle")]
    let run = move || shuttle::check_random(body, 20_000);
    let outcome = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => "nothing",
        Err(_) => "a failure",
    };
    let ms = begin.elapsed().as_secs_f64() * 1e3;
    println!("{name}\t{}\t{ms:.0}\t{outcome}", executions.load(Relaxed));
}

/// Runs the scenario of that number: one a process, as loom aborts at the
/// second failure.
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    match std::env::args().nth(1).as_deref() {
        Some("0") => explore("mutex, 2 agents", || sections(Bug::None, 2, 1)),
        Some("1") => explore("mutex, 2 agents, twice", || sections(Bug::None, 2, 2)),
        Some("2") => explore("mutex, 3 agents", || sections(Bug::None, 3, 1)),
        Some("3") => explore("queue, 2 agents x 2", || ring(Bug::None, 2, 2)),
        Some("4") => explore("queue, 2 agents x 3", || ring(Bug::None, 3, 3)),
        Some("5") => explore("MX1, 3 agents", || sections(Bug::Mx1, 3, 1)),
        Some("6") => explore("MX3, 2 agents", || sections(Bug::Mx3, 2, 1)),
        Some("7") => explore("MX4, 2 agents", || sections(Bug::Mx4, 2, 1)),
        Some("8") => explore("MQ1, 1 push, 1 pop", || ring(Bug::Mq1, 1, 1)),
        Some("9") => explore("MQ3, 3 pushes, 3 pops", || ring(Bug::Mq3, 3, 3)),
        _ => println!("10"),
    }
}
