//! The queues. Both have the same functions, by one macro.
use crate::{nanoseconds, sys, Error, Memory, Plain, FOREVER};
use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{size_of, MaybeUninit};
use core::ptr::{addr_of_mut, NonNull};
use core::time::Duration;

/// An element as it lies in a queue: it takes whole words.
#[repr(C, align(4))]
struct Element<T>(T);

impl<T: Plain> Element<T> {
    const BYTES: usize = size_of::<Self>();

    /// The element with a value; the bytes behind that are zero.
    fn with(value: T) -> MaybeUninit<Self> {
        let mut element = MaybeUninit::<Self>::zeroed();
        // Safety: it is a place of its own.
        unsafe { addr_of_mut!((*element.as_mut_ptr()).0).write(value) };
        element
    }
}

/// The bytes of an element of a queue for any number of producers: a turn and a
/// spare word stand before it, and it begins at a multiple of 8.
const fn slot(element: usize) -> usize {
    8 + (element + 7) / 8 * 8
}

macro_rules! queue {
    ($(#[$about:meta])* $name:ident, $words:literal, $slot:path,
     $init:ident, $attach:ident, $try_push:ident, $push:ident, $try_pop:ident,
     $pop:ident, $close:ident, $closed:ident, $size:ident, $capacity:ident,
     $element_size:ident) => {
        $(#[$about])*
        ///
        /// It is the place of the queue, and its copies name the same one. An
        /// element takes whole words. Memory may be freed when every operation
        /// of every agent has returned, and none will begin.
        pub struct $name<'a, T: Plain> {
            at: NonNull<c_void>,
            memory: PhantomData<&'a T>,
        }

        impl<T: Plain> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T: Plain> Copy for $name<'_, T> {}

        // Safety: agents move elements by atomic operations, and each of them is
        // bytes that all threads may read.
        unsafe impl<T: Plain> Send for $name<'_, T> {}
        unsafe impl<T: Plain> Sync for $name<'_, T> {}

        impl<'a, T: Plain> $name<'a, T> {
            /// The bytes of a queue of at least `capacity` elements; there are a
            /// power of two.
            pub const fn bytes(capacity: usize) -> usize {
                $words * 4 + capacity.next_power_of_two() * $slot(Element::<T>::BYTES)
            }

            fn found(at: *mut c_void) -> Result<Self, Error> {
                let at = NonNull::new(at).ok_or(Error::Invalid)?;
                Ok($name { at, memory: PhantomData })
            }

            /// Makes an empty queue.
            pub fn create<const N: usize>(
                memory: &'a mut Memory<N>,
                capacity: usize,
            ) -> Result<Self, Error> {
                // Safety: nobody else uses the memory.
                unsafe { Self::init(memory.at(), N, capacity) }
            }

            /// The same in unused memory at an address, a multiple of 4.
            ///
            /// # Safety
            ///
            /// Nobody else uses these bytes yet, and they stay for all of `'a`.
            pub unsafe fn init(
                at: *mut c_void,
                bytes: usize,
                capacity: usize,
            ) -> Result<Self, Error> {
                let most = i32::MAX as usize;
                if capacity > most || Element::<T>::BYTES > most {
                    return Err(Error::Invalid);
                }
                let (n, size) = (capacity as i32, Element::<T>::BYTES as i32);
                Self::found(sys::$init(at, bytes, n, size))
            }

            /// The queue at an address; an error if there is none, or if its
            /// elements have another size.
            ///
            /// # Safety
            ///
            /// There are as many bytes at `at` as an empty queue has. If it is a
            /// queue, it stays for all of `'a`, and its elements are a `T`.
            pub unsafe fn attach(at: *mut c_void) -> Result<Self, Error> {
                let queue = Self::found(sys::$attach(at))?;
                if sys::$element_size(queue.at()) as usize != Element::<T>::BYTES {
                    return Err(Error::Invalid);
                }
                Ok(queue)
            }

            /// Its address.
            pub const fn at(&self) -> *mut c_void {
                self.at.as_ptr()
            }

            /// Appends an element if there is room, without waiting.
            pub fn try_push(&self, value: T) -> Result<(), Error> {
                let element = Element::with(value);
                // Safety: the queue copies one element.
                Error::check(unsafe { sys::$try_push(self.at(), element.as_ptr().cast()) })
            }

            fn push_within(&self, value: T, timeout: i64) -> Result<(), Error> {
                let element = Element::with(value);
                let from = element.as_ptr().cast();
                // Safety: the queue copies one element.
                Error::check(unsafe { sys::$push(self.at(), from, timeout) })
            }

            /// Appends an element, and blocks while the queue is full.
            pub fn push(&self, value: T) -> Result<(), Error> {
                self.push_within(value, FOREVER)
            }

            /// Does the same, but blocks no longer than `timeout`.
            pub fn push_timeout(&self, value: T, timeout: Duration) -> Result<(), Error> {
                self.push_within(value, nanoseconds(timeout))
            }

            /// Takes the oldest element if there is one, without waiting.
            pub fn try_pop(&self) -> Result<T, Error> {
                let mut element = MaybeUninit::<Element<T>>::uninit();
                let to = element.as_mut_ptr().cast();
                // Safety: the queue writes one element, unless it fails.
                Error::check(unsafe { sys::$try_pop(self.at(), to) })?;
                Ok(unsafe { element.assume_init() }.0)
            }

            fn pop_within(&self, timeout: i64) -> Result<T, Error> {
                let mut element = MaybeUninit::<Element<T>>::uninit();
                let to = element.as_mut_ptr().cast();
                // Safety: the queue writes one element, unless it fails.
                Error::check(unsafe { sys::$pop(self.at(), to, timeout) })?;
                Ok(unsafe { element.assume_init() }.0)
            }

            /// Takes the oldest element, and blocks while there is none. The
            /// error is [`Error::Closed`] once the queue is closed and empty.
            pub fn pop(&self) -> Result<T, Error> {
                self.pop_within(FOREVER)
            }

            /// Does the same, but blocks no longer than `timeout`.
            pub fn pop_timeout(&self, timeout: Duration) -> Result<T, Error> {
                self.pop_within(nanoseconds(timeout))
            }

            /// Closes the queue for ever. Pushes fail from now on; pops take
            /// what is left, and then fail.
            pub fn close(&self) {
                // Safety: there is a queue.
                unsafe { sys::$close(self.at()) }
            }

            /// Whether it was closed; elements may still be in it.
            pub fn is_closed(&self) -> bool {
                // Safety: there is a queue.
                unsafe { sys::$closed(self.at()) != 0 }
            }

            /// How many elements are in it. The number may change at any moment.
            pub fn len(&self) -> usize {
                // Safety: there is a queue.
                unsafe { sys::$size(self.at()) as usize }
            }

            /// Whether no element is in it.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// How many elements it can hold.
            pub fn capacity(&self) -> usize {
                // Safety: there is a queue.
                unsafe { sys::$capacity(self.at()) as usize }
            }
        }
    };
}

/// The bytes of an element where nothing stands beside it.
const fn alone(element: usize) -> usize {
    element
}

queue! {
    /// A queue from one producer to one consumer: `SpscQueue` of JavaScript. The
    /// first thread that pushes is the producer, and the first one that pops the
    /// consumer. For another thread, the error is [`Error::NotPermitted`].
    SpscQueue, 96, alone,
    weft_rs_spsc_queue_init, weft_rs_spsc_queue_attach,
    weft_rs_spsc_queue_try_push, weft_rs_spsc_queue_push,
    weft_rs_spsc_queue_try_pop, weft_rs_spsc_queue_pop,
    weft_rs_spsc_queue_close, weft_rs_spsc_queue_closed,
    weft_rs_spsc_queue_size, weft_rs_spsc_queue_capacity,
    weft_rs_spsc_queue_element_size
}

queue! {
    /// A queue for any number of producers and consumers: `MpmcQueue` of
    /// JavaScript.
    MpmcQueue, 160, slot,
    weft_rs_mpmc_queue_init, weft_rs_mpmc_queue_attach,
    weft_rs_mpmc_queue_try_push, weft_rs_mpmc_queue_push,
    weft_rs_mpmc_queue_try_pop, weft_rs_mpmc_queue_pop,
    weft_rs_mpmc_queue_close, weft_rs_mpmc_queue_closed,
    weft_rs_mpmc_queue_size, weft_rs_mpmc_queue_capacity,
    weft_rs_mpmc_queue_element_size
}
