//! Memory for primitives, and what may lie in it.
use core::cell::UnsafeCell;
use core::ffi::c_void;

/// A type whose bytes say all of a value, and of which all bytes are a value.
///
/// # Safety
///
/// Other agents write elements as bytes. So every pattern of bytes must be a
/// value of the type, and it must not hold a reference or a pointer.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($type:ty)*) => { $(
        // Safety: every pattern of bytes is a number.
        unsafe impl Plain for $type {}
    )* };
}

plain! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 }

// Safety: an array has no bytes but those of its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// `N` bytes of shared memory, all zero at first, for one primitive:
///
/// ```
/// static MEMORY: Memory<{ SpscQueue::<f32>::bytes(1024) }> = Memory::new();
/// ```
#[repr(C, align(8))]
pub struct Memory<const N: usize>(UnsafeCell<[u8; N]>);

// Safety: it only tells its address.
unsafe impl<const N: usize> Sync for Memory<N> {}

impl<const N: usize> Memory<N> {
    /// Memory that is all zero.
    pub const fn new() -> Self {
        Memory(UnsafeCell::new([0; N]))
    }

    /// Its address: in WebAssembly, the `byteOffset` of JavaScript.
    pub const fn at(&self) -> *mut c_void {
        self.0.get() as *mut c_void
    }

    /// How many bytes it has.
    pub const fn bytes(&self) -> usize {
        N
    }
}

impl<const N: usize> Default for Memory<N> {
    fn default() -> Self {
        Self::new()
    }
}
